"""The ledger adds up what was promised and refuses to overspend."""

from __future__ import annotations

import datetime
import json
import math
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.errors import AlreadyReported, BudgetExceeded, SpendRefused, UsageError
from sottovoce.model import Guarantee, Unit
from sottovoce.worker import Budget, Ledger
from sottovoce.worker.ledger import Spending

from .conftest import Open, Spend


def test_a_new_ledger_has_spent_nothing(opened: Open) -> None:
    ledger = opened()
    assert (len(ledger), ledger.spent(Unit.WORKER), ledger.left(Unit.WORKER)) == (
        0,
        (0, 0),
        (10, 0),
    )


def test_campaigns_add_up_in_both_units(opened: Open, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1", "t2"], epsilon=0.5))
    ledger.spend(spend(["t1"], epsilon=0.25, requester="archive"))
    assert ledger.spent(Unit.WORKER) == (1.25, 0)
    assert ledger.spent(Unit.ANSWER) == (0.75, 0)


def test_more_tasks_under_one_policy_cost_more_per_worker_and_nothing_per_answer(
    opened: Open, spend: Spend
) -> None:
    ledger = opened()
    ledger.spend(spend(["t1", "t2"], epsilon=0.5))
    ledger.spend(spend(["t3"], epsilon=0.5))
    assert ledger.spent(Unit.WORKER) == (1.5, 0)
    assert ledger.spent(Unit.ANSWER) == (0.5, 0)


def test_a_delta_is_spent_once_a_campaign(opened: Open, spend: Spend) -> None:
    ledger = opened(Budget(worker_epsilon=10, worker_delta=1e-5))
    ledger.spend(spend(["t1"], delta=1e-6))
    ledger.spend(spend(["t2"], delta=1e-6))
    ledger.spend(spend(["t1"], delta=1e-6, requester="archive"))
    assert ledger.spent(Unit.WORKER) == (3, 2e-6)


def test_what_was_spent_is_there_when_the_ledger_is_opened_again(
    opened: Open, spend: Spend
) -> None:
    entry = opened().spend(spend(["t1", "t2"]))
    assert opened().entries() == (entry,)
    assert opened().spent(Unit.WORKER) == (2, 0)


def test_an_entry_says_what_was_promised_to_whom(path: Path, spend: Spend) -> None:
    ledger = Ledger(path, Budget(worker_epsilon=5), today=lambda: datetime.date(2031, 2, 3))
    entry = ledger.spend(spend(["t1", "t2"], epsilon=0.5))
    assert (entry.requester, entry.mechanism, entry.answers) == ("museum", "coin", 2)
    assert (entry.day, entry.spent[Unit.WORKER]) == ("2031-02-03", (1, 0))


def test_an_overspend_is_refused_and_leaves_the_file_as_it_was(
    opened: Open, path: Path, spend: Spend
) -> None:
    ledger = opened()
    ledger.spend(spend(["t1", "t2"], epsilon=4))
    before = path.read_bytes()
    with pytest.raises(BudgetExceeded, match="asked to spend epsilon 4 per worker") as caught:
        ledger.spend(spend(["t3"], epsilon=4))
    assert (caught.value.asked, caught.value.left, caught.value.unit) == (4, 2, "worker")
    assert path.read_bytes() == before


def test_the_last_bit_of_the_budget_can_be_spent(opened: Open, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1"], epsilon=10))
    assert ledger.left(Unit.WORKER) == (0, 0)


def test_a_fact_asked_about_in_every_campaign_is_limited_too(opened: Open, spend: Spend) -> None:
    ledger = opened(Budget(answer_epsilon=1.5))
    ledger.spend(spend(["t1"]))
    with pytest.raises(BudgetExceeded, match=r"epsilon 1 per answer but has 0\.5 left"):
        ledger.spend(spend(["t1"], requester="archive"))


def test_a_delta_beyond_the_budget_is_refused(opened: Open, spend: Spend) -> None:
    with pytest.raises(BudgetExceeded, match="delta 1e-06 per worker but has 0 left") as caught:
        opened().spend(spend(delta=1e-6))
    assert caught.value.quantity == "delta"


def test_a_guarantee_without_bound_is_refused(opened: Open, spend: Spend) -> None:
    with pytest.raises(UsageError, match="the policy promises nothing per answer"):
        opened().spend(spend(epsilon=math.inf))


def test_a_task_is_reported_once_under_a_policy(opened: Open, path: Path, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1", "t2"]))
    before = path.read_bytes()
    with pytest.raises(AlreadyReported, match="a report for task 't2' was made") as caught:
        opened().spend(spend(["t3", "t2"]))
    assert isinstance(caught.value, SpendRefused)
    assert path.read_bytes() == before


def test_a_task_given_twice_at_once_is_refused(opened: Open, spend: Spend) -> None:
    with pytest.raises(AlreadyReported):
        opened().spend(spend(["t1", "t1"]))


def test_a_whole_submission_is_the_only_one(opened: Open, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1"], whole=True))
    with pytest.raises(AlreadyReported, match="all answers of a worker in one submission"):
        ledger.spend(spend(["t2"], whole=True))


def test_submissions_together_keep_to_the_answers_promised_for(opened: Open, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1", "t2"], most=3))
    with pytest.raises(UsageError, match="up to 3 answers, not for 2, and 2 were given before"):
        ledger.spend(spend(["t3", "t4"], most=3))


def test_nothing_is_no_submission(opened: Open, spend: Spend) -> None:
    with pytest.raises(UsageError, match="nothing to report"):
        opened().spend(spend([]))


def test_another_budget_is_refused(opened: Open) -> None:
    opened()
    with pytest.raises(UsageError, match="was opened with another budget"):
        opened(Budget(worker_epsilon=11))


def test_a_budget_is_raised_on_the_record(opened: Open, path: Path, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(epsilon=10))
    before = path.read_bytes()
    ledger.raise_budget(Budget(worker_epsilon=20))
    ledger.spend(spend(["t2"], epsilon=10))
    assert opened(Budget(worker_epsilon=20)).left(Unit.WORKER) == (0, 0)
    assert path.read_bytes().startswith(before)


def test_a_budget_is_not_lowered(opened: Open) -> None:
    with pytest.raises(UsageError, match="only be raised"):
        opened().raise_budget(Budget(worker_epsilon=9))


def test_task_names_are_not_in_the_file_in_clear(opened: Open, path: Path, spend: Spend) -> None:
    opened().spend(spend(["Do you owe taxes?"]))
    assert "taxes" not in path.read_text()


def test_the_file_is_json_lines_for_its_owner_only(opened: Open, path: Path, spend: Spend) -> None:
    opened().spend(spend())
    kinds = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert kinds == ["start", "spend"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 4), max_size=6),
    costs=st.lists(st.floats(0.01, 3), min_size=6, max_size=6),
)
def test_the_total_never_exceeds_the_budget(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], costs: list[float]
) -> None:
    path = tmp_path_factory.mktemp("ledger") / "ledger.jsonl"
    ledger = Ledger(path, Budget(worker_epsilon=5, answer_epsilon=3))
    for number, (size, cost) in enumerate(zip(sizes, costs, strict=False)):

        def guarantee(answers: int, unit: Unit, cost: float = cost) -> Guarantee:
            return Guarantee(unit, answers, cost * (answers if unit is Unit.WORKER else 1))

        tasks = tuple(f"t{i}" for i in range(size))
        asked = Spending("ada", f"r{number}", "f4", "coin", tasks, guarantee, whole=False)
        with suppress(BudgetExceeded):
            ledger.spend(asked)
    assert ledger.spent(Unit.WORKER).epsilon <= 5
    assert ledger.spent(Unit.ANSWER).epsilon <= 3
