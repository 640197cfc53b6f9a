"""Guarantees of campaigns: policies from the privacy asked for, and what a policy promises.

Guarantees are computed from the policy, per answer and per worker. Not every policy can run on the
worker's page, whose randomiser is smaller than the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.odds import weakness_warning
from sottovoce.mechanisms.policies import (
    Target,
    default_mechanism,
    make_policy,
    mechanism_of,
    release_of,
    weakest_guarantee,
)
from sottovoce.mechanisms.registry import release_from
from sottovoce.model import Calibration, Domain, Guarantee, Policy, Unit


def works_in_browser(policy: Policy) -> bool:
    """Whether a worker can take part with nothing but a browser.

    The page checks every promise from the policy's integers. So it takes mechanisms whose exact
    guarantee is a ratio of two integers, a promise without a delta, and no calibration as
    published. Workers of other policies need `sottovoce answer` or the Python client.

    >>> from sottovoce import Domain, Target, make_policy
    >>> labels = Domain.categorical(["no", "yes"])
    >>> works_in_browser(make_policy(labels, "randomized-response", Target(1.0)))
    True
    >>> works_in_browser(make_policy(labels, "two-layer", Target(1.0)))
    False

    Sealing needs nothing but what every browser has, so sealed policies all work.
    """
    promise = policy.promise
    sound = policy.calibration is Calibration.SOUND and promise is not None and promise.delta == 0
    return sound and release_from(policy.mechanism).in_browser


@dataclass(frozen=True, slots=True)
class KeptGuarantees:
    """What holds for a worker with as many answers as are allowed, in numbers and in words."""

    per_answer: Guarantee
    per_worker: Guarantee
    odds: str | None
    warning: str | None


def guarantees_of(policy: Policy) -> KeptGuarantees:
    """What a campaign's policy keeps. Takes seconds for some mechanisms, once for each policy."""
    return _kept(policy.text())


@lru_cache(maxsize=256)
def _kept(text: str) -> KeptGuarantees:
    policy = Policy.parse(text)
    release, promise = release_of(policy), policy.promise
    assert promise is not None  # noqa: S101 - campaigns have no others
    per_answer, per_worker = (
        weakest_guarantee(release, promise.answers, unit, promise.delta)
        for unit in (Unit.ANSWER, Unit.WORKER)
    )
    warning = weakness_warning(per_answer.epsilon, per_answer.delta)
    return KeptGuarantees(per_answer, per_worker, _odds(policy), warning)


def _odds(policy: Policy) -> str | None:
    """What becomes of 100 answers; nothing becomes of those that are sealed."""
    odds = None if policy.sealed else mechanism_of(policy).odds()
    return odds.sentence if odds else None


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
