"""How fast the marginal likelihood is, against its rivals and against what the machine can do."""
