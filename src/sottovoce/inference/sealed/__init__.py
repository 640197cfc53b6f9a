"""Truths from totals that keyholders opened: counts and sums with noise of a known law."""
