"""Queries of a ledger that book nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.worker.conftest import Open, Spend

from sottovoce.errors import AlreadyReported, BudgetExceeded
from sottovoce.worker import Budget, Ledger


def test_checking_foretells_the_entry_and_books_nothing(opened: Open, spend: Spend) -> None:
    ledger = opened()
    assert ledger.check(spend(["t1", "t2"])).answers == 2
    assert len(ledger) == 0


def test_checking_refuses_what_spending_would_refuse(opened: Open, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1"]))
    with pytest.raises(AlreadyReported):
        ledger.check(spend(["t1"]))
    with pytest.raises(BudgetExceeded):
        ledger.check(spend(["t2"], epsilon=10))
    assert len(ledger) == 1


def test_what_is_not_reported_is_told(opened: Open, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1", "t3"]))
    assert ledger.unreported(spend(["t1", "t2", "t3", "t4"])) == ("t2", "t4")
    assert ledger.unreported(spend(["t1"], requester="library")) == ("t1",)


def test_after_the_only_submission_nothing_is_left(opened: Open, spend: Spend) -> None:
    ledger = opened()
    assert ledger.unreported(spend(["t1", "t2"], whole=True)) == ("t1", "t2")
    ledger.spend(spend(["t1"], whole=True))
    assert ledger.unreported(spend(["t1", "t2"], whole=True)) == ()


def test_the_latest_entry_of_a_campaign_is_told(opened: Open, spend: Spend) -> None:
    ledger = opened()
    assert ledger.earlier(spend()) is None
    ledger.spend(spend(["t1"]))
    ledger.spend(spend(["t2"]))
    entry = ledger.earlier(spend(["t3"]))
    assert entry is not None
    assert entry.answers == 2


def test_a_ledger_may_be_taken_with_the_budget_it_has(opened: Open, path: Path) -> None:
    opened(Budget(worker_epsilon=7))
    ledger = Ledger(path, Budget(worker_epsilon=50), adopt=True)
    assert ledger.budget == Budget(worker_epsilon=7)
