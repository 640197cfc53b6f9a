"""The answers that a device affords within its budget, computed before anyone is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.errors import BudgetExceeded
from sottovoce.mechanisms.affordability import affordability
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy
from sottovoce.model.budget import DEFAULT_BUDGET, Budget
from sottovoce.worker import Ledger
from sottovoce.worker.answers import spending_for

LABELS = Domain.categorical(["no", "yes"])


def asked(name: str, target: Target) -> Policy:
    return make_policy(LABELS, name, target)


@pytest.mark.parametrize(
    ("target", "answered"),
    [
        (Target(2.0, answers=100), 25),
        (Target(1.7, answers=100), 29),
        (Target(60.0, "worker", answers=100, sample=100), 83),
    ],
)
def test_a_ledger_books_the_answers_that_are_affordable_and_not_one_more(
    target: Target, answered: int, tmp_path: Path
) -> None:
    policy = asked("randomized-response", target)
    found = affordability(policy, 100)
    tasks = tuple(f"t{i}" for i in range(found.answered + 1))
    ledger = Ledger(tmp_path / "ledger.jsonl", DEFAULT_BUDGET)
    assert found.answered == answered
    with pytest.raises(BudgetExceeded):
        ledger.check(spending_for(tasks, policy, "museum", "ada"))
    ledger.check(spending_for(tasks[:-1], policy, "museum", "ada"))


@pytest.mark.parametrize("name", ["null-randomized-response", "two-layer", "sealed-sum"])
def test_all_or_nothing_is_refused_and_with_the_proposed_tasks_it_fits(name: str) -> None:
    found = affordability(asked(name, Target(2.0, answers=100)), 100)
    assert (found.answered, found.most, found.workers_for(40)) == (0, 25, 160)
    assert "refuse this campaign" in str(found.warning)
    smaller = affordability(asked(name, Target(2.0, answers=found.most)), found.most)
    assert (smaller.answered, smaller.warning) == (25, None)


def test_the_proposed_epsilon_fits_too() -> None:
    found = affordability(asked("randomized-response", Target(2.0, answers=30)), 30)
    assert "choose epsilon 1.66 or less per answer" in str(found.warning)
    assert affordability(asked("randomized-response", Target(1.66, answers=30)), 30).answered == 30


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (Target(60.0, "worker", answers=100), "Choose epsilon 50 or less per worker."),
        (Target(1.0, delta=1e-6, answers=4), "allows epsilon 50 with delta 0. Choose a guarantee"),
    ],
)
def test_no_number_of_tasks_is_proposed_where_none_is_sure_to_help(
    target: Target, words: str
) -> None:
    found = affordability(asked("randomized-response", target), target.answers)
    assert (found.answered, found.most, found.workers_for(40)) == (0, 0, None)
    assert words in str(found.warning)


def test_another_budget_is_not_called_the_default_one() -> None:
    policy = asked("randomized-response", Target(2.0, answers=100))
    found = affordability(policy, 100, Budget(worker_epsilon=8))
    assert found.answered == 4
    assert "at its budget of epsilon 8" in str(found.warning)
