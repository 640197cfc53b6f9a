"""The worker-private EM of P2 in rounds of sums: the sums, and the posteriors from them."""
