"""The mode of the terms determines the planner."""

from __future__ import annotations

import pytest
from tests.securesum.em.tables import drawn

from sottovoce.errors import UsageError
from sottovoce.securesum.em.noise_calibration import calibrated
from sottovoce.securesum.em.planner import EMPlanner, NoisedPlanner, exact_terms, planner_of
from sottovoce.securesum.em.simulation import run_rounds
from sottovoce.securesum.em.terms import Mode

NOISED = calibrated(["q1", "q2"], ["no", "yes"], 1.0, 0.0, honest=3)


def test_the_mode_decides_who_plans() -> None:
    exact = exact_terms(["q1"], ["no", "yes"], Mode.LOG_ODDS)
    assert isinstance(planner_of(exact), EMPlanner)
    assert isinstance(planner_of(NOISED), NoisedPlanner)


def test_exact_rounds_are_not_planned_for_noise() -> None:
    with pytest.raises(UsageError, match="need NoisedPlanner"):
        EMPlanner(NOISED)


def test_what_nobody_says_is_as_usual() -> None:
    terms = exact_terms(["q1"], ["no", "yes"], Mode.AS_PUBLISHED, scale=None, rounds=7)
    assert (terms.scale, terms.clip, terms.tolerance, terms.rounds) == (10**10, 10**6, 10**8, 7)
    assert exact_terms(["q1"], ["no", "yes"], Mode.LOG_ODDS, scale=5).scale == 5


def test_noised_sums_are_not_exact() -> None:
    with pytest.raises(UsageError, match="mode noised are not exact"):
        exact_terms(["q1"], ["no", "yes"], Mode.NOISED)


def test_the_usual_log_odds_settle_although_they_are_coarse() -> None:
    answers = drawn(7, workers=20, tasks=150)
    terms = exact_terms(
        [str(task) for task in range(150)], ["0", "1"], Mode.LOG_ODDS, repeats=answers.repeats
    )
    planner = planner_of(terms)
    assert planner.decode(run_rounds(planner, answers.contributors(terms))).converged
