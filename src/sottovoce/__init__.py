"""A crowd answers privately, and the truth is still heard."""

__version__ = "0.1.0"
