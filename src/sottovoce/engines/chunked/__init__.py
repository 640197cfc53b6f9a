"""Sums over a table on a disk, one block at a time."""
