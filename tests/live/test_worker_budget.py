"""The terms must keep the guarantee that a worker saw before joining, for any roster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.live.stars import LABELS, offered, some_answers

from sottovoce.errors import SealedRefused
from sottovoce.live.worker import check_promise, promise_of, promised, spending_of
from sottovoce.model import Unit
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest
from sottovoce.securesum.em.terms import EMTerms, Mode

WORKERS = 20
TASKS = tuple(f"t{i}" for i in range(30))


def noised(epsilon: float = 2.0, delta: float = 0.0, weighted: int = 0) -> dict[str, Any]:
    return {"mode": "noised", "epsilon": epsilon, "delta": delta, "weighted_rounds": weighted,
            "workers": WORKERS, "tasks": list(TASKS)}  # fmt: skip


def terms(workers: int, epsilon: float = 2.0, delta: float = 0.0, weighted: int = 0) -> EMTerms:
    honest = default_honest(workers)
    return calibrated(TASKS, LABELS, epsilon, delta, honest=honest, weighted_rounds=weighted)


def test_exact_sums_promise_nothing() -> None:
    assert promise_of(offered(), 3) is None


def test_counts_promise_epsilon_for_an_answer_and_as_often_for_all() -> None:
    promise = promise_of(offered(**noised()), len(TASKS))
    assert promise is not None
    assert promise[Unit.ANSWER].epsilon == pytest.approx(2.0)
    assert promise[Unit.WORKER].epsilon == pytest.approx(2.0 * len(TASKS))


@pytest.mark.parametrize(("delta", "weighted"), [(0.0, 0), (1e-6, 2)])
@pytest.mark.parametrize("joined", [3, 9, 20])
def test_however_many_join_the_terms_keep_what_was_promised(
    delta: float, weighted: int, joined: int
) -> None:
    offer = offered(**noised(2.0, delta, weighted))
    promise = promise_of(offer, 3)
    assert promise is not None
    fixed = terms(joined, 2.0, delta, weighted)
    held = check_promise(fixed, joined, promise, 3)
    assert held == promised(fixed, 3)


@pytest.mark.parametrize(
    "weaker",
    [terms(WORKERS, 2.1), replace(terms(WORKERS), noise=None, mode=Mode.LOG_ODDS)],
    ids=["less", "none"],
)
def test_less_noise_is_refused(weaker: EMTerms) -> None:
    offer = offered(**noised())
    promise = promise_of(offer, 3)
    assert promise is not None
    with pytest.raises(SealedRefused, match=r"the server: .*noise"):
        check_promise(weaker, WORKERS, promise, 3)


def test_noise_that_counts_on_too_many_is_refused() -> None:
    offer = offered(**noised())
    promise = promise_of(offer, 3)
    assert promise is not None
    many = calibrated(TASKS, LABELS, 2.0, 0.0, honest=WORKERS)
    with pytest.raises(SealedRefused, match="counts on 20 of 20 workers"):
        check_promise(many, WORKERS, promise, 3)


def test_a_delta_that_nobody_would_ever_see_is_not_booked() -> None:
    offer, answers = offered(**noised()), some_answers(0)
    promise = promise_of(offer, len(answers))
    assert promise is not None
    assert 0 < promise[Unit.WORKER].delta < 1e-20
    spending = spending_of(offer, answers.tasks, promise)
    assert spending.guarantee(3, Unit.WORKER).delta == 0
    assert spending.tasks == ("t0", "t1", "t2")


def test_a_delta_that_was_asked_for_is_booked() -> None:
    offer, answers = offered(**noised(2.0, 1e-6, 2)), some_answers(0)
    promise = promise_of(offer, len(answers))
    assert promise is not None
    spending = spending_of(offer, answers.tasks, promise)
    assert spending.guarantee(3, Unit.WORKER).delta == pytest.approx(1e-6, rel=1e-3)
