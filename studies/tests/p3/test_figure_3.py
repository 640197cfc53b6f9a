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


def test_shape_holds_where_the_loss_falls_and_the_noise_stays() -> None:
    outcome = judge(seen_with(lambda count: count**-0.5), OURS)
    assert outcome.rulings.verdicts == ("not claimed", "holds", "not claimed")
    assert "as users^-0.50 at noise 1" in outcome.rulings.shape.reason


def test_shape_holds_in_part_where_more_users_do_not_help() -> None:
    outcome = judge(seen_with(lambda count: 0.5), OURS)
    assert outcome.rulings.shape.verdict == "partly"
    assert "the loss falls as users grow" in outcome.rulings.shape.reason
    assert outcome.claims["P3-V.A-9"].verdict == "fails"


def test_shape_holds_in_part_where_the_noise_is_another() -> None:
    outcome = judge(seen_with(lambda count: count**-0.5, noise=1.5), OURS)
    assert "the mean noise does not depend on the number of users" in outcome.rulings.shape.reason
    assert outcome.claims["P3-V.A-8"].verdict == "fails"


def test_weights_explain_the_fall_where_they_gain_more_with_more_users() -> None:
    # The plain mean's made-up loss is 0.5 at every number of users.
    assert (
        judge(seen_with(lambda count: 0.5 - count / 1000), OURS).claims["P3-V.A-9"].verdict
        == "holds"
    )
    same = seen_with(lambda count: 1 / count)
    for at in same.values():
        for spreads in at.values():
            spreads["change mean"] = spreads["change"]
    assert judge(same, OURS).claims["P3-V.A-9"].verdict == "partly"


@pytest.mark.parametrize(("power", "verdict"), [(-0.5, "holds"), (-1.0, "holds"), (0.5, "fails")])
def test_the_direction_of_the_theorem_is_judged_and_not_its_rate(
    power: float, verdict: str
) -> None:
    ruling = judge(seen_with(lambda count: count**power), OURS).claims["P3-V.A-10"]
    assert ruling.verdict == verdict
    assert f"users^{power:.2f}" in ruling.reason


def test_a_choice_meets_two_statements_with_few_and_many_users() -> None:
    found = {count: spread_by(trials(1 / count)) for count in (50, 300)}
    values = {"lambda1": "10"}
    [choice] = judge(seen_with(lambda count: 1 / count), OURS, [(values, found)]).choices
    assert (choice.met, choice.of) == (2, 2)


def test_a_slope_is_a_power_of_the_number_of_users() -> None:
    assert slope(seen_with(lambda count: 3 / count), "change") == pytest.approx(-1)


@pytest.mark.statistical
def test_the_error_of_the_mean_noise_is_that_of_many_crowds() -> None:
    """2,000 crowds estimate it to 2 %: 15 % is beyond seven standard errors."""
    rng = np.random.default_rng(1)
    deviation = np.sqrt(rng.exponential(size=(2000, 10, 1)))
    sizes = np.abs(deviation * rng.standard_normal((2000, 10, 30))).mean(axis=(1, 2))
    assert sizes.std() / sizes.mean() == pytest.approx(noise_error(10), rel=0.15)
