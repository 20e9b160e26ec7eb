"""The paper's experiments, run anew."""
