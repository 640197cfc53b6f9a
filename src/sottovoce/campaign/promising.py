"""From the privacy somebody asks for to a policy, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import release_of
from sottovoce.mechanisms.targets import Target, make_policy
from sottovoce.model import Domain, Policy
from sottovoce.planning.candidates import MOST_SUBSET_LABELS

__all__ = ["calibrated_policy", "computable", "default_mechanism", "given_policy"]

MANY_LABELS = 10
"""From so many labels on, a set of labels says more than one label does."""


def calibrated_policy(
    domain: Domain,
    target: Target,
    *,
    mechanism: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Policy:
    """The policy of a mechanism calibrated to a target. May take seconds."""
    name = mechanism or default_mechanism(domain, target)
    with computable():
        return make_policy(domain, name, target, **(parameters or {}))


def default_mechanism(domain: Domain, target: Target) -> str:
    """The mechanism for whoever names none: one that pages can run, and that loses little.

    In simulations subset selection does better than randomised response from about ten labels on.
    Of the mechanisms for numbers the piecewise one is never far from the best; it cannot hide
    participation, and of those that can, subset selection is best from epsilon 2 on and not far
    from it below.

    >>> default_mechanism(Domain.numeric(0, 10), Target(1.0, hide_participation=True))
    'subset-selection'
    """
    if domain.is_numeric:
        return "subset-selection" if target.hide_participation else "piecewise"
    if MANY_LABELS <= domain.size <= MOST_SUBSET_LABELS:
        return "subset-selection"
    return "null-randomized-response" if target.hide_participation else "randomized-response"


def given_policy(document: Any) -> Policy:
    """The policy in a document, whose mechanism keeps what it promises. May take seconds."""
    policy = Policy.of_json(document)
    with computable():
        release_of(policy)
    return policy


@contextmanager
def computable() -> Iterator[None]:
    """Numbers beyond what can be computed with are the requester's mistake."""
    try:
        yield
    except ArithmeticError:
        raise UsageError(
            "epsilon, delta, the answers or the range are too large or too small to compute with"
        ) from None
