"""One and two layers of randomised response at the same guarantee, on the same answers.

One cell is one trial: its answers, its noise words, and the error of TD and of aware inference to
the truth under each mechanism. A cell of calibrated mechanisms first chooses the best of each kind
on other answers, then has the trials of those chosen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.laws.hyper_weights import LevelWeights, UniformWeights
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
    "ALL",
    "BOTH",
    "EXPERTS",
    "FEW_ALIKE",
    "FEW_MIXED",
    "FORMS",
    "KINDS",
    "LEVELS",
    "MIXED",
    "READERS",
    "SAMPLE",
    "SMALL_DELTA",
    "UNIFORM",
    "Grid",
    "Guaranteed",
    "Layer",
    "calibrated_trials",
    "candidates",
    "errors_of",
    "kept_by",
    "layers_at",
    "one_layer",
    "published",
    "sampled",
    "two_layer",
    "two_levels",
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

ALL, SAMPLE, UNIFORM = "one layer", "one layer, sampled", "U(a, b)"
LEVELS, BOTH = "two levels", "two levels, both units"
FORMS = (ALL, SAMPLE, UNIFORM, LEVELS, BOTH)
"""One layer on all answers of a worker or on a sample; two layers with a uniform flip probability,
or with one of two flip probabilities, on all answers or on a sample. The last has no larger epsilon
per answer than one layer on a sample either.
"""

_ANSWERS, _NOISE, _CHOICE = 0, 1, 2
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
def two_levels(held: Guaranteed, rare: float) -> TwoLayer:
    """A flip probability p, but 1/2 for a share `rare` of the workers, with the smallest p.

    With r = rare, k answers and p < 1/2 the epsilon per worker is

        ln (((1 - r) (1 - p)^k + r 2^-k) / ((1 - r) p^k + r 2^-k)) < ln(1 + (1 - r)/r (2 (1 - p))^k)

    so about ln 2 (1 - p) per answer instead of one layer's ln((1 - p) / p).

    >>> law = two_levels(Guaranteed(Unit.WORKER, 50.0, 0.0, 100), 0.1).hyper
    >>> [round(other / WORDS, 3) for other in law.others]  # one layer: 0.378
    [0.194, 0.5]
    """
    uninformative, half = round(rare * WORDS), WORDS // 2

    def at(step: int) -> TwoLayer:
        law = LevelWeights((step << _STEP, half), (WORDS - uninformative, uninformative))
        return TwoLayer(2, law)

    last = (half >> _STEP) - 1
    return at(smallest_integer(lambda step: held.kept(at(step)), 0, last))


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


@dataclass(frozen=True, slots=True)
class Grid:
    """The parameters tried at an epsilon per worker.

    `samples` are numbers of answers sent, as multiples of epsilon; all answers are tried too.
    """

    samples: tuple[float, ...]
    widths: tuple[float, ...]
    rare: tuple[float, ...]

    def sent(self, epsilon: float, answers: int) -> list[int]:
        """The numbers of answers sent.

        >>> Grid((0.4, 1.0, 2.0), (), ()).sent(8.0, 10)
        [3, 8, 10]
        """
        some = (max(1, round(share * epsilon)) for share in self.samples)
        return sorted({answers, *(each for each in some if each < answers)})


def candidates(epsilon: float, answers: int, grid: Grid) -> dict[str, dict[str, Layer]]:
    """Mechanisms of every form with the same exact epsilon per worker, by their parameters."""
    found: dict[str, dict[str, Layer]] = {form: {} for form in FORMS if form != BOTH}
    for sent in grid.sent(epsilon, answers):
        held = Guaranteed(Unit.WORKER, epsilon, 0.0, sent)
        of = f"{sent} of {answers} answers"
        found[ALL if sent == answers else SAMPLE][of] = _sent(one_layer(held), held, answers)
        for form, name, mechanism in _shared(held, grid):
            found[form][f"{name}, {of}"] = _sent(mechanism, held, answers)
    return found


def _shared(held: Guaranteed, grid: Grid) -> Iterator[tuple[str, str, TwoLayer]]:
    for width in grid.widths:
        uniform = two_layer(held, width)
        if uniform is not None and isinstance(uniform.hyper, UniformWeights):
            low, high = uniform.hyper.low / WORDS, uniform.hyper.high / WORDS
            yield UNIFORM, f"U({low:.3f}, {high:.3f})", uniform
    for rare in grid.rare:
        levels = two_levels(held, rare)
        if isinstance(levels.hyper, LevelWeights):
            low = levels.hyper.others[0] / WORDS
            yield LEVELS, f"{low:.3f}, or 1/2 for {rare:.0%}", levels


def _sent(mechanism: TwoLayer | RandomizedResponse, held: Guaranteed, answers: int) -> Layer:
    return mechanism if held.answers == answers else Sampled(mechanism, held.answers)


def calibrated_trials(
    source: Source, epsilon: float, answers: int, grid: Grid, sizes: tuple[int, int], seed: int
) -> dict[str, Any]:
    """The mechanism of every form with the smallest error of TD, and its trials on other answers.

    `per answer` has their epsilons per answer, which may be as large as the one per worker.

    `sizes` are the trials to choose with, and those of the mechanisms chosen.
    """
    forms = candidates(epsilon, answers, grid)
    every = tuple(
        (f"{form}: {name}", layer)
        for form, layers in forms.items()
        for name, layer in layers.items()
    )
    apart = trial_seed(seed, _CHOICE)
    seen = [errors_of(source, every, trial, apart, ("TD",)) for trial in range(sizes[0])]
    chosen = {form: _best(seen, form, forms[form]) for form in forms}
    limit = _per_answer(forms[SAMPLE][chosen[SAMPLE]], answers)
    forms[BOTH] = {
        name: layer for name, layer in forms[LEVELS].items() if _per_answer(layer, answers) <= limit
    }
    chosen[BOTH] = _best(seen, LEVELS, forms[BOTH])
    kept = tuple((form, forms[form][name]) for form, name in chosen.items())
    errors = [errors_of(source, kept, trial, seed) for trial in range(sizes[1])]
    epsilons = {form: _per_answer(layer, answers) for form, layer in kept}
    return {"chosen": chosen, "per answer": epsilons, "tried": len(every), "errors": errors}


def _per_answer(layer: Layer, answers: int) -> float:
    return layer.guarantee(answers, Unit.ANSWER).epsilon


def _best(seen: Sequence[Mapping[str, float]], form: str, layers: Mapping[str, Layer]) -> str:
    """The name with the smallest mean error of TD."""
    return min(
        layers, key=lambda name: float(np.mean([trial[f"{form}: {name} TD"] for trial in seen]))
    )


def errors_of(
    source: Source,
    mechanisms: tuple[tuple[str, Layer], ...],
    trial: int,
    seed: int,
    readers: tuple[str, ...] = tuple(READERS),
) -> dict[str, float]:
    """One trial: the error of the methods under each mechanism, and of the best constant.

    All have the same answers and noise words. Ties are broken at random with the trial's seed.
    """
    answers, truths = source.draw(trial_seed(seed, _ANSWERS, trial))
    noise = trial_seed(seed, _NOISE, trial)
    errors = {CONSTANT: best_constant(truths).error}
    for name, mechanism in mechanisms:
        policy = policy_of(mechanism, answers.domain, None)
        reports = perturb(answers, policy, SeededRandomness(noise))
        for reader in readers:
            # Compiled kernels are faster for hundreds of fits, at any size.
            read = infer(
                reports, READERS[reader], policy=policy, ties="random", seed=noise, compiled=True
            )
            errors[f"{name} {reader}"] = error_of(read, truths)
    return errors
