"""Tests of study `p3-figure-3`: the verdict."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from studies.tests.p3.made_up import trials

from sottovoce.planning.trials import Spread
from sottovoce_studies.p3.figure_3 import EPSILONS, judge, noise_error, slope
from sottovoce_studies.p3.pipeline import noise_of
from sottovoce_studies.paper_tables import spread_by

USERS = (50, 150, 300)
OURS = {150: Spread.of([0.1])}


def seen_with(
    change: Callable[[int], float], noise: float = 1.0
) -> dict[float, dict[int, dict[str, Spread]]]:
    """The correct noise, times a factor."""
    found = {}
    for epsilon in EPSILONS:
        size = noise * noise_of(epsilon, 10.0)
        found[epsilon] = {count: spread_by(trials(change(count), size)) for count in USERS}
    return found


def test_it_holds_where_the_loss_falls_and_the_noise_stays() -> None:
    outcome = judge(seen_with(lambda count: count**-0.5), OURS)
    assert outcome.ruling.startswith("holds in shape: the loss falls as users^-0.50")


def test_it_fails_where_more_users_do_not_help() -> None:
    outcome = judge(seen_with(lambda count: 0.5), OURS)
    assert outcome.verdict == "fails"
    assert "the loss does not fall" in outcome.reason


def test_it_fails_where_the_noise_is_another() -> None:
    outcome = judge(seen_with(lambda count: count**-0.5, noise=1.5), OURS)
    assert "the mean noise depends on the number of users" in outcome.reason


def test_a_slope_is_a_power_of_the_number_of_users() -> None:
    assert slope(seen_with(lambda count: 3 / count), "change") == pytest.approx(-1)


@pytest.mark.statistical
def test_the_error_of_the_mean_noise_is_that_of_many_crowds() -> None:
    """2,000 crowds estimate it to 2 %: 15 % is beyond seven standard errors."""
    rng = np.random.default_rng(1)
    deviation = np.sqrt(rng.exponential(size=(2000, 10, 1)))
    sizes = np.abs(deviation * rng.standard_normal((2000, 10, 30))).mean(axis=(1, 2))
    assert sizes.std() / sizes.mean() == pytest.approx(noise_error(10), rel=0.15)
