"""Pipelines: a mechanism or a sealed sum, and the method that reads it.

The candidates of a campaign, the simpler first, and the papers' pipelines, by domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeAlias, get_args

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, make_policy, release_of, weakest_guarantee
from sottovoce.mechanisms.registry import RELEASES, is_sealed
from sottovoce.model import Calibration, Candidate, Domain, Guarantee, Kind, Policy
from sottovoce.planning.scenario import Scenario

AWARE = "auto"
"""The default method under a policy: it models the channel."""

Ways: TypeAlias = Literal["any", "local", "sealed"]
"""How answers may leave a device: randomised there, or sealed for keyholders."""

P3_DELTA = 0.1
"""P3 prints no delta, and its mechanism keeps no promise at 0: this one is ours, and generous."""

P4_RIDGE = 0.01
"""P4 Alg. 2 has no minimum for a worker with fewer answers than dimensions; the ridge is ours."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A mechanism by name, calibrated to a target, and the method that reads its reports.

    `delta` replaces the target's, for mechanisms that keep no promise at delta 0. `published` takes
    the paper's own calibration, whose privacy loss may exceed the target; its true guarantee is
    then stated too, and it is never recommended. `parameters` are the mechanism's, `settings` the
    method's.
    """

    name: str
    mechanism: str
    method: str = AWARE
    parameters: Mapping[str, Any] = field(default_factory=dict)
    delta: float | None = None
    published: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sealed(self) -> bool:
        """Whether keyholders add the noise, and not each worker to its own answers."""
        return is_sealed(self.mechanism)

    def policy(self, domain: Domain, target: Target) -> Policy:
        """The policy of this mechanism at this target."""
        target = target if self.delta is None else replace(target, delta=self.delta)
        return _policy(
            domain, self.mechanism, target, tuple(sorted(self.parameters.items())), self.published
        )


@lru_cache(maxsize=256)
def _policy(
    domain: Domain,
    mechanism: str,
    target: Target,
    parameters: tuple[tuple[str, Any], ...],
    published: bool,
) -> Policy:
    # Cached, because a calibration may take seconds and a simulation needs it in every trial.
    calibration = Calibration.AS_PUBLISHED if published else Calibration.SOUND
    return make_policy(domain, mechanism, target, calibration=calibration, **dict(parameters))


def candidates(domain: Domain, target: Target, ways: Ways = "any") -> list[Pipeline]:
    """Pairs that can keep the target, from the simplest mechanism to the least simple.

    Sealed ones come last: they need keyholders.

    >>> [pair.name for pair in candidates(Domain.categorical("abc"), Target(1.0))]
    ['randomized-response', 'subset-selection', 'sealed-sum']
    """
    check_ways(ways)
    tried = [
        (candidate, name)
        for name, kind in RELEASES.items()
        if ways == "any" or is_sealed(name) is (ways == "sealed")
        for candidate in kind.candidates(domain, target.promise, hidden=target.hide_participation)
    ]
    pairs = (_pair(*each) for each in sorted(tried, key=lambda each: each[0].complexity))
    return [pair for pair in pairs if _possible(pair, domain, target)]


def check_ways(ways: object) -> None:
    """Refuse an unknown way for answers to leave a device."""
    if ways not in get_args(Ways):
        raise UsageError(f"ways must be one of {', '.join(get_args(Ways))}, not {ways!r}")


def target_of(scenario: Scenario, target: Target) -> Target:
    """The target with the number of cells per worker of a scenario."""
    hidden = scenario.hide_participation
    cells = scenario.tasks if hidden else scenario.answers_per_worker
    return Target(target.epsilon, target.unit, target.delta, cells, hidden, target.sample)


def keeps(policy: Policy, target: Target) -> bool:
    """Whether the privacy loss of a policy's mechanism is within the target."""
    held = weakest_guarantee(release_of(policy), target.answers, target.unit, target.delta)
    return held.within(target.epsilon, target.delta)


def _pair(candidate: Candidate, name: str) -> Pipeline:
    variant = f" ({candidate.variant})" if candidate.variant else ""
    return Pipeline(f"{name}{variant}", name, parameters=candidate.parameters)


def _possible(pair: Pipeline, domain: Domain, target: Target) -> bool:
    """Whether the mechanism can be calibrated to the target."""
    try:
        return keeps(pair.policy(domain, target), target)
    except UsageError:
        return False


_LABELS = (
    Pipeline("randomised response + majority vote", "randomized-response", "majority-vote"),
    Pipeline("one-layer + TD", "randomized-response", "td"),
    Pipeline("two-layer + TD", "two-layer", "td"),
    Pipeline("two-layer as published + TD", "two-layer", "td", published=True),
)

_HIDDEN_LABELS = (
    Pipeline("randomised response + majority vote", "null-randomized-response", "majority-vote"),
    Pipeline("two-layer + TD", "two-layer", "td"),
    Pipeline("two-layer as published + TD", "two-layer", "td", published=True),
)

_NUMBERS = (
    Pipeline("random-variance Gaussian + CRH", "random-variance-gaussian", "crh", delta=P3_DELTA),
    Pipeline("random-variance Gaussian + GTM", "random-variance-gaussian", "gtm", delta=P3_DELTA),
    Pipeline("Laplace + CRH", "laplace", "crh"),
    Pipeline("Laplace + median", "laplace", "median"),
)

_LP = Pipeline("LP + inverse-deviation", "laplace", "inverse-deviation", published=True)

_RR = Pipeline("RR + inverse-deviation", "null-randomized-response", "inverse-deviation")

_MF = Pipeline(
    "MF + inverse-deviation",
    "matrix-factorization",
    "inverse-deviation",
    {"ridge": P4_RIDGE},
    published=True,
)

_LP_NUMBERS = Pipeline("LP + inverse-deviation", "laplace", "inverse-deviation", {"null": "random"})

_MF_NUMBERS = Pipeline("MF + inverse-deviation", "matrix-factorization", "inverse-deviation")


def papers(domain: Domain, *, hide_participation: bool = False) -> tuple[Pipeline, ...]:
    """The papers' pipelines for a domain: P1 for labels, P3 for numbers, P4 for private NULLs.

    Sound calibrations, except those marked `published`: a second two-layer (P1 Thm. 6.3), and LP
    and MF for labels (P4 Eqs. 6-9). Over a range of numbers LP and MF are calibrated soundly too:
    P4's noise grows with the number of values, and a range has as many as its grid has points.

    >>> [pair.name for pair in papers(Domain.numeric(0, 10), hide_participation=True)]
    ['LP + inverse-deviation', 'MF + inverse-deviation']
    """
    if not hide_participation:
        return _NUMBERS if domain.is_numeric else _LABELS
    if domain.kind is Kind.ORDINAL:
        return (_LP, _RR, _MF)
    return (_LP_NUMBERS, _MF_NUMBERS) if domain.is_numeric else _HIDDEN_LABELS


def true_guarantee(policy: Policy, target: Target) -> Guarantee:
    """The guarantee of a policy for every worker of the target, independent of its calibration.

    A policy's own delta is used if it has one: a mechanism may keep no promise at the target's.
    """
    delta = target.delta if policy.promise is None else policy.promise.delta
    return weakest_guarantee(release_of(policy), target.answers, target.unit, delta)
