"""Sums over a table on a disk, block after block."""
