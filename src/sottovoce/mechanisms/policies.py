"""From a policy to its mechanism, which must keep what the policy promises."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from sottovoce.errors import UsageError
from sottovoce.mechanisms.registry import mechanism_from
from sottovoce.mechanisms.sampling import Sampled
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
from sottovoce.seams import Mechanism

__all__ = ["check_promise", "mechanism_of", "policy_of", "weakest_guarantee"]


def policy_of(mechanism: Mechanism, domain: Domain, promise: Promise | None) -> Policy:
    """A policy that says what a mechanism is, with a promise that it keeps, or none."""
    _check_fit(mechanism, domain)
    calibration = Calibration.SOUND if promise else Calibration.AS_PUBLISHED
    policy = Policy(_stated(domain), mechanism.as_json(), calibration, promise)
    check_promise(policy, mechanism)
    return policy


def mechanism_of(policy: Policy) -> Mechanism:
    """The mechanism of a policy, after checking that it keeps the policy's promise."""
    if not isinstance(policy, Policy):
        raise UsageError("this is no Policy: read_policy(path) reads one, make_policy makes one")
    return _checked(policy.text())


@lru_cache(maxsize=64)
def _checked(text: str) -> Mechanism:
    """The mechanism in a policy's text; kept, since a check may take seconds and is often asked."""
    policy = Policy.parse(text)
    mechanism = mechanism_from(policy.mechanism)
    _check_fit(mechanism, policy.domain)
    check_promise(policy, mechanism)
    return mechanism


def _stated(domain: Domain) -> Domain:
    """The domain with its labels as a policy states them: texts and integers."""
    labels = tuple(
        label_text(label) if isinstance(label, bool | float) else label for label in domain.labels
    )
    return replace(domain, labels=labels)


def _check_fit(mechanism: Mechanism, domain: Domain) -> None:
    """Refuse a mechanism made for another domain: its guarantee would be about other answers."""
    if isinstance(mechanism, Sampled):
        _check_fit(mechanism.mechanism, domain)
        return
    if domain.kind not in mechanism.takes:
        raise UsageError(f"the policy's {mechanism.name} does not take {domain} answers")
    if mechanism.alphabet is Alphabet.LABELS_OR_NULL and NULL_TEXT in map(str, domain.labels):
        raise UsageError(f"{NULL_TEXT} means not answering here: give that label another name")
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


def _steps(domain: Domain) -> int:
    try:
        return Grid.over(domain).steps
    except UsageError:  # labels that are no grid
        return 0


def check_promise(policy: Policy, mechanism: Mechanism) -> None:
    """Refuse a policy whose mechanism betrays more than it promises."""
    if policy.promise is None:
        if policy.calibration is Calibration.SOUND:
            raise UsageError("a policy that is not as published must promise something")
        return
    promise = policy.promise
    held = weakest_guarantee(mechanism, promise.answers, promise.unit, promise.delta)
    if not held.within(promise.epsilon, promise.delta):
        raise UsageError(
            f"the policy promises epsilon {promise.epsilon:g} per {promise.unit} and its "
            f"mechanism only keeps {held}: it cannot be trusted"
        )


def weakest_guarantee(mechanism: Mechanism, most: int, unit: Unit, delta: float = 0.0) -> Guarantee:
    """What holds for every worker with up to so many answers."""
    counts = {most}
    if isinstance(mechanism, Sampled):
        # A worker with no more answers than are sent sends all of them, and so betrays most.
        counts.add(min(most, mechanism.answers))
    held = (mechanism.guarantee(count, unit, delta) for count in sorted(counts))
    return max(held, key=lambda one: one.epsilon)
