"""Plots: for each, a table that a user can also have, and a function that draws it on matplotlib axes."""
