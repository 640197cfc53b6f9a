"""Processes beside the server: they are asked over pipes, and end when it does."""
