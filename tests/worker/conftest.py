"""Fixtures shared by the tests of the worker's side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from sottovoce.model import Guarantee, Unit
from sottovoce.worker import Budget, Ledger
from sottovoce.worker.ledger import Spending

Spend = Callable[..., Spending]
Open = Callable[..., Ledger]


@pytest.fixture
def spend() -> Spend:
    """A submission of some tasks that costs `epsilon` per answer, k times that per worker."""

    def spending(
        tasks: Sequence[str] = ("t1",),
        *,
        epsilon: float = 1.0,
        delta: float = 0.0,
        requester: str = "museum",
        policy: str = "f4a3e1c2" * 8,
        whole: bool = False,
        most: int | None = None,
    ) -> Spending:
        def guarantee(answers: int, unit: Unit) -> Guarantee:
            times = answers if unit is Unit.WORKER else 1
            return Guarantee(unit, answers, epsilon * times, delta)

        return Spending(
            "ada", requester, policy, "coin", tuple(tasks), guarantee, whole=whole, most=most
        )

    return spending


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.jsonl"


@pytest.fixture
def opened(path: Path) -> Open:
    """The ledger at the path, with this budget or one of 10 per worker."""

    def ledger(budget: Budget | None = None, *, timeout: float = 30.0) -> Ledger:
        return Ledger(path, budget or Budget(worker_epsilon=10), timeout=timeout)

    return ledger
