"""Guarantees of campaigns: policies for the requested privacy, and a policy's exact guarantee.

Guarantees are computed from the policy, per answer and per worker. Not every policy runs on the
worker's page: its randomiser supports fewer mechanisms than the library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.affordability import Affordability, affordability
from sottovoce.mechanisms.odds import weakness_warnings
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
from sottovoce.model.campaign import Assignment


def works_in_browser(policy: Policy) -> bool:
    """Whether a browser is enough for workers.

    The page checks every promise from the policy's integers. It needs a mechanism whose exact
    guarantee is a ratio of two integers, a promise without delta, and no calibration as
    published. Workers of other policies need `sottovoce answer` or the Python client.

    >>> from sottovoce import Domain, Target, make_policy
    >>> labels = Domain.categorical(["no", "yes"])
    >>> works_in_browser(make_policy(labels, "randomized-response", Target(1.0)))
    True
    >>> works_in_browser(make_policy(labels, "two-layer", Target(1.0)))
    False

    All sealed policies work: every browser can seal.
    """
    promise = policy.promise
    sound = policy.calibration is Calibration.SOUND and promise is not None and promise.delta == 0
    return sound and release_from(policy.mechanism).in_browser


@dataclass(frozen=True, slots=True)
class KeptGuarantees:
    """The guarantees of a worker with the most allowed answers, in numbers and in words."""

    per_answer: Guarantee
    per_worker: Guarantee
    odds: str | None
    warning: str | None


def guarantees_of(policy: Policy) -> KeptGuarantees:
    """The guarantees of a campaign's policy. Takes seconds for some mechanisms, once per policy."""
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
    warnings = weakness_warnings(per_answer, per_worker, sealed=policy.sealed)
    return KeptGuarantees(per_answer, per_worker, _odds(policy), " ".join(warnings) or None)


@lru_cache(maxsize=256)
def _affordability(text: str, tasks: int) -> Affordability:
    return affordability(Policy.parse(text), tasks)


def devices_of(policy: Policy, tasks: int) -> Affordability:
    """How many of `tasks` tasks a device answers at its default budget. May take seconds, once."""
    return _affordability(policy.text(), tasks)


def _odds(policy: Policy) -> str | None:
    """The odds for 100 answers; sealed answers have none."""
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
    """The policy in a document, if its mechanism keeps its promise. May take seconds."""
    policy = Policy.of_json(document)
    with computable():
        release_of(policy)
    return policy


def chosen_assignment(policy: Policy, asked: str | None) -> Assignment:
    """The assignment of tasks that the requester asks for; by need where the policy allows it.

    A worker that sends once, hides its participation or seals its answers needs tasks that both
    sides can compute.
    """
    allowed = release_of(policy).is_separable
    if asked == Assignment.NEED and not allowed:
        raise UsageError(
            f"{policy.name} takes all answers of a worker at once, so its tasks are assigned by a "
            "hash; leave out assignment, or choose hash"
        )
    return Assignment(asked or (Assignment.NEED if allowed else Assignment.HASH))


@contextmanager
def computable() -> Iterator[None]:
    """Turn numeric overflow into an error for the requester."""
    try:
        yield
    except ArithmeticError:
        raise UsageError(
            "epsilon, delta, the answers or the range are too large or too small to compute with"
        ) from None
