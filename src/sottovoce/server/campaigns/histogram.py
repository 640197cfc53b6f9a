"""Histograms for charts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sottovoce.model import FloatArray

MOST_BINS = 20


@dataclass(frozen=True, slots=True)
class Bin:
    """The number of values from low up to high; the last bin includes its high end."""

    low: float
    high: float
    count: int


def binned(values: FloatArray, low: float, high: float) -> tuple[Bin, ...]:
    """Values in equal bins between two ends or a little beyond, without leading empty bins.

    The bins begin and end at round numbers: multiples of 1, 2 or 5 times a power of ten. Values
    beyond the ends count in the bins at the ends. If all values are equal, there is one bin.

    >>> [(bin.low, bin.high, bin.count) for bin in binned(np.array([0.93, 0.99]), 0.93, 0.99)][:2]
    [(0.93, 0.935, 1), (0.935, 0.94, 0)]
    """
    if not len(values):
        return ()
    if not low < high:
        return (Bin(low, high, len(values)),)
    edges = _round_edges(low, high)
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    first = int(np.flatnonzero(counts)[0])
    return tuple(
        Bin(edges[place], edges[place + 1], int(counts[place]))
        for place in range(first, len(counts))
    )


def _round_edges(low: float, high: float) -> list[float]:
    """The finest edges at round numbers around two ends that make no more than MOST_BINS bins.

    >>> _round_edges(0.11, 0.89)[:3], len(_round_edges(0.0, 1.0))
    ([0.1, 0.15, 0.2], 21)
    """
    power = Fraction(10) ** math.floor(math.log10((high - low) / MOST_BINS))
    for lead in (1, 2, 5, 10, 20):
        # Exact steps, so that 3 of 0.1 are 0.3; ends are rounded, or a last digit would add a bin.
        step = power * lead
        start, end = math.floor(round(low / step, 6)), math.ceil(round(high / step, 6))
        if end - start <= MOST_BINS:
            break
    return [float(place * step) for place in range(start, end + 1)]
