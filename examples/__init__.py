"""Examples: scripts in cells (`# %%`), and what they printed, in `docs/examples`."""
