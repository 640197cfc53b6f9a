"""Routes: one file per group of addresses."""
