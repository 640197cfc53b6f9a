"""Mechanisms by name."""

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
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model.policy import short
from sottovoce.seams import Mechanism

__all__ = ["MECHANISMS", "mechanism_class", "mechanism_from"]

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
"""The mechanisms a requester may ask for: the papers' first, then those beyond them."""


def mechanism_class(name: str) -> type[Mechanism]:
    """The mechanism of that name."""
    if name not in MECHANISMS:
        raise UsageError(f"no mechanism {short(name)}; there are: {', '.join(MECHANISMS)}")
    return MECHANISMS[name]


def mechanism_from(document: Any) -> Mechanism:
    """The mechanism in a policy's JSON form, which may be a sampled one."""
    name = document.get("name") if isinstance(document, Mapping) else None
    if not isinstance(name, str):
        raise UsageError("the policy's mechanism must be an object with a name")
    if name != Sampled.name:
        return mechanism_class(name).of_json(document)
    inner = document.get("of")
    if isinstance(inner, Mapping) and inner.get("name") == Sampled.name:
        # Before going down, since a document may be nested deeper than Python follows.
        raise UsageError("a sample of a sample is a sample: sample once")
    return Sampled.of_json(document)
