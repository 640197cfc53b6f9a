"""Planning before a campaign: simulation, recommendation."""
