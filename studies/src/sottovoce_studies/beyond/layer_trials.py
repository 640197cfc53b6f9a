"""One and two layers of randomised response at the same guarantee, on the same answers.

One cell is one trial: its answers, its noise words, and the error of TD and of aware inference to
the truth under each mechanism.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.laws.hyper_weights import UniformWeights
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import WORDS, Domain, Unit
from sottovoce.planning.pipelines import AWARE
from sottovoce.planning.trials import best_constant, error_of, trial_seed
from sottovoce.privacy.calibration import smallest_integer
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import LabelCrowd, Source
from sottovoce_studies.p1.crowds import ImportantCrowd

__all__ = [
    "ALIKE",
    "EXPERTS",
    "FEW_ALIKE",
    "FEW_MIXED",
    "KINDS",
    "MIXED",
    "READERS",
    "SMALL_DELTA",
    "Guaranteed",
    "Layer",
    "errors_of",
    "kept_by",
    "layers_at",
    "one_layer",
    "published",
    "sampled",
    "two_layer",
]

READERS: Mapping[str, str] = MappingProxyType({"TD": "td", "aware": AWARE})

SMALL_DELTA = 0.01

KINDS = ("pure", "small delta", "nominal epsilon", "per worker", "sampled")
"""The guarantee that is equal: epsilon per answer at delta 0, at `SMALL_DELTA`, or at the delta of
two layers at their nominal epsilon; or epsilon per worker at delta 0, also with one layer on a
sample of the answers.
"""

Layer: TypeAlias = TwoLayer | RandomizedResponse | Sampled

# Defined here, so that cached results depend on how the crowds are drawn.
ALIKE = ("all alike, k 100", LabelCrowd(64, 500, 100, 2, "homogeneous"))
MIXED = ("40 % good, k 100", LabelCrowd(64, 500, 100, 2, "heterogeneous"))
FEW_ALIKE = ("all alike, k 20", LabelCrowd(64, 100, 20, 2, "homogeneous"))
FEW_MIXED = ("40 % good, k 20", LabelCrowd(64, 100, 20, 2, "heterogeneous"))
EXPERTS = ("a third important, k 100", ImportantCrowd(50, 100, 16))

_ANSWERS, _NOISE = 0, 1
_STEP = 44  # bits: ends of ranges are searched in steps of 2⁴⁴⁻⁶⁴, about a millionth
_BINARY = Domain.categorical((0, 1))


@dataclass(frozen=True, slots=True)
class Guaranteed:
    """A guarantee for a number of binary answers of a worker."""

    unit: Unit
    epsilon: float
    delta: float
    answers: int

    def kept(self, mechanism: TwoLayer) -> bool:
        """Whether a mechanism meets it."""
        if self.delta > 0:
            return mechanism.delta(self.epsilon, self.answers, self.unit) <= self.delta
        return mechanism.guarantee(self.answers, self.unit).epsilon <= self.epsilon


def published(epsilon: float) -> TwoLayer:
    """P1's U(0, b) at its nominal epsilon (Thm. 6.3)."""
    return TwoLayer.as_published(_BINARY, epsilon)


@lru_cache(maxsize=256)
def kept_by(mechanism: TwoLayer, kind: str, nominal: float, answers: int) -> Guaranteed:
    """The true guarantee of a kind of a mechanism, for a number of answers."""
    if kind == "nominal epsilon":
        delta = mechanism.delta(nominal, answers, Unit.ANSWER)
        return Guaranteed(Unit.ANSWER, nominal, delta, answers)
    unit = Unit.WORKER if kind in ("per worker", "sampled") else Unit.ANSWER
    delta = SMALL_DELTA if kind == "small delta" else 0.0
    return Guaranteed(unit, mechanism.guarantee(answers, unit, delta).epsilon, delta, answers)


@lru_cache(maxsize=256)
def one_layer(held: Guaranteed) -> RandomizedResponse:
    """Randomised response with the least noise that meets the guarantee."""
    return RandomizedResponse.calibrated(
        _BINARY, held.epsilon, unit=held.unit, delta=held.delta, answers=held.answers
    )


@lru_cache(maxsize=256)
def two_layer(held: Guaranteed, width: float) -> TwoLayer | None:
    """U(a, a + width) with the smallest a that meets the guarantee, or None if none does.

    Up to a = (1 - width) / 2, where the range is symmetric about 1/2, the privacy loss falls as a
    rises.

    >>> held = Guaranteed(Unit.ANSWER, 1.0, 0.0, 100)
    >>> round(float(two_layer(held, 0.2).hyper.low / WORDS), 4), two_layer(held, 0.6)
    (0.2616, None)
    """
    wide = round(width * WORDS)

    def over(step: int) -> TwoLayer:
        low = step << _STEP
        return TwoLayer(2, UniformWeights(low, min(low + wide, WORDS - 1)))

    last = ((WORDS - wide) // 2) >> _STEP
    if not held.kept(over(last)):
        return None
    return over(smallest_integer(lambda step: held.kept(over(step)), 0, last))


@lru_cache(maxsize=256)
def sampled(held: Guaranteed) -> Sampled:
    """Randomised response on the number of a worker's answers that is best for its epsilon."""
    return Sampled.calibrated_worker(
        RandomizedResponse, _BINARY, held.epsilon, delta=held.delta, answers=held.answers
    )


def layers_at(epsilon: float, answers: int) -> dict[str, Layer]:
    """Two layers as published, one layer at the nominal epsilon, and one per kind of guarantee."""
    two = published(epsilon)
    nominal = Guaranteed(Unit.ANSWER, epsilon, 0.0, answers)
    held = {kind: kept_by(two, kind, epsilon, answers) for kind in KINDS}
    equal: dict[str, Layer] = {
        kind: sampled(each) if kind == "sampled" else one_layer(each) for kind, each in held.items()
    }
    return {"two-layer": two, "nominal": one_layer(nominal), **equal}


def errors_of(
    source: Source,
    mechanisms: tuple[tuple[str, Layer], ...],
    trial: int,
    seed: int,
) -> dict[str, float]:
    """One trial: the error of both methods under each mechanism, and of the best constant.

    All have the same answers and noise words. Ties are broken at random with the trial's seed.
    """
    answers, truths = source.draw(trial_seed(seed, _ANSWERS, trial))
    noise = trial_seed(seed, _NOISE, trial)
    errors = {CONSTANT: best_constant(truths).error}
    for name, mechanism in mechanisms:
        policy = policy_of(mechanism, answers.domain, None)
        reports = perturb(answers, policy, SeededRandomness(noise))
        for reader, method in READERS.items():
            # Compiled kernels are faster for hundreds of fits, at any size.
            read = infer(reports, method, policy=policy, ties="random", seed=noise, compiled=True)
            errors[f"{name} {reader}"] = error_of(read, truths)
    return errors
