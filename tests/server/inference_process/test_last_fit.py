"""The inference process starts from the last fit of a campaign when new reports come."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.server.crowds import opened, report
from tests.server.drafts import running

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain
from sottovoce.server.campaigns.lifecycle import close_campaign
from sottovoce.server.campaigns.own_reports import erase
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.results import Columns, unfinished
from sottovoce.server.inference_process import fit
from sottovoce.server.inference_process.child import ReportCache
from sottovoce.server.inference_process.fit import FittedResult
from sottovoce.server.inference_process.scheduler import _keep
from sottovoce.server.service import Service

LEAVES = Domain.categorical(["oak", "birch", "lime"])
TASKS = [f"t{i}" for i in range(40)]


@pytest.fixture(autouse=True)
def _small_campaigns_count_as_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "STARTED_FROM", 1)


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Service]:
    database = Database.at(tmp_path)
    upgrade(database)
    with running(database) as service:
        yield service
    database.close()


def campaign(service: Service) -> tuple[str, str]:
    policy = make_policy(LEAVES, "randomized-response", Target(3.0, answers=len(TASKS)))
    return opened(service, policy, TASKS)


def inferred(cache: ReportCache, id: str) -> FittedResult:
    outcome = cache.infer(id)
    assert outcome is not None
    assert outcome.found.summary.problem is None
    return outcome


def columns(outcome: FittedResult) -> Columns:
    return Columns.unpack(outcome.content)


def test_new_reports_take_fewer_rounds_and_find_the_same_truths(on_sqlite: Service) -> None:
    id, link = campaign(on_sqlite)
    cache = ReportCache(on_sqlite.database)
    report(on_sqlite, id, link, workers=30, seed=1, right=0.6)
    inferred(cache, id)
    report(on_sqlite, id, link, workers=3, seed=2, right=0.6)
    found, wanted = inferred(cache, id), inferred(ReportCache(on_sqlite.database), id)
    assert found.found.summary.reports == wanted.found.summary.reports
    assert found.found.summary.rounds < wanted.found.summary.rounds
    one, other = columns(found), columns(wanted)
    assert one.truth.tolist() == other.truth.tolist()
    np.testing.assert_allclose(one.certainty, other.certainty, atol=0.02)


def test_the_fit_of_deleted_reports_is_forgotten(on_sqlite: Service) -> None:
    id, link = campaign(on_sqlite)
    cache = ReportCache(on_sqlite.database)
    sent = report(on_sqlite, id, link, workers=30, seed=1, right=0.6)
    inferred(cache, id)
    erase(on_sqlite, id, *sent[0])
    found, wanted = inferred(cache, id), inferred(ReportCache(on_sqlite.database), id)
    assert found.found.summary.rounds == wanted.found.summary.rounds
    assert found.content == wanted.content


def test_small_campaigns_are_fitted_from_scratch(
    on_sqlite: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "STARTED_FROM", 10_000)
    id, link = campaign(on_sqlite)
    cache = ReportCache(on_sqlite.database)
    report(on_sqlite, id, link, workers=30, seed=1, right=0.6)
    inferred(cache, id)
    report(on_sqlite, id, link, workers=3, seed=2, right=0.6)
    assert inferred(cache, id).content == inferred(ReportCache(on_sqlite.database), id).content


def test_a_closed_campaign_is_fitted_once_more_from_scratch(on_sqlite: Service) -> None:
    id, link = campaign(on_sqlite)
    cache = ReportCache(on_sqlite.database)
    report(on_sqlite, id, link, workers=30, seed=1, right=0.6)
    inferred(cache, id)
    report(on_sqlite, id, link, workers=3, seed=2, right=0.6)
    started = inferred(cache, id)
    assert started.found.summary.started_from == 30 * len(TASKS)
    _keep(on_sqlite, id, started)
    assert not waiting(on_sqlite)
    close_campaign(on_sqlite, id)
    assert waiting(on_sqlite) == {id}
    last = inferred(cache, id)
    assert last.content == inferred(ReportCache(on_sqlite.database), id).content
    _keep(on_sqlite, id, last)
    assert not waiting(on_sqlite)


def waiting(service: Service) -> set[str]:
    with service.database.reading() as connection:
        return set(unfinished(connection))
