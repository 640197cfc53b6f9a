"""True guarantees and errors of hyper distributions with the same mean.

P1 names no hyper distribution other than the uniform one. Those here all have the mean flip
probability of the nominal epsilon, and so the same nominal epsilon (P1 Thm. 6.3).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from scipy.special import betainc, ndtr

from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.hyper_weights import HyperWeights, LevelWeights, most_other
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import WORDS, Domain, FloatArray, Unit
from sottovoce.planning.pipelines import AWARE
from sottovoce.planning.trials import best_constant, error_of
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.p1.layers import drawn, noise_seed, one_layer, read_as_printed, two_layer

__all__ = [
    "LAWS", "NONE", "UNIFORM", "beta_levels", "errors_of", "kept_by", "law_named", "normal_levels",
]  # fmt: skip

NONE = "one layer"
NORMAL = "normal"
BELL = "Beta(2, 2)"
UNIFORM = "uniform"
ARCSINE = "arcsine"
LAWS = (NONE, NORMAL, BELL, UNIFORM, ARCSINE)
"""In order of increasing spread of the draws."""

DEVIATION = 0.05
LEVELS = 255
_BINARY = Domain.categorical((0, 1))


def law_named(name: str, epsilon: float) -> TwoLayer:
    """A distribution of the flip probability of two labels with the mean p of the nominal epsilon.

        one layer: always p          normal: N(p, 0.05²) within [0, 2 p]
        Beta(2, 2), uniform, arcsine: 2 p B with B ~ Beta(2, 2), Beta(1, 1), Beta(½, ½)

    All except the uniform one are discretised to 255 levels. Epsilon must be above 0.

    >>> [round(law_named(name, 1.0).claim().epsilon, 6) for name in LAWS]
    [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    flip = 1 - one_layer(_BINARY, epsilon).keep_probability
    laws: dict[str, HyperWeights] = {
        NONE: LevelWeights((round(flip * WORDS),), (WORDS,)),
        NORMAL: normal_levels(2, 0.0, 2 * flip, flip, DEVIATION, LEVELS),
        BELL: beta_levels(2, 0.0, 2 * flip, 2.0, 2.0, LEVELS),
        UNIFORM: two_layer(_BINARY, epsilon).hyper,
        ARCSINE: beta_levels(2, 0.0, 2 * flip, 0.5, 0.5, LEVELS),
    }
    if name not in laws:
        raise UsageError(f"no distribution {name!r}: choose one of {', '.join(LAWS)}")
    return TwoLayer(2, laws[name])


def beta_levels(
    symbols: int, low: float, high: float, first: float, second: float, levels: int = 256
) -> LevelWeights:
    """Flip probabilities low + (high - low) B with B ~ Beta(first, second), on equal cells.

    >>> leaning = beta_levels(2, 0.0, 0.6, 2.0, 4.0)
    >>> round(float(leaning.mean / WORDS), 4)
    0.2
    """
    if not (0 < first < math.inf and 0 < second < math.inf):
        raise UsageError(f"first and second must be numbers above 0, not {first:g} and {second:g}")
    return _shaped(symbols, low, high, levels, lambda x: betainc(first, second, x))


def normal_levels(
    symbols: int, low: float, high: float, mean: float, deviation: float, levels: int = 256
) -> LevelWeights:
    """Flip probabilities from N(mean, deviation²) within [low, high], on equal cells."""
    if not (low <= mean <= high and 0 < deviation < math.inf):
        raise UsageError(
            f"mean must be from low to high and deviation above 0, not {mean:g} and {deviation:g}"
        )
    return _shaped(
        symbols, low, high, levels, lambda x: ndtr((low + (high - low) * x - mean) / deviation)
    )


def _shaped(
    symbols: int, low: float, high: float, levels: int, below: Callable[[FloatArray], FloatArray]
) -> LevelWeights:
    """Equal cells, each at its middle; `below` is the mass below a position from 0 to 1."""
    if not 0 <= low < high <= 1:
        raise UsageError(f"flip probabilities need 0 <= low < high <= 1, not {low:g} and {high:g}")
    edges = below(np.linspace(0.0, 1.0, levels + 1))
    middles = low + (high - low) * (np.arange(levels) + 0.5) / levels
    others = [
        min(round(Fraction(float(flip)) * WORDS / (symbols - 1)), most_other(symbols))
        for flip in middles
    ]
    parts = [Fraction(float(mass)) for mass in np.diff(edges)]
    whole = sum(parts)
    marks = [int(total * WORDS / whole) for total in itertools.accumulate(parts)]
    weights = [b - a for a, b in itertools.pairwise([0, *marks])]
    kept = [(o, w) for o, w in zip(others, weights, strict=True) if w > 0]
    return LevelWeights(tuple(o for o, _ in kept), tuple(w for _, w in kept))


def kept_by(name: str, epsilon: float, answers: Sequence[int]) -> dict[str, list[float] | float]:
    """The claim of a distribution and its true pure epsilons and delta for numbers of answers."""
    mechanism = law_named(name, epsilon)
    claimed = mechanism.claim().epsilon
    return {
        "claimed": claimed,
        "answer": [mechanism.guarantee(k, Unit.ANSWER).epsilon for k in answers],
        "worker": [mechanism.guarantee(k, Unit.WORKER).epsilon for k in answers],
        "delta": [mechanism.delta(claimed, k, Unit.ANSWER) for k in answers],
    }


def errors_of(
    source: Source, names: Sequence[str], epsilon: float, trial: int, seed: int
) -> dict[str, float]:
    """The error of TD and aware inference under each distribution in a trial at a nominal epsilon.

    All have the same answers and noise words, and ties go to label 0 (`AS_PRINTED`).
    """
    answers, truths = drawn(source, trial, seed)
    noise = noise_seed(epsilon, trial, seed)
    errors = {CONSTANT: best_constant(truths).error}
    for name in names:
        policy = policy_of(law_named(name, epsilon), answers.domain, None)
        reports = perturb(answers, policy, SeededRandomness(noise))
        for reader, method in (("TD", "td"), ("aware", AWARE)):
            read = read_as_printed(reports, method, policy)
            errors[f"{name} {reader}"] = error_of(read, truths)
    return errors
