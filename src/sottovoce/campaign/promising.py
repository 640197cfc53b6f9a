"""From the privacy somebody asks for to a policy, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, default_mechanism, make_policy, release_of
from sottovoce.model import Domain, Policy

__all__ = ["calibrated_policy", "computable", "given_policy"]


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
