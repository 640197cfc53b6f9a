"""True guarantees and errors of hyper distributions with the same mean.

P1 names no hyper distribution other than the uniform one. Those here all have the mean flip
probability of the nominal epsilon, and so the same nominal epsilon (P1 Thm. 6.3).
"""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.hyper_weights import HyperWeights, LevelWeights
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import WORDS, Domain, Unit
from sottovoce.planning.pipelines import AWARE
from sottovoce.planning.trials import best_constant, error_of
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.p1.layers import drawn, noise_seed, one_layer, read_as_printed, two_layer

__all__ = ["LAWS", "NONE", "UNIFORM", "errors_of", "kept_by", "law_named"]

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
        NORMAL: LevelWeights.normal(2, 0.0, 2 * flip, flip, DEVIATION, LEVELS),
        BELL: LevelWeights.beta(2, 0.0, 2 * flip, 2.0, 2.0, LEVELS),
        UNIFORM: two_layer(_BINARY, epsilon).hyper,
        ARCSINE: LevelWeights.beta(2, 0.0, 2 * flip, 0.5, 0.5, LEVELS),
    }
    if name not in laws:
        raise UsageError(f"no distribution {name!r}: choose one of {', '.join(LAWS)}")
    return TwoLayer(2, laws[name])


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
