"""Reports of labels as sets of labels: one, or several, with or without NULL."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.subset_selection import SubsetSelection, check_sets
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import WORDS, Cells, FloatArray, SetChannel

__all__ = ["label_sets", "subset_sets"]

LEVELS = 16
"""Into so many equally likely cells the law of a worker's private probability is cut."""


def label_sets(
    cells: Cells, mechanism: RandomizedResponse | NullRandomizedResponse | TwoLayer
) -> tuple[npt.NDArray[np.integer], SetChannel]:
    """Each label is the set of itself; NULL, after the last, the set without labels."""
    null = mechanism.hides_participation
    symbols = mechanism.labels + null
    inside, outside, prior = _states(mechanism, symbols)
    starts = np.minimum(np.arange(symbols + 1), mechanism.labels)
    channel = SetChannel(
        mechanism.labels,
        starts.astype(np.int64),
        np.arange(mechanism.labels, dtype=np.int32),
        inside,
        outside,
        prior,
        np.arange(symbols) == mechanism.labels if null else np.zeros(0, bool),
    )
    return cells.code.astype(np.int64), channel


def _states(
    mechanism: RandomizedResponse | NullRandomizedResponse | TwoLayer, symbols: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(the answer is reported), P(a certain other symbol is), and how likely that state is."""
    if not isinstance(mechanism, TwoLayer):
        same, other = mechanism.log_likelihood([0, 1], [0, 0])
        return np.exp([same]), np.exp([other]), np.ones(1)
    # The middle of each of 16 equally likely cells of the flip probability.
    shares = (np.arange(LEVELS) + 0.5) / LEVELS
    other = mechanism.hyper.quantiles(shares) / WORDS
    return 1 - (symbols - 1) * other, other, np.full(LEVELS, 1 / LEVELS)


def subset_sets(
    cells: Cells, mechanism: SubsetSelection
) -> tuple[npt.NDArray[np.integer], SetChannel]:
    """Each set that occurs is a symbol."""
    check_sets(cells, mechanism)
    masks, symbols = np.unique(cells.code.astype(np.uint64), return_inverse=True)
    bits = np.arange(mechanism.labels, dtype=np.uint64)
    rows, members = np.nonzero(masks[:, None] >> bits & np.uint64(1))
    starts = np.searchsorted(rows, np.arange(len(masks) + 1))
    last = np.uint64(mechanism.labels)
    null = (masks >> last & np.uint64(1)).astype(bool) if mechanism.null else np.zeros(0, bool)
    # Relative to the weight inside: the number of sets would leave the range of a float.
    outside = np.array([math.exp(-mechanism.cell_epsilon)])
    channel = SetChannel(
        mechanism.labels, starts, members.astype(np.int32), np.ones(1), outside, np.ones(1), null
    )
    return symbols, channel
