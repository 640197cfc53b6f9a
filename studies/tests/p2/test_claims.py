"""Tests that statements on public data in rulings on P2's text are true."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce import datasets
from sottovoce_studies.claims import CLAIMS
from sottovoce_studies.p2.crowds import against_theorem_1


def test_public_datasets_are_as_the_rulings_say(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P2-5-2 and P2-6.3.1-3: tasks answered by all workers, workers of a task and of a job."""
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    tables = {card.name: datasets.load(card.name)[0] for card in datasets.list_datasets()}
    if len(tables) != 14:
        pytest.skip(f"needs the 14 public datasets, and {len(tables)} are in the cache")
    by_task = {name: np.bincount(table.task) for name, table in tables.items()}
    whole = [name for name, table in tables.items() if max(by_task[name]) == len(table.workers)]
    assert whole == ["bluebirds"]
    assert not against_theorem_1(tables["bluebirds"]).any()
    reasons = [CLAIMS[name].fixed for name in ("P2-5-2", "P2-6.3.1-3")]
    assert "in 13 of 14 public datasets" in str(reasons[0])
    assert f"at most {max(map(max, by_task.values()))} workers answered one task" in str(reasons[1])
    assert f"up to {max(len(table.workers) for table in tables.values())}" in str(reasons[1])
