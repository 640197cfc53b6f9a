"""Policies: made from a requester's target, and read back into a mechanism.

A mechanism or sealed sum must keep what the policy promises, or the policy is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from inspect import signature
from typing import Any, cast, get_args, get_origin, get_type_hints

from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import NULL_TEXT
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.piecewise import Piecewise
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.registry import (
    RELEASES,
    always_hides,
    mechanism_from,
    release_class,
    release_from,
)
from sottovoce.mechanisms.sampling import Sampled, sent_by, unsampled
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum, check_layout
from sottovoce.mechanisms.subset_selection import MOST_LABELS, SubsetSelection
from sottovoce.model import (
    Alphabet,
    Calibration,
    Domain,
    Grid,
    Guarantee,
    Policy,
    Promise,
    ShowDraw,
    Unit,
    UnitName,
)
from sottovoce.model.policy import check_policy, short, stated_labels
from sottovoce.seams import Mechanism, Release


def policy_of(release: Release, domain: Domain, promise: Promise | None) -> Policy:
    """The policy of a mechanism or a sealed sum, with a promise it keeps, or none."""
    _check_fit(release, domain)
    calibration = Calibration.SOUND if promise else Calibration.AS_PUBLISHED
    stated = replace(domain, labels=stated_labels(domain))
    policy = Policy(stated, release.as_json(), calibration, promise)
    check_promise(policy, release)
    return policy


def release_of(policy: Policy) -> Release:
    """The release of a policy, after checking that it keeps the promise."""
    check_policy(policy)
    return _checked(policy.text())


def mechanism_of(policy: Policy) -> Mechanism:
    """The mechanism of a policy, after checking that it keeps the policy's promise."""
    if isinstance(policy, Policy) and policy.sealed:
        mechanism_from(policy.mechanism)  # raises an error that says why
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
    """The release in a policy's text; cached, because a check may take seconds."""
    policy = Policy.parse(text)
    release = release_from(policy.mechanism)
    _check_fit(release, policy.domain)
    check_promise(policy, release)
    return release


def _check_fit(release: Release, domain: Domain) -> None:
    """Refuse a release made for another domain: its guarantee would be about other answers."""
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
                f"the policy's {mechanism.name} is made for {made_for:,} {field}, but its domain "
                f"has {has:,}"
            )


def _check_null(hides: bool, domain: Domain) -> None:
    if hides and NULL_TEXT in map(str, domain.labels):
        raise UsageError(f"{NULL_TEXT} means “no answer” here: give that label another name")


def _steps(domain: Domain) -> int:
    try:
        return Grid.over(domain).steps
    except UsageError:  # labels that are not a grid
        return 0


def check_promise(policy: Policy, release: Release) -> None:
    """Refuse a policy whose release exceeds its promised privacy loss."""
    if policy.promise is None:
        if policy.calibration is Calibration.SOUND:
            raise UsageError("a policy that is not as published must promise something")
        return
    promise = policy.promise
    held = weakest_guarantee(release, promise.answers, promise.unit, promise.delta)
    if not held.within(promise.epsilon, promise.delta):
        raise UsageError(
            f"the policy promises epsilon {promise.epsilon:g} per {promise.unit}, but its "
            f"mechanism only keeps {held}: it cannot be trusted"
        )


