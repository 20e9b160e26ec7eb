"""What is believed: pure functions from data and hyperparameters to likelihood and posterior."""
