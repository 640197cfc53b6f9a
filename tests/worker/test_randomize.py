"""One answer, randomised on the device and booked first; and the privacy loss of a policy."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import sottovoce
from sottovoce import (
    AlreadyReported,
    Budget,
    BudgetExceeded,
    Domain,
    Ledger,
    Policy,
    Target,
    Unit,
    UsageError,
)
from sottovoce.errors import DataError
from sottovoce.mechanisms.registry import RELEASES

ANIMALS = Domain.categorical(["cat", "dog"])


def made(name: str = "randomized-response", epsilon: float = 1.0, answers: int = 3) -> Policy:
    return sottovoce.make_policy(ANIMALS, name, Target(epsilon, answers=answers))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl", Budget(worker_epsilon=2.5))


def test_an_answer_is_randomised_and_its_loss_booked(ledger: Ledger) -> None:
    assert sottovoce.randomize(made(), "cat", ledger=ledger) in ("cat", "dog")
    assert ledger.spent("worker").epsilon == pytest.approx(1.0)
    sottovoce.randomize(made(), "dog", ledger=ledger, task="second")
    assert ledger.spent(Unit.WORKER).epsilon == pytest.approx(2.0)
    assert ledger.spent("answer").epsilon == pytest.approx(1.0)


def test_reports_follow_the_law(tmp_path: Path) -> None:
    book = Ledger(tmp_path / "many.jsonl", Budget(worker_epsilon=1e4))
    policy = made(epsilon=math.log(3), answers=300)
    kept = sum(
        sottovoce.randomize(policy, "cat", ledger=book, task=f"t{i}") == "cat" for i in range(300)
    )
    assert kept / 300 == pytest.approx(0.75, abs=0.16)  # 6 sigma


def test_the_same_task_is_refused(ledger: Ledger) -> None:
    sottovoce.randomize(made(), "cat", ledger=ledger)
    with pytest.raises(AlreadyReported):
        sottovoce.randomize(made(), "cat", ledger=ledger)
    assert ledger.spent("worker").epsilon == pytest.approx(1.0)


def test_more_than_the_budget_and_a_foreign_answer_spend_nothing(ledger: Ledger) -> None:
    with pytest.raises(BudgetExceeded):
        sottovoce.randomize(made(epsilon=3.0), "cat", ledger=ledger)
    with pytest.raises((UsageError, DataError)) as caught:
        sottovoce.randomize(made(), "unicorn", ledger=ledger)
    assert "unicorn" not in str(caught.value)
    assert ledger.spent("worker").epsilon == 0


@pytest.mark.parametrize("name", sorted(RELEASES))
def test_what_needs_all_answers_together_is_refused(name: str, ledger: Ledger) -> None:
    kind = RELEASES[name]
    domain = ANIMALS if ANIMALS.kind in kind.takes else Domain.numeric(0, 8)
    delta = 1e-5 if name == "random-variance-gaussian" else 0.0
    policy = sottovoce.make_policy(domain, name, Target(1.0, delta=delta))
    answer = "cat" if domain is ANIMALS else 3.0
    if sottovoce.release_of(policy).is_separable:
        assert sottovoce.randomize(policy, answer, ledger=ledger) is not None
        return
    with pytest.raises(UsageError, match=f"{name} needs all answers of a worker together"):
        sottovoce.randomize(policy, answer, ledger=ledger)
    assert ledger.spent("worker").epsilon == 0


def test_epsilon_is_that_of_the_guarantee() -> None:
    policy = made(answers=10)
    assert sottovoce.epsilon(policy, answers=10, unit="worker") == pytest.approx(10.0)
    assert sottovoce.epsilon(policy) == pytest.approx(1.0)
    target = Target(2.0, "worker", 1e-6, answers=10)
    with_delta = sottovoce.make_policy(ANIMALS, "randomized-response", target)
    held = sottovoce.release_of(with_delta).guarantee(10, Unit.WORKER, 1e-6)
    assert sottovoce.epsilon(with_delta, 10, "worker") == held.epsilon <= 2.0
    with pytest.raises(UsageError, match="the unit must be 'answer' or 'worker'"):
        sottovoce.epsilon(policy, 1, "task")  # type: ignore[arg-type]
