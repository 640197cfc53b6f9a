"""Paths, frames and tables in, results out."""
