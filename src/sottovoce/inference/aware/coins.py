"""What a worker's accuracy makes of its reports: the one-coin model seen through a channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sottovoce.inference.steps.sets import Sets
from sottovoce.model import Codes, FloatArray, SetChannel

__all__ = ["CoinStates", "coin_states", "sets_of"]

ACCURACIES = 16
BEST = 0.99
PARTICIPATION = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class CoinStates:
    """What a worker may be like: state z with chance weights[z] before any report is seen.

    `accuracy[z]` is how often it is right, `participation[z]` how often it answers. A set of kind κ
    has likelihood exp(log_in[z, κ]) when it holds the truth and exp(log_out[z, κ]) when not.
    """

    accuracy: FloatArray
    participation: FloatArray
    weights: FloatArray
    log_in: FloatArray
    log_out: FloatArray


def sets_of(channel: SetChannel) -> Sets:
    """The symbols by kind: how many labels a set holds, and whether NULL is in it."""
    null = channel.null if channel.hides_participation else np.zeros(channel.symbols, bool)
    keys = np.stack([channel.sizes, null.astype(np.int64)], axis=1)
    _, places = np.unique(keys, axis=0, return_inverse=True)
    kind: Codes = places.reshape(-1).astype(np.int32)
    return Sets(channel.starts, channel.members, kind, int(kind.max()) + 1)


def coin_states(channel: SetChannel, sets: Sets, participation: float = 0.0) -> CoinStates:
    """All combinations of an accuracy, what the worker drew, and how often it takes part.

    With accuracy a, participation d and s labels, an answer lies in a set of c labels with chance

        h = d (a [truth in set] + (1 - a) (c - [truth in set]) / (s - 1)) + (1 - d) [NULL in set]

    and the set has likelihood outside + (inside - outside) h. Accuracies reach from chance to
    0.99, each as likely; where participation is private and not given, so does it.
    """
    labels = channel.labels
    accuracies = np.linspace(1 / labels, BEST, ACCURACIES)
    rates = np.ones(1)
    if channel.hides_participation:
        rates = np.array([participation]) if participation > 0 else PARTICIPATION
    shape = (len(accuracies), len(channel.prior), len(rates))
    place = np.indices(shape).reshape(3, -1)
    accuracy, drawn, rate = accuracies[place[0]], place[1], rates[place[2]]
    weights = channel.prior[drawn] / (len(accuracies) * len(rates))
    first = np.array([np.flatnonzero(sets.kind == kind)[0] for kind in range(sets.kinds)])
    sizes = channel.sizes[first]
    null = channel.null[first] if channel.hides_participation else np.zeros(sets.kinds, bool)
    inside, outside = channel.inside[drawn][:, None], channel.outside[drawn][:, None]
    laws = []
    for held in (1, 0):
        right, wrong = accuracy[:, None] * held, (1 - accuracy[:, None]) / max(labels - 1, 1)
        within = right + wrong * np.maximum(sizes - held, 0)
        chance = rate[:, None] * within + (1 - rate[:, None]) * null
        laws.append(np.log(outside + (inside - outside) * chance))
    # A set without labels never holds the truth.
    log_in = np.where(sizes > 0, laws[0], laws[1])
    return CoinStates(accuracy, rate, weights, log_in, laws[1])
