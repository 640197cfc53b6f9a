"""Sums under masks that cancel: no third party, and all workers online for the round.

Bonawitz et al. 2017 (secure aggregation, with signatures and a confirmation round against a
cheating server), with fresh mask keys in every round; workers seal to each other under keys that
they agree on once, from those in the terms. Worker i sends, modulo 2⁶⁴,

    xᵢ + PRG(bᵢ) + Σ_{j > i} PRG(kᵢⱼ) - Σ_{j < i} PRG(kᵢⱼ)

where kᵢⱼ is agreed with worker j, and bᵢ is its own. Each worker has shared bᵢ and its private mask
key among all, so that any `threshold` workers can recover bᵢ of contributors, OR the mask key of
dropouts: never both of one worker, or its contribution would be revealed.

A server and c < threshold colluding workers learn the sum of the other workers, and nothing else,
as long as 2 · threshold > J + c (`confirmation`).
"""
