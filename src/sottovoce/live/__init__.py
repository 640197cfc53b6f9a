"""Live sessions: workers who are all online add up sums under a server (P2)."""
