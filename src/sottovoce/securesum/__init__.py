"""Secure sums: protocols without I/O. Integers in, totals out, messages as bytes.

Nothing here reads a file, opens a connection or reads a clock. `plain` is the specification, and
every suite must give the same integers.
"""
