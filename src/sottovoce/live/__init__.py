"""Live sessions: workers who are online together compute sums through a server (P2)."""
