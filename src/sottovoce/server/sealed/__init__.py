"""Sealed campaigns: keyholders, contributions, and the steps from one state to the next."""
