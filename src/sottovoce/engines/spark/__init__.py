"""Sums on a Spark cluster. PySpark is imported on first use only."""
