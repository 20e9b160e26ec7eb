"""What interplay is compared with: the paper's baselines, on the same data and with the same results."""
