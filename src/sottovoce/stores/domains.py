"""Domains as the command line writes them."""

from __future__ import annotations

import math

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Kind

__all__ = ["parse_domain"]


def parse_domain(text: str) -> Domain | Kind:
    """A domain as the command line writes it.

    >>> parse_domain("numeric:0..10")
    Domain(kind=<Kind.NUMERIC: 'numeric'>, labels=(), low=0.0, high=10.0, step=None)
    >>> parse_domain("numeric:0..10/0.5").step
    0.5
    >>> parse_domain("ordinal:G,P,R,X").labels
    ('G', 'P', 'R', 'X')
    >>> parse_domain("categorical")
    <Kind.CATEGORICAL: 'categorical'>
    """
    name, colon, rest = text.partition(":")
    try:
        kind = Kind(name.strip().lower())
    except ValueError:
        raise UsageError(
            f"no domain {text!r}: say categorical, ordinal, numeric, numeric:0..10, "
            "ordinal:low,mid,high or categorical:yes,no"
        ) from None
    if not colon:
        return kind
    if kind is Kind.NUMERIC:
        return _parse_range(text, rest)
    labels = [label.strip() for label in rest.split(",")]
    if not all(labels):
        raise UsageError(f"the domain {text!r} has an empty label: write {kind}:first,second")
    return Domain(kind, tuple(labels))


def _parse_range(text: str, rest: str) -> Domain:
    span, slash, step = rest.partition("/")
    low, dots, high = span.partition("..")
    try:
        numbers = [float(low), float(high), *([float(step)] if slash else [])]
    except ValueError:
        numbers = [math.nan]
    if not dots or any(map(math.isnan, numbers)):
        raise UsageError(
            f"the domain {text!r} has no range: write numeric:0..10, or numeric:0..10/0.5 with a "
            "step"
        )
    return Domain.numeric(*numbers)
