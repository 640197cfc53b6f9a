"""Which pairs are worth trying for a campaign, the simpler first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Literal, TypeAlias, get_args

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import release_of, weakest_guarantee
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.mechanisms.targets import Target
from sottovoce.model import Domain, Grid, Kind, Policy
from sottovoce.planning.pairs import Pair
from sottovoce.planning.scenario import Scenario

__all__ = ["Ways", "candidates", "check_ways", "keeps", "target_of"]

Ways: TypeAlias = Literal["any", "local", "sealed"]
"""How answers may leave a device: randomised there, or sealed for keyholders."""

LEAST_DELTA = 0.01
"""Below this delta the Gaussian with random variance is far noisier than pure mechanisms."""

MOST_SUBSET_LABELS = 63
"""Subsets are sent as the bits of a word, one of which says NULL."""

BINS = (10, 6, 16)
"""Into how many bins subset selection cuts a range."""

SMALL_EPSILON = 1.0
"""Up to here a coin may say less than a third symbol costs."""


def candidates(domain: Domain, target: Target, ways: Ways = "any") -> list[Pair]:
    """Pairs that can keep the target, from the simplest mechanism to the least simple.

    Sealed ones come last: they need keyholders.

    >>> [pair.name for pair in candidates(Domain.categorical("abc"), Target(1.0))]
    ['randomized-response', 'subset-selection', 'sealed-sum']
    """
    check_ways(ways)
    found: list[Iterator[Pair]] = []
    if ways != "sealed":
        found += _local(domain, target)
    if ways != "local":
        found.append(_sealed(domain))
    return [pair for pair in chain(*found) if _possible(pair, domain, target)]


def check_ways(ways: object) -> None:
    """Refuse what is no way for answers to leave a device."""
    if ways not in get_args(Ways):
        raise UsageError(f"ways is one of {', '.join(get_args(Ways))}, not {ways!r}")


def _local(domain: Domain, target: Target) -> Iterator[Iterator[Pair]]:
    """Pairs under which every worker randomises its own answers."""
    hidden = target.hide_participation
    if not domain.is_numeric:
        yield _hiding_labels(domain) if hidden else _labels(domain)
    if domain.is_numeric or (domain.kind is Kind.ORDINAL and _evenly_spaced(domain)):
        yield _hiding_numbers(domain, target) if hidden else _numbers(domain, target)


def _sealed(domain: Domain) -> Iterator[Pair]:
    """Pairs under which keyholders open noised sums."""
    yield Pair("sealed-sum", "sealed-sum")
    if domain.is_numeric:
        yield Pair("sealed-sum (histogram)", "sealed-sum", parameters={"layout": Layout.HISTOGRAM})


def target_of(scenario: Scenario, target: Target) -> Target:
    """The target with how many cells of a worker a scenario has."""
    hidden = scenario.hide_participation
    cells = scenario.tasks if hidden else scenario.answers_per_worker
    return Target(target.epsilon, target.unit, target.delta, cells, hidden, target.sample)


def keeps(policy: Policy, target: Target) -> bool:
    """Whether the mechanism of a policy betrays no more than the target allows."""
    held = weakest_guarantee(release_of(policy), target.answers, target.unit, target.delta)
    return held.within(target.epsilon, target.delta)


def _labels(domain: Domain) -> Iterator[Pair]:
    yield Pair("randomized-response", "randomized-response")
    if 3 <= domain.size <= MOST_SUBSET_LABELS:
        yield Pair("subset-selection", "subset-selection")


def _hiding_labels(domain: Domain) -> Iterator[Pair]:
    yield Pair("null-randomized-response", "null-randomized-response")
    if domain.size <= MOST_SUBSET_LABELS:
        yield Pair("subset-selection", "subset-selection")


def _numbers(domain: Domain, target: Target) -> Iterator[Pair]:
    yield Pair("laplace", "laplace")
    yield Pair("piecewise", "piecewise")
    yield Pair("duchi", "duchi")
    yield Pair("threshold", "threshold")
    yield from _binned(domain)
    if target.delta >= LEAST_DELTA:
        yield Pair("random-variance-gaussian", "random-variance-gaussian")


def _hiding_numbers(domain: Domain, target: Target) -> Iterator[Pair]:
    yield Pair("laplace", "laplace")
    yield Pair("threshold", "threshold")
    if target.epsilon <= SMALL_EPSILON:
        yield Pair("threshold (coin)", "threshold", parameters={"coin": True})
    yield from _binned(domain)
    yield Pair("matrix-factorization", "matrix-factorization")


def _binned(domain: Domain) -> Iterator[Pair]:
    if not domain.is_numeric:
        return  # labels are their own bins
    for bins in sorted({min(bins, Grid.over(domain).steps + 1) for bins in BINS}):
        yield Pair(f"subset-selection ({bins} bins)", "subset-selection", parameters={"bins": bins})


def _evenly_spaced(domain: Domain) -> bool:
    try:
        Grid.over(domain)
    except UsageError:
        return False
    return True


def _possible(pair: Pair, domain: Domain, target: Target) -> bool:
    """Whether the mechanism can be calibrated to the target at all."""
    try:
        return keeps(pair.policy(domain, target), target)
    except UsageError:
        return False