def weakest_guarantee(release: Release, most: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
    """The guarantee for every worker with up to this many answers."""
    # With a sample, a worker with no more answers than are sent sends all, and loses most.
    counts = {most, sent_by(release, most)}
    held = (release.guarantee(count, unit, delta) for count in sorted(counts))
    return max(held, key=lambda one: one.epsilon)


MANY_LABELS = 10
"""From this many labels on, a set of labels is more informative than one label."""

WORDS_OF: Mapping[type, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a text",
    Layout: "a Layout",
    tuple: "a tuple of Keyholder",
}
"""The allowed kind of a parameter, in words."""


@dataclass(frozen=True, slots=True)
class Target:
    """A requester's target: a guarantee, and how workers take part.

    `hide_participation` makes it private whether a worker answered. `sample` is the number of
    answers a worker sends when the unit is the worker: a number, or None for the best by rule; with
    `answers` it sends all. `show_draw` is when a worker sees its drawn reports.
    """

    epsilon: float
    unit: UnitName = Unit.ANSWER
    delta: float = 0.0
    answers: int = 1
    hide_participation: bool = False
    sample: int | None = None
    show_draw: ShowDraw = ShowDraw.BEFORE_SEND

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", Unit(self.unit))
        _ = self.promise  # raises for an impossible promise
        if not isinstance(self.show_draw, ShowDraw):
            raise UsageError(
                "show_draw must be ShowDraw.BEFORE_SEND or ShowDraw.AFTER_SEND, not "
                f"{short(self.show_draw)}"
            )

    @property
    def promise(self) -> Promise:
        """The target as a policy states it."""
        return Promise(Unit(self.unit), self.epsilon, self.delta, self.answers)


def default_mechanism(domain: Domain, target: Target) -> str:
    """The default mechanism: one that pages can run, and that loses little accuracy.

    In simulations subset selection does better than randomised response from about ten labels on.
    Of the mechanisms for numbers the piecewise one is never far from the best; it cannot hide
    participation, and of those that can, subset selection is best from epsilon 2 on and not far
    from it below.

    >>> default_mechanism(Domain.numeric(0, 10), Target(1.0, hide_participation=True))
    'subset-selection'
    """
    hidden = target.hide_participation
    in_sets = hidden if domain.is_numeric else MANY_LABELS <= domain.size <= MOST_LABELS
    if in_sets:
        return SubsetSelection.name
    return NullRandomizedResponse.name if hidden else simplest_mechanism(domain)


def simplest_mechanism(domain: Domain) -> str:
    """Randomised response for labels, the piecewise mechanism for numbers."""
    return Piecewise.name if domain.is_numeric else RandomizedResponse.name


def make_policy(
    domain: Domain,
    name: str,
    target: Target,
    *,
    calibration: Calibration = Calibration.SOUND,
    **parameters: Any,
) -> Policy:
    """The policy of a mechanism or a sealed sum for a target; parameters go to its calibration.

    >>> policy = make_policy(Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0))
    >>> policy.name, policy.promise.answers
    ('randomized-response', 1)
    """
    if not (isinstance(domain, Domain) and isinstance(target, Target)):
        raise UsageError("a policy is made of a Domain, a mechanism's name and a Target")
    promise = target.promise
    if name == SealedSum.name and target.show_draw is not ShowDraw.BEFORE_SEND:
        raise UsageError(f"{name} draws nothing on the device: leave show_draw out")
    kind = release_class(name)
    if domain.kind not in kind.takes:
        takes = " or ".join(sorted(kind.takes))
        raise UsageError(f"{name} takes {takes} answers, not {domain.kind} ones")
    if calibration is Calibration.AS_PUBLISHED and not kind.sound_as_published:
        published = policy_of(_as_published(kind, domain, target, parameters), domain, None)
        return replace(published, show_draw=target.show_draw)
    if target.hide_participation:
        parameters = {**_hiding(kind), **parameters}
    _check_parameters(name, kind.calibrated, parameters)
    calibrated: Callable[..., Release] = kind.calibrated
    if _samples(kind, target):
        inner = cast("type[Mechanism]", kind)
        calibrated = partial(Sampled.calibrated, of=inner, sample=target.sample)
    release = calibrated(
        domain,
        target.epsilon,
        unit=target.unit,
        delta=target.delta,
        answers=target.answers,
        **parameters,
    )
    _check_hiding(name, target, release)
    return replace(policy_of(release, domain, promise), show_draw=target.show_draw)


def _as_published(
    kind: type[Release], domain: Domain, target: Target, parameters: dict[str, Any]
) -> Release:
    published: Any = getattr(kind, "as_published", None)
    if target.unit is Unit.WORKER:
        raise UsageError(
            "the papers calibrate per answer: calibration=Calibration.AS_PUBLISHED needs "
            "unit=Unit.ANSWER"
        )
    if published is None:
        raise UsageError(
            f"{kind.name} has no published calibration: drop calibration=Calibration.AS_PUBLISHED"
        )
    _check_parameters(kind.name, published, parameters)
    taken = signature(published).parameters
    if "delta" in taken:
        parameters = {**parameters, "delta": target.delta}
    if target.hide_participation:
        hiding = kind.hiding or {}
        parameters = {field: hiding[field] for field in hiding if field in taken} | parameters
    mechanism: Release = published(domain, target.epsilon, **parameters)
    if target.hide_participation and not mechanism.hides_participation:
        raise UsageError(f"{kind.name} as published does not hide participation")
    return mechanism


def _samples(kind: type[Release], target: Target) -> bool:
    """Whether a worker sends only a sample of its answers."""
    if target.unit is Unit.ANSWER:
        if target.sample is not None:
            raise UsageError("a sample of the answers needs unit=Unit.WORKER: drop sample=")
        return False
    if kind.whole:
        if target.sample not in (None, target.answers):
            raise UsageError(f"{kind.name} needs all answers of a worker: drop sample=")
        return False
    return target.sample != target.answers


def _check_parameters(name: str, calibration: Any, parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that a calibration does not take."""
    hints = get_type_hints(calibration)
    taken = {
        field: hints[field]
        for field, each in signature(calibration).parameters.items()
        if each.kind is each.KEYWORD_ONLY and field not in ("unit", "delta", "answers")
    }
    for field, value in parameters.items():
        if field not in taken:
            those = ", ".join(taken) or "none"
            raise UsageError(f"{name} has no parameter {short(field)}; its parameters are: {those}")
        kinds = _kinds(taken[field])
        if not (type(value) in kinds or (float in kinds and type(value) is int)):
            wanted = " or ".join(WORDS_OF[kind] for kind in kinds if kind is not type(None))
            raise UsageError(f"{name}'s {field} must be {wanted}, not {short(value)}")


def _kinds(hint: Any) -> tuple[type, ...]:
    """The types a parameter may have: all of a union; a tuple is checked only to be one."""
    return (tuple,) if get_origin(hint) is tuple else get_args(hint) or (hint,)


def _check_hiding(name: str, target: Target, release: Release) -> None:
    """Refuse parameters that hide participation, or reveal it, contrary to the target.

    The number of cells a worker reports on, and so the privacy loss, depends on it.
    """
    if target.hide_participation and not release.hides_participation:
        raise UsageError(f"these parameters of {name} do not hide participation")
    if release.hides_participation and not (target.hide_participation or always_hides(name)):
        raise UsageError(
            f"these parameters of {name} hide participation: pass hide_participation=True"
        )


def _hiding(kind: type[Release]) -> Mapping[str, Any]:
    """The parameters that make a mechanism's calibration hide participation."""
    if kind.hiding is None:
        those = sorted(name for name, each in RELEASES.items() if each.hiding is not None)
        raise UsageError(f"{kind.name} cannot hide participation; these can: {', '.join(those)}")
    return kind.hiding
