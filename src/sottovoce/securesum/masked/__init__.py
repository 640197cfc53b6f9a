"""Sums under masks that cancel: no third party, and everybody online for the round.

Bonawitz et al. 2017 (secure aggregation, with signatures and a confirmation round against a server
that cheats), with fresh mask keys in every round; what workers seal to each other is under keys
that they agree on once, from those in the terms. Worker i sends, modulo 2⁶⁴,

    xᵢ + PRG(bᵢ) + Σ_{j > i} PRG(kᵢⱼ) - Σ_{j < i} PRG(kᵢⱼ)

where kᵢⱼ is agreed with worker j, and bᵢ is its own. Each worker has shared bᵢ and its private
mask key among all, so that any `threshold` can give bᵢ of those whose contributions count, OR the
mask key of those who fell silent: never both of one worker, or its contribution would be bare.

A server and c < threshold workers in league learn the sum of the workers who are not in league
with them, and nothing else, as long as 2 · threshold > J + c (`confirmation`).
"""
