"""Which pairs are worth trying for a campaign, the simpler first."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import release_of, weakest_guarantee
from sottovoce.mechanisms.registry import RELEASES, is_sealed
from sottovoce.mechanisms.targets import Target
from sottovoce.model import Candidate, Domain, Policy
from sottovoce.planning.pairs import Pair
from sottovoce.planning.scenario import Scenario

__all__ = ["Ways", "candidates", "check_ways", "keeps", "target_of"]

Ways: TypeAlias = Literal["any", "local", "sealed"]
"""How answers may leave a device: randomised there, or sealed for keyholders."""


def candidates(domain: Domain, target: Target, ways: Ways = "any") -> list[Pair]:
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
    """Refuse what is no way for answers to leave a device."""
    if ways not in get_args(Ways):
        raise UsageError(f"ways is one of {', '.join(get_args(Ways))}, not {ways!r}")


def target_of(scenario: Scenario, target: Target) -> Target:
    """The target with how many cells of a worker a scenario has."""
    hidden = scenario.hide_participation
    cells = scenario.tasks if hidden else scenario.answers_per_worker
    return Target(target.epsilon, target.unit, target.delta, cells, hidden, target.sample)


def keeps(policy: Policy, target: Target) -> bool:
    """Whether the mechanism of a policy betrays no more than the target allows."""
    held = weakest_guarantee(release_of(policy), target.answers, target.unit, target.delta)
    return held.within(target.epsilon, target.delta)


def _pair(candidate: Candidate, name: str) -> Pair:
    variant = f" ({candidate.variant})" if candidate.variant else ""
    return Pair(f"{name}{variant}", name, parameters=candidate.parameters)


def _possible(pair: Pair, domain: Domain, target: Target) -> bool:
    """Whether the mechanism can be calibrated to the target at all."""
    try:
        return keeps(pair.policy(domain, target), target)
    except UsageError:
        return False
