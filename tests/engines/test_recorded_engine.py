"""An engine with checkpointed sums: a second run computes none of them again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.engines import LocalEngine, RecordedEngine, WatchedEngine
from sottovoce.engines.checkpoint import KeptSums
from sottovoce.errors import DataError
from sottovoce.inference import DawidSkene, MajorityVote
from sottovoce.model import Domain, FloatArray, Reports
from sottovoce.seams import Engine


class Kept:
    """Sums in memory."""

    def __init__(self) -> None:
        self.sums: list[FloatArray] = []

    def read(self, number: int) -> FloatArray | None:
        return self.sums[number] if number < len(self.sums) else None

    def append(self, number: int, sums: FloatArray) -> None:
        assert number == len(self.sums)
        self.sums.append(sums)


def table() -> Reports:
    rng = np.random.default_rng(3)
    task, worker = np.repeat(np.arange(60), 5), rng.integers(0, 9, 300)
    value = np.where(rng.random(300) < 0.7, task % 3, rng.integers(0, 3, 300))
    return Reports.of(worker, task, value, domain=Domain.categorical("abc"))


def counted() -> tuple[Engine, list[int]]:
    passes: list[int] = []
    return WatchedEngine(LocalEngine(table()), passes.append), passes


def test_a_run_that_was_kept_is_told_without_a_pass() -> None:
    kept = Kept()
    first = DawidSkene().fit(RecordedEngine(LocalEngine(table()), kept))
    engine, passes = counted()
    again = DawidSkene().fit(RecordedEngine(engine, kept))
    assert passes == []
    np.testing.assert_array_equal(again.weights, first.weights)


@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_a_run_that_was_cut_off_goes_on_where_it_was(rounds: int) -> None:
    kept = Kept()
    whole = DawidSkene().fit(RecordedEngine(LocalEngine(table()), kept))
    needed = len(kept.sums)
    del kept.sums[rounds:]
    engine, passes = counted()
    again = DawidSkene().fit(RecordedEngine(engine, kept))
    assert len(passes) == needed - rounds
    np.testing.assert_array_equal(again.weights, whole.weights)
    np.testing.assert_array_equal(again.posterior, whole.posterior)


def test_sums_of_another_method_are_refused(tmp_path: Path) -> None:
    MajorityVote().fit(RecordedEngine(LocalEngine(table()), KeptSums(tmp_path, "a")))
    with pytest.raises(DataError, match="belongs to another run; name another folder"):
        DawidSkene().fit(RecordedEngine(LocalEngine(table()), KeptSums(tmp_path, "a")))
