"""Sums of workers who are all there: a server in the middle, and one short phase after another."""
