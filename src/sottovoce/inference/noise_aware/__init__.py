"""Noise-aware inference: the randomiser is public, so its channel is part of the likelihood.

P(report | truth, worker) = Σ over answers of P(report | answer) P(answer | truth, worker)
"""
