"""What was learned: the posterior of any effect, and which to report."""
