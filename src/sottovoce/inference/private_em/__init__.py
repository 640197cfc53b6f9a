"""The mathematics of the worker-private EM (P2, protocol 1), split into its two sides."""
