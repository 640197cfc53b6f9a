"""Sums that nobody can take apart: integers in, integers out, and messages as bytes.

Nothing here reads a file, opens a connection or tells the time. `plain` is the specification, and
every suite must give the same integers.
"""
