"""Inference beside the server: a process of its own that fits, and the thread that asks it."""
