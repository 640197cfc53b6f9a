"""Trials of P4's experiments with the memory they took."""

from __future__ import annotations

import sys
from typing import Any

from sottovoce.planning.pipelines import Pair
from sottovoce.studies.p4.sparse_answers import maes
from sottovoce.studies.sources import Source

__all__ = ["maes_with_memory", "peak_gib"]


def maes_with_memory(
    source: Source, values: int, epsilon: float, pairs: tuple[Pair, ...], trial: int, seed: int
) -> dict[str, Any]:
    """A trial, and the most memory that its process ever had, which is no part of its errors."""
    found = maes(source, values, epsilon, pairs, trial, seed)
    return {"maes": found, "peak": peak_gib()}


def peak_gib() -> float | None:
    """The most memory that this process ever had, in GiB; None where the system does not tell."""
    try:
        import resource  # which only POSIX systems have
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
