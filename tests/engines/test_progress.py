"""The watched engine: one call per pass, and otherwise the engine it wraps."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.engines import LocalEngine, WatchedEngine
from sottovoce.inference import CRH, method_named
from sottovoce.inference.steps.votes import AnswerCounts, LabelCounts
from sottovoce.model import Domain, Reports


@pytest.fixture
def engine() -> LocalEngine:
    rng = np.random.default_rng(4)
    worker, task = np.divmod(np.arange(60), 12)
    return LocalEngine(
        Reports.of(worker, task, rng.integers(0, 3, 60), domain=Domain.categorical("abc"))
    )


def test_counts_passes_from_one(engine: LocalEngine) -> None:
    seen: list[int] = []
    watched = WatchedEngine(engine, seen.append)
    for _ in range(3):
        watched.total(LabelCounts(3))
    assert seen == [1, 2, 3]


def test_counts_no_map(engine: LocalEngine) -> None:
    seen: list[int] = []
    WatchedEngine(engine, seen.append).map(AnswerCounts())
    assert seen == []


def test_sees_a_pass_for_every_round(engine: LocalEngine) -> None:
    seen: list[int] = []
    result = CRH(max_rounds=7, tolerance=0.0).fit(WatchedEngine(engine, seen.append))
    assert seen[-1] >= result.rounds


@pytest.mark.parametrize("method", ["dawid-skene", "td", "majority-vote"])
def test_changes_nothing(engine: LocalEngine, method: str) -> None:
    aggregator = method_named(method)
    watched = aggregator.fit(WatchedEngine(engine, lambda passes: None))
    assert watched.truths.tobytes() == aggregator.fit(engine).truths.tobytes()


def test_has_the_names_of_the_engine_it_watches(engine: LocalEngine) -> None:
    watched = WatchedEngine(engine, lambda passes: None)
    assert watched.workers is engine.workers
    assert watched.tasks is engine.tasks
    assert watched.domain is engine.domain
