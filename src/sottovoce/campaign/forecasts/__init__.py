"""What a campaign that does not exist yet would show, simulated in a process of its own."""
