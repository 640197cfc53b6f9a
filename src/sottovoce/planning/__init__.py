"""Planning before a campaign: theorems, simulation, recommendation."""
