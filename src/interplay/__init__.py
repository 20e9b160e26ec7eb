"""Bayesian discovery of main effects and interactions among many covariates."""
