"""The methods for opened totals, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Protocol

from sottovoce.errors import UsageError
from sottovoce.inference.registry import unknown_method
from sottovoce.inference.sealed.noisy_numbers import SealedHistogram, SealedMean
from sottovoce.inference.sealed.noisy_votes import SealedMajorityVote, SealedVotes
from sottovoce.model import Result
from sottovoce.model.opened_totals import Opened


class SealedMethod(Protocol):
    """Infers truths from totals of one layout."""

    name: ClassVar[str]
    layout: ClassVar[str]

    def fit(self, opened: Opened) -> Result:
        """The truths, with their confidence or standard errors."""
        ...


SEALED_METHODS: Mapping[str, SealedMethod] = MappingProxyType(
    {
        method.name: method
        for method in (SealedVotes(), SealedMajorityVote(), SealedMean(), SealedHistogram())
    }
)
"""Every method for opened totals under its name; the first of a layout is the default."""


def sealed_method(name: str, layout: str) -> SealedMethod:
    """The method of that name, or with "auto" the default one; refuses one for another layout.

    >>> sealed_method("auto", "sum").name
    'sealed-mean'
    """
    fitting = [method for method in SEALED_METHODS.values() if method.layout == layout]
    if name == "auto":
        return fitting[0]
    if name not in SEALED_METHODS:
        raise unknown_method(name, SEALED_METHODS)
    if SEALED_METHODS[name] not in fitting:
        those = ", ".join(method.name for method in fitting)
        raise UsageError(
            f"{name} does not read totals of layout {layout}; these methods do: {those}"
        )
    return SEALED_METHODS[name]
