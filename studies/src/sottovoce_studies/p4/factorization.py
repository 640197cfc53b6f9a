"""Variants of P4's matrix factorisation: the settings that P4 does not print.

P4 Alg. 2 descends the gradient until it is 0, so MF is at the minimum of its loss. P4 prints no
dimension and no law of the profiles V. It has no ridge, without which there is no minimum for a
worker with fewer answers than dimensions: the variant is then refused, as `None`. Descents with a
fixed number of steps show that more steps lead to the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

import numpy as np

from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.codes import report_table
from sottovoce.mechanisms.laws.task_profiles import as_matrix, real_profiles
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.model import NULL, Cells, Domain, FloatArray, Policy, Reports

__all__ = [
    "DESCENTS",
    "MAIN",
    "MF",
    "OPEN",
    "VARIANTS",
    "Factorization",
    "descended",
    "limits",
    "variant_named",
]

Profiles: TypeAlias = Literal["-1 to 1", "0 to 1"]

DIMENSIONS = (2, 10, 1)
RIDGES = (0.0, 0.01)
STEPS = (200, 400)
MINIMUM = "to the minimum"

OPEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "dimension": tuple(map(str, sorted(DIMENSIONS))),
        "ridge": tuple(f"{ridge:g}" for ridge in RIDGES),
        "entries of V": get_args(Profiles),
        "gradient steps": (*map(str, STEPS), MINIMUM),
    }
)
"""Points of MF that P4 leaves open, with the choices tried."""


@dataclass(frozen=True, slots=True)
class Factorization:
    """MF with a dimension, a ridge, a law of the entries of V before they are scaled, and steps.

    `steps` None is the minimum.
    """

    dimension: int
    ridge: float = 0.0
    profiles: Profiles = "-1 to 1"
    steps: int | None = None

    @property
    def name(self) -> str:
        """A short name, unique among the variants.

        >>> Factorization(2).name, Factorization(10, 0.01, "0 to 1", 200).name
        ('MF d 2', 'MF d 10, ridge 0.01, V 0 to 1, 200 steps')
        """
        parts = [f"MF d {self.dimension}"]
        parts += [f"ridge {self.ridge:g}"] if self.ridge else []
        parts += [f"V {self.profiles}"] if self.profiles != "-1 to 1" else []
        parts += [f"{self.steps} steps"] if self.steps else []
        return ", ".join(parts)

    @property
    def values(self) -> dict[str, str]:
        """Its choice of each open point."""
        steps = str(self.steps) if self.steps else MINIMUM
        settings = (str(self.dimension), f"{self.ridge:g}", self.profiles, steps)
        return dict(zip(OPEN, settings, strict=True))

    def law(self, domain: Domain, epsilon: float, salt: str = "") -> PublishedFactorization:
        """The mechanism; it has profiles from -1 to 1."""
        return PublishedFactorization.over(
            domain, epsilon, dimension=self.dimension, ridge=self.ridge, salt=salt
        )

    def policy(self, domain: Domain, epsilon: float, salt: str = "") -> Policy:
        """The policy of the mechanism."""
        return policy_of(self.law(domain, epsilon, salt), domain, None)

    def reports(
        self, cells: Cells, domain: Domain, epsilon: float, salt: str, noise: int
    ) -> Reports | None:
        """A report on every task, or None if a worker has no minimum. Values are the codes."""
        codes = as_matrix(cells, cells.code.astype(np.int32), "MF")
        answered = (codes != NULL).astype(np.float64)
        if not self.ridge and answered.sum(axis=1).min() < self.dimension:
            return None
        profiles = _profiles(tuple(cells.tasks), self.dimension, salt)
        if self.profiles == "0 to 1":
            profiles = np.abs(profiles)
        law, randomness = self.law(domain, epsilon, salt), SeededRandomness(noise)
        hessian, pull = law.normal_equations(answered, answered * codes, profiles, randomness)
        fitted = descended(hessian, pull, self.steps, noise)
        sent = cells.reporting((fitted @ profiles).ravel())
        return report_table(sent, law.alphabet, domain, simulated=True)


@lru_cache(maxsize=8)
def _profiles(tasks: tuple[object, ...], dimension: int, salt: str) -> FloatArray:
    """Cached, because the variants of a trial share them."""
    return real_profiles(tasks, dimension, salt)


def descended(
    hessian: FloatArray, pull: FloatArray, steps: int | None, seed: int = 0
) -> FloatArray:
    """The minimum of uᵀHu/2 - gᵀu by worker, or the point after gradient steps from N(0, I)."""
    if steps is None:
        return np.asarray(np.linalg.solve(hessian, pull[..., np.newaxis])[..., 0], np.float64)
    point = np.random.default_rng(seed).standard_normal(pull.shape)
    rate = 1 / np.linalg.eigvalsh(hessian)[:, -1:]
    for _ in range(steps):
        point = point - rate * (np.einsum("wij,wj->wi", hessian, point) - pull)
    return point


VARIANTS: tuple[Factorization, ...] = tuple(
    Factorization(dimension, ridge, profiles)
    for profiles in get_args(Profiles)
    for dimension in DIMENSIONS
    for ridge in RIDGES
)
"""Every choice of dimension, ridge and profiles, at the minimum."""

DESCENTS: tuple[Factorization, ...] = tuple(
    replace(variant, steps=steps)
    for variant in (
        Factorization(2, 0.01),
        Factorization(10, 0.01),
        Factorization(10, 0.01, "0 to 1"),
    )
    for steps in STEPS
)
"""The variants that are also run with a fixed number of gradient steps."""

MF: Mapping[int, Factorization] = MappingProxyType({d: Factorization(d) for d in DIMENSIONS})
"""MF to the letter by its dimension: no ridge, profiles from -1 to 1, at the minimum."""

MAIN = (MF[2], MF[1], Factorization(10, 0.01), Factorization(2, profiles="0 to 1"))
"""The variants of quick runs and of all trials; others are run in the first trials only."""


def variant_named(name: str) -> Factorization:
    """The variant with a name."""
    return next(each for each in (*VARIANTS, *DESCENTS) if each.name == name)


def limits() -> Iterator[tuple[Sequence[Factorization], Factorization]]:
    """Descents by increasing steps, each with the variant at the minimum."""
    for minimum in dict.fromkeys(replace(each, steps=None) for each in DESCENTS):
        yield [each for each in DESCENTS if replace(each, steps=None) == minimum], minimum
