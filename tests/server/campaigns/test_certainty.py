"""Predictions of the effect of more answers, checked against simulated answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.server.campaigns.overview_crowds import columns_of, first_workers, simulated

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain
from sottovoce.planning.crowds import LabelAbility
from sottovoce.planning.scenario import Scenario
from sottovoce.server.campaigns.certainty import Further, further_of, is_decided
from sottovoce.server.database.results import Columns

YES_NO = Domain.categorical(["no", "yes"])
FOUR, TWELVE = Domain.categorical("abcd"), Domain.categorical("abcdefghijkl")
TASKS, ANSWERS = 200, 20
INDEPENDENT = LabelAbility((0.83, 0.87, 0.9, 0.93, 0.25, 0.3, 0.35, 0.4, 0.5, 0.58))
"""Workers with independent errors. The forecast is too hopeful if tasks are hard for everyone."""


@pytest.mark.parametrize(
    ("domain", "mechanism", "epsilon", "workers", "ability"),
    [
        (YES_NO, "randomized-response", 1.0, 300, "mixed"),
        (FOUR, "randomized-response", 2.0, 80, INDEPENDENT),
        (FOUR, "randomized-response", 2.0, 120, INDEPENDENT),
        (FOUR, "randomized-response", 2.0, 40, "expert"),
        (TWELVE, "subset-selection", 2.0, 100, "mixed"),
        (Domain.numeric(0, 100), "piecewise", 4.0, 80, "mixed"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_about_as_many_tasks_settle_as_was_foretold(
    domain: Domain, mechanism: str, epsilon: float, workers: int, ability: Any, seed: int
) -> None:
    policy = make_policy(domain, mechanism, Target(epsilon, answers=ANSWERS))
    reports = simulated(Scenario(domain, TASKS, 9 * workers, ANSWERS, ability), policy, seed)
    before = columns_of(first_workers(reports, workers), policy)
    foretold = further_of(before, domain, TASKS)
    assert foretold is not None
    assert foretold.workers <= 8 * workers
    after = columns_of(first_workers(reports, workers + foretold.workers), policy)
    new = np.count_nonzero(is_decided(after, domain) & ~is_decided(before, domain))
    assert foretold.settles / 2 <= new <= foretold.settles * 2


def labels(confidence: list[float], answers: int = 10) -> Columns:
    count = len(confidence)
    return replace(
        Columns.none(),
        place=np.arange(count, dtype=np.int32),
        truth=np.arange(count, dtype=np.int32) % 2,
        certainty=np.array(confidence),
        answers=np.full(count, answers),
        worker_reports=np.full(count, answers),
    )


def test_half_of_the_open_tasks_are_named() -> None:
    found = further_of(labels([0.99, 0.9, 0.8, 0.7]), YES_NO, 4)
    assert found is not None
    assert (found.settles, found.open) == (2, 3)
    assert found.workers == -(-found.answers // 10)


def test_surer_tasks_need_fewer_answers() -> None:
    near, far = further_of(labels([0.94] * 9), YES_NO, 9), further_of(labels([0.7] * 9), YES_NO, 9)
    assert near is not None
    assert far is not None
    assert near.answers < far.answers


def test_settled_tasks_take_no_answers_if_tasks_are_given_by_need() -> None:
    columns = labels([0.99] * 6 + [0.8] * 3)
    by_hash = further_of(columns, YES_NO, 9)
    by_need = further_of(columns, YES_NO, 9, by_need=True)
    assert by_hash is not None
    assert by_need is not None
    assert by_need.answers == pytest.approx(by_hash.answers / 3, rel=0.1)  # rounded to two digits


def test_tasks_nobody_reported_on_take_their_share_of_the_answers() -> None:
    few, many = further_of(labels([0.8] * 9), YES_NO, 9), further_of(labels([0.8] * 9), YES_NO, 18)
    assert few is not None
    assert many is not None
    assert many.answers == pytest.approx(2 * few.answers, rel=0.1)


@pytest.mark.parametrize(
    "columns",
    [
        Columns.none(),
        labels([0.99, 0.97]),
        labels([0.5, 0.5]),
        labels([float("nan"), float("nan")]),
        labels([0.5001] * 9),
    ],
    ids=["nothing inferred", "all settled", "reports say nothing", "no confidence", "too far off"],
)
def test_nothing_is_foretold_without_a_reason(columns: Columns) -> None:
    assert further_of(columns, YES_NO, max(1, len(columns.place))) is None


def test_known_truths_do_not_make_the_forecast_hopeful() -> None:
    columns = labels([1.0] * 6 + [0.8] * 6)
    without = further_of(labels([0.8] * 6), YES_NO, 12)
    plain, aware = (further_of(columns, YES_NO, 12, known) for known in ((), range(6)))
    assert without is not None
    assert plain is not None
    assert aware is not None
    assert plain.answers < aware.answers == pytest.approx(without.answers, rel=0.1)


def test_a_standard_error_falls_with_the_root_of_the_answers() -> None:
    numbers = replace(labels([5.0] * 4), truth=np.zeros(4))
    found = further_of(numbers, Domain.numeric(0, 100), 4)
    assert found is not None
    assert found.answers == 4 * 10 * 3  # twice as close as 5 needs four times the reports


def test_numbers_without_a_standard_error_are_not_foretold() -> None:
    numbers = replace(labels([float("inf")] * 4), truth=np.zeros(4))
    assert further_of(numbers, Domain.numeric(0, 100), 4) is None


def test_words_count() -> None:
    assert Further(1200, 40, 310, 985).words == (
        "About 1,200 more answers (40 workers) would settle 310 of 985 open tasks."
    )
    assert (
        Further(1, 1, 1, 1).words == "About 1 more answer (1 worker) would settle 1 of 1 open task."
    )
