"""Sums on a Spark cluster. Nothing here is imported before it is asked for."""
