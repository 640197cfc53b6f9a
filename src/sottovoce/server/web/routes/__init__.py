"""One file for each group of addresses."""
