"""The mechanisms and the sealed sum, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.duchi import Duchi
from sottovoce.mechanisms.laplace import Laplace
from sottovoce.mechanisms.matrix_factorization import MatrixFactorization
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.random_variance_gaussian import RandomVarianceGaussian
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model.policy import short
from sottovoce.seams import Mechanism, Release

NO_MECHANISM = (
    "this policy is for sealed answers: workers seal them and keyholders open noised sums, so "
    "nothing is perturbed; `sottovoce sealed simulate` shows what would be opened"
)

_KINDS: tuple[type[Mechanism], ...] = (
    RandomizedResponse,
    TwoLayer,
    RandomVarianceGaussian,
    Laplace,
    NullRandomizedResponse,
    MatrixFactorization,
    Piecewise,
    Duchi,
    SubsetSelection,
    Threshold,
)
MECHANISMS: Mapping[str, type[Mechanism]] = {kind.name: kind for kind in _KINDS}
"""The mechanisms a requester may choose: the papers' first, then others."""

RELEASES: Mapping[str, type[Release]] = {**MECHANISMS, SealedSum.name: SealedSum}
"""All that a requester may choose: the mechanisms, and noised sums that keyholders open."""


def release_class(name: str) -> type[Release]:
    """The mechanism of that name, or the sealed sum."""
    if name not in RELEASES:
        raise UsageError(f"no mechanism {short(name)}; there are: {', '.join(RELEASES)}")
    return RELEASES[name]


def mechanism_class(name: str) -> type[Mechanism]:
    """The mechanism of that name."""
    if name == SealedSum.name:
        raise UsageError(NO_MECHANISM)
    if name not in MECHANISMS:
        raise UsageError(f"no mechanism {short(name)}; there are: {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def is_sealed(name: str) -> bool:
    """Whether answers under that name are sealed for keyholders, and none is perturbed."""
    return name == SealedSum.name


def always_hides(name: str | None) -> bool:
    """Whether every worker reports on every task under that name, with any parameters."""
    return name is not None and name in RELEASES and RELEASES[name].hiding == {}


def release_from(document: Any) -> Release:
    """The release in a policy's JSON form: a mechanism, perhaps a sampled one, or a sealed sum."""
    if isinstance(document, Mapping) and document.get("name") == SealedSum.name:
        return SealedSum.of_json(document)
    return mechanism_from(document)


def mechanism_from(document: Any) -> Mechanism:
    """The mechanism in a policy's JSON form, which may be a sampled one."""
    name = document.get("name") if isinstance(document, Mapping) else None
    if not isinstance(name, str):
        raise UsageError("the policy's mechanism must be an object with a name")
    if name != Sampled.name:
        return mechanism_class(name).of_json(document)
    inner = document.get("of")
    if isinstance(inner, Mapping) and inner.get("name") == Sampled.name:
        # Checked before recursion, because a document may be nested deeper than Python's limit.
        raise UsageError("a sampled mechanism cannot be sampled again: sample once")
    return Sampled.of_json(document)
