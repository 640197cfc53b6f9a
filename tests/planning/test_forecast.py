"""Forecasts, and the coverage of their bands."""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Unit
from sottovoce.planning.crowds import Assumption, LabelAbility, NumberAbility
from sottovoce.planning.forecast import Forecast, check_trials, constant_error, forecasts, simulate
from sottovoce.planning.pipelines import Pipeline, target_of
from sottovoce.planning.recommendation import recommended
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Runner, TrialCase

VOTE = Pipeline("vote", "randomized-response", "majority-vote")
SMALL = Scenario(Domain.categorical("ab"), 30, 8, 15)


def forecast(*errors: float) -> Forecast:
    return Forecast(None, None, errors)


def lands(found: Forecast, case: TrialCase, seed: int) -> bool:
    """Whether a new campaign lies in the band."""
    assert found.band is not None
    low, high = found.band
    return low <= case.error(10_000 + seed, 0) <= high


def test_the_band_of_19_trials_goes_from_the_least_to_the_largest() -> None:
    assert forecast(*np.linspace(0.2, 0.4, 19)).band == pytest.approx((0.2, 0.4))


def test_the_band_of_many_trials_is_narrower() -> None:
    low, high = forecast(*np.linspace(0, 1, 199)).band or (0, 0)
    assert (low, high) == pytest.approx((9 / 198, 189 / 198))  # ranks 10 and 190 of 199


def test_fewer_trials_have_no_band() -> None:
    assert forecast(*np.linspace(0, 1, 18)).band is None


def test_one_trial_says_nothing_about_its_own_error() -> None:
    assert forecast(0.5).standard_error == np.inf


def test_differences_are_taken_trial_by_trial() -> None:
    one, other = forecast(0.1, 0.5, 0.9, 0.3), forecast(0.0, 0.4, 0.8)
    assert one.difference(other) == pytest.approx((0.1, 0.0))


def test_a_wide_band_of_a_continuous_error_holds_nine_in_ten() -> None:
    """The law behind the band, without a campaign: 4000 cases, coverage 0.9, 6 sigma."""
    drawn = np.random.default_rng(7).normal(size=(4000, 21))
    low, high = np.quantile(drawn[:, 1:], [0.05, 0.95], axis=1, method="weibull")
    held = ((low <= drawn[:, 0]) & (drawn[:, 0] <= high)).mean()
    assert held == pytest.approx(0.9, abs=6 * 0.3 / 4000**0.5)


def test_every_pair_is_forecast_at_every_target() -> None:
    pairs = [VOTE, Pipeline("ds", "randomized-response", "dawid-skene")]
    found = simulate(SMALL, pairs, [Target(1.0), Target(4.0)], trials=3, cache=False)
    seen = [(one.pair and one.pair.name, one.target and one.target.epsilon) for one in found]
    assert seen == [("vote", 1.0), ("ds", 1.0), ("vote", 4.0), ("ds", 4.0)]
    assert all(one.trials == 3 for one in found)
    assert found[2].error < found[0].error


def test_the_best_constant_of_even_labels_is_the_most_frequent_one() -> None:
    even = Scenario(Domain.categorical("abcd"), 4000, 2, 1, LabelAbility((0.7,)))
    assert constant_error(even, 3, 0) == pytest.approx(0.75, abs=0.03)


def test_the_best_constant_of_numbers_is_their_middle() -> None:
    numbers = Scenario(Domain.numeric(0, 10), 4000, 2, 1, NumberAbility((0.1,)))
    assert constant_error(numbers, 3, 0) == pytest.approx(2.5, abs=0.1)


@pytest.mark.parametrize("trials", [18, 0, 20.0, True])
def test_too_few_trials_for_a_band_are_refused(trials: object) -> None:
    with pytest.raises(UsageError, match="at least 19"):
        check_trials(trials)


def test_fresh_campaigns_land_in_the_band() -> None:
    """40 cases, different seeds; at a coverage of 0.9 fewer than 25 are covered once in 10^6."""
    epsilons = islice(cycle([0.5, 1.0, 2.0, 4.0]), 40)
    landed = 0
    for seed, epsilon in enumerate(epsilons):
        case = TrialCase(SMALL, VOTE, target_of(SMALL, Target(epsilon)))
        with Runner(seed, cache=False) as runner:
            [found] = forecasts(runner, [case], 19)
        landed += lands(found, case, seed)
    assert landed >= 25


@pytest.mark.slow
def test_what_is_recommended_lands_in_its_band_in_165_of_200_cases() -> None:
    """At a coverage of 0.9 fewer than 165 are covered once in 2500 times; the seeds are fixed."""
    landed = 0
    abilities: list[Assumption] = ["mixed", "able", "expert"]
    for seed in range(200):
        rng = np.random.default_rng(seed)
        numeric = seed % 25 == 0  # a few: they take far longer than labels
        domain = Domain.numeric(0, 10) if numeric else Domain.categorical(range(2 + seed % 4))
        tasks, unit = int(rng.integers(20, 80)), Unit.WORKER if seed % 7 == 0 else Unit.ANSWER
        scenario = Scenario(
            domain, tasks, int(rng.integers(10, 40)), int(rng.integers(5, 20)),
            abilities[seed % 3],
        )  # fmt: skip
        target = target_of(scenario, Target(float(rng.choice([0.5, 1, 2, 4])), unit))
        with Runner(seed, cache=False) as runner:
            found = recommended(runner, scenario, target, 20)
        landed += lands(found.forecast, TrialCase(scenario, found.pair, target), seed)
    assert landed >= 165
