"""The command line: one module for each command. What takes long to import is imported inside them."""
