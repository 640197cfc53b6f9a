"""Small noised sessions that several tests use."""

from __future__ import annotations

from functools import cache

import numpy as np

from sottovoce.datasets import SeededRandomness
from sottovoce.model.sum_rounds import Integers, OpenedSum
from sottovoce.securesum.em.contributor import NoisedContributor
from sottovoce.securesum.em.noise_calibration import calibrated
from sottovoce.securesum.em.terms import EMTerms, Law

__all__ = ["added", "contributor", "crowd", "silent", "small_terms"]


@cache
def small_terms(
    tasks: int = 30, labels: int = 2, epsilon: float = 6.0, *, rounds: int = 1,
    law: Law | None = None, honest: int = 5, delta: float = 1e-6,
) -> EMTerms:  # fmt: skip
    """Calibrated terms with tasks t0, t1, … and labels l0, l1, …"""
    return calibrated(
        [f"t{task}" for task in range(tasks)], [f"l{label}" for label in range(labels)],
        epsilon, delta, honest=honest, weighted_rounds=rounds, law=law,
    )  # fmt: skip


def contributor(terms: EMTerms, label: Integers, seed: int) -> NoisedContributor:
    """A worker that answered every task."""
    return NoisedContributor(terms, np.arange(len(terms.tasks)), label, SeededRandomness(seed))


def silent(terms: EMTerms, seed: int) -> NoisedContributor:
    """A worker that answered nothing."""
    nothing = np.empty(0, np.int64)
    return NoisedContributor(terms, nothing, nothing, SeededRandomness(seed))


def crowd(
    terms: EMTerms, accuracies: list[float], seed: int = 1
) -> tuple[list[NoisedContributor], Integers]:
    """Workers with this accuracy, and the truths."""
    rng = np.random.default_rng(seed)
    tasks, labels = len(terms.tasks), len(terms.labels)
    truths = rng.integers(0, labels, tasks)
    wrong = [(truths + rng.integers(1, labels, tasks)) % labels for _ in accuracies]
    return [
        contributor(terms, np.where(rng.random(tasks) < chance, truths, other), seed + number)
        for number, (chance, other) in enumerate(zip(accuracies, wrong, strict=True))
    ], truths


def added(vectors: list[Integers]) -> OpenedSum:
    """The opened sums of these contributions."""
    return OpenedSum(np.sum(vectors, axis=0, dtype=np.int64), len(vectors))
