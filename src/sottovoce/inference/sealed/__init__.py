"""Truths from opened totals: counts and sums with noise of a known law."""
