"""Which pairs are worth trying."""

from __future__ import annotations

import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Unit
from sottovoce.planning.pipelines import Pipeline, candidates, keeps, target_of
from sottovoce.planning.scenario import Scenario

NUMBERS = Domain.numeric(0, 10)


def names(domain: Domain, target: Target) -> list[str]:
    """Those that need no keyholders."""
    return [pair.name for pair in candidates(domain, target, "local")]


def test_two_labels_need_no_subsets() -> None:
    assert names(Domain.categorical("ab"), Target(1.0)) == ["randomized-response"]


def test_more_labels_than_a_word_has_bits_have_no_subsets() -> None:
    assert names(Domain.categorical(range(64)), Target(1.0)) == ["randomized-response"]
    assert "subset-selection" in names(Domain.categorical(range(63)), Target(1.0))


def test_numbers_have_their_own() -> None:
    found = names(NUMBERS, Target(1.0))
    assert {"laplace", "piecewise", "duchi", "threshold"} <= set(found)
    assert {f"subset-selection ({bins} bins)" for bins in (6, 10, 16)} <= set(found)


def test_the_gaussian_is_tried_where_delta_is_large() -> None:
    assert "random-variance-gaussian" not in names(NUMBERS, Target(1.0, delta=0.001))
    assert "random-variance-gaussian" in names(NUMBERS, Target(1.0, delta=0.05))


def test_bins_are_no_more_than_there_are_numbers() -> None:
    found = names(Domain.numeric(0, 4, 1), Target(1.0))
    assert [name for name in found if "bins" in name] == ["subset-selection (5 bins)"]


def test_evenly_spaced_labels_are_tried_as_numbers_too() -> None:
    assert {"randomized-response", "piecewise"} <= set(names(Domain.ordinal(range(5)), Target(1.0)))
    assert "piecewise" not in names(Domain.ordinal([1, 2, 4]), Target(1.0))


def test_hidden_participation_needs_mechanisms_that_hide_it() -> None:
    found = candidates(NUMBERS, Target(0.5, hide_participation=True, answers=9))
    assert "matrix-factorization" in [pair.name for pair in found]
    assert "threshold (coin)" in [pair.name for pair in found]
    labels = names(Domain.categorical("ab"), Target(1.0, hide_participation=True))
    assert labels == ["null-randomized-response", "subset-selection"]


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("domain", [Domain.categorical("abc"), Domain.ordinal(range(4)), NUMBERS])
def test_every_candidate_keeps_the_target(domain: Domain, hidden: bool, unit: Unit) -> None:
    target = Target(1.0, unit, 0.0, 12, hidden)
    found = candidates(domain, target)
    assert found
    for pair in found:
        policy = pair.policy(domain, target)
        assert policy.promise is not None
        assert keeps(policy, target)
        assert not pair.published


def test_a_calibration_as_published_may_not_keep_the_target() -> None:
    domain, target = Domain.categorical("ab"), Target(1.0, answers=20)
    published = Pipeline("two-layer", "two-layer", published=True)
    assert not keeps(published.policy(domain, target), target)


def test_where_participation_is_hidden_a_worker_reports_on_every_task() -> None:
    scenario = Scenario(NUMBERS, 40, 9, 5, hide_participation=True)
    assert target_of(scenario, Target(1.0)).answers == 40
    open_scenario = Scenario(NUMBERS, 40, 9, 5)
    assert target_of(open_scenario, Target(1.0)).answers == 5


@pytest.mark.parametrize("hidden", [False, True])
def test_sealed_sums_are_tried_last_and_numbers_have_a_histogram_too(hidden: bool) -> None:
    target = Target(1.0, answers=9, hide_participation=hidden)
    assert candidates(Domain.categorical("ab"), target)[-1].name == "sealed-sum"
    sealed = candidates(NUMBERS, target, "sealed")
    assert [pair.name for pair in sealed] == ["sealed-sum", "sealed-sum (histogram)"]
    assert candidates(NUMBERS, target)[-2:] == sealed


def test_other_ways_than_there_are_are_refused() -> None:
    with pytest.raises(UsageError, match="ways must be one of any, local, sealed"):
        candidates(NUMBERS, Target(1.0), "remote")  # type: ignore[arg-type]
