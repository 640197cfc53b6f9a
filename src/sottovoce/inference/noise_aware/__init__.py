"""Inference that knows the channel: the randomiser is public, so it belongs in the likelihood.

P(report | truth, worker) = Σ over answers of P(report | answer) P(answer | truth, worker)
"""
