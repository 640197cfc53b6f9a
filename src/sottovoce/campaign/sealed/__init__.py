"""Sealed campaigns in the service: contributions, keyholders, batches, and one opening."""
