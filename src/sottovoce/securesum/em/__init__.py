"""The worker-private EM of P2 in rounds of sums: what is added up, and what is made of it."""
