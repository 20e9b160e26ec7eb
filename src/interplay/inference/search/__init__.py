"""The sets of variables that chains start from: a screen of pairs, a beam search, and a search over sets."""
