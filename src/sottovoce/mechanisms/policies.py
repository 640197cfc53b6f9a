"""From a policy to its mechanism or sealed sum, which must keep what the policy promises."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import cast

from sottovoce.errors import UsageError
from sottovoce.mechanisms.registry import mechanism_from, release_from
from sottovoce.mechanisms.sampling import sent_by, unsampled
from sottovoce.mechanisms.sealed_sum import SealedSum, check_layout
from sottovoce.mechanisms.tables import NULL_TEXT
from sottovoce.model import (
    Alphabet,
    Calibration,
    Domain,
    Grid,
    Guarantee,
    Policy,
    Promise,
    Unit,
    label_text,
)
from sottovoce.seams import Mechanism, Release

__all__ = [
    "check_promise",
    "mechanism_of",
    "policy_of",
    "release_of",
    "sealed_of",
    "weakest_guarantee",
]


def policy_of(release: Release, domain: Domain, promise: Promise | None) -> Policy:
    """A policy that says what a mechanism or a sealed sum is, with a promise it keeps, or none."""
    _check_fit(release, domain)
    calibration = Calibration.SOUND if promise else Calibration.AS_PUBLISHED
    policy = Policy(_stated(domain), release.as_json(), calibration, promise)
    check_promise(policy, release)
    return policy


def release_of(policy: Policy) -> Release:
    """What a policy says of how answers get out, after checking that it keeps the promise."""
    if not isinstance(policy, Policy):
        raise UsageError("this is no Policy: read_policy(path) reads one, make_policy makes one")
    return _checked(policy.text())


def mechanism_of(policy: Policy) -> Mechanism:
    """The mechanism of a policy, after checking that it keeps the policy's promise."""
    if isinstance(policy, Policy) and policy.sealed:
        mechanism_from(policy.mechanism)  # refuses it and says why
    found = release_of(policy)
    return cast("Mechanism", found)  # there is no other release


def sealed_of(policy: Policy) -> SealedSum:
    """The sealed sum of a policy, after checking that it keeps the policy's promise."""
    found = release_of(policy)
    if not isinstance(found, SealedSum):
        raise UsageError(f"this policy is for {found.name}, not for sealed answers")
    return found


@lru_cache(maxsize=64)
def _checked(text: str) -> Release:
    """What a policy's text says; kept, since a check may take seconds and is often asked."""
    policy = Policy.parse(text)
    release = release_from(policy.mechanism)
    _check_fit(release, policy.domain)
    check_promise(policy, release)
    return release


def _stated(domain: Domain) -> Domain:
    """The domain with its labels as a policy states them: texts and integers."""
    labels = tuple(
        label_text(label) if isinstance(label, bool | float) else label for label in domain.labels
    )
    return replace(domain, labels=labels)


def _check_fit(release: Release, domain: Domain) -> None:
    """Refuse what is made for another domain: its guarantee would be about other answers."""
    if isinstance(release, SealedSum):
        check_layout(release, domain)
        _check_null(release.hidden, domain)
        return
    mechanism = cast("Mechanism", unsampled(release))
    if domain.kind not in mechanism.takes:
        raise UsageError(f"the policy's {mechanism.name} does not take {domain} answers")
    _check_null(mechanism.alphabet is Alphabet.LABELS_OR_NULL, domain)
    found = {
        "labels": (getattr(mechanism, "labels", None), domain.size),
        "steps": (getattr(mechanism, "steps", None), _steps(domain)),
    }
    for field, (made_for, has) in found.items():
        if made_for is not None and made_for != has:
            raise UsageError(
                f"the policy's {mechanism.name} is made for {made_for:,} {field} and its domain "
                f"has {has:,}"
            )


def _check_null(hides: bool, domain: Domain) -> None:
    if hides and NULL_TEXT in map(str, domain.labels):
        raise UsageError(f"{NULL_TEXT} means not answering here: give that label another name")


def _steps(domain: Domain) -> int:
    try:
        return Grid.over(domain).steps
    except UsageError:  # labels that are no grid
        return 0


def check_promise(policy: Policy, release: Release) -> None:
    """Refuse a policy whose release betrays more than it promises."""
    if policy.promise is None:
        if policy.calibration is Calibration.SOUND:
            raise UsageError("a policy that is not as published must promise something")
        return
    promise = policy.promise
    held = weakest_guarantee(release, promise.answers, promise.unit, promise.delta)
    if not held.within(promise.epsilon, promise.delta):
        raise UsageError(
            f"the policy promises epsilon {promise.epsilon:g} per {promise.unit} and its "
            f"mechanism only keeps {held}: it cannot be trusted"
        )


def weakest_guarantee(release: Release, most: int, unit: Unit, delta: float = 0.0) -> Guarantee:
    """What holds for every worker with up to so many answers."""
    # Of a sample, a worker with no more answers than are sent sends all, and so betrays most.
    counts = {most, sent_by(release, most)}
    held = (release.guarantee(count, unit, delta) for count in sorted(counts))
    return max(held, key=lambda one: one.epsilon)
