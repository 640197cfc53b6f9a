"""Everything can be taken away, from one moment, in an order that tells nothing."""

from __future__ import annotations

import csv
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.crowds import opened, report
from tests.server.drafts import running

from sottovoce import infer
from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy
from sottovoce.server.campaigns.exports import EXPORTS, Export, export
from sottovoce.server.campaigns.results import truths_page
from sottovoce.server.database import Database, upgrade
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service

LABELS = Domain.categorical(["oak", "birch", "=lime"])
LEAVES = make_policy(LABELS, "randomized-response", Target(4.0, answers=6))
HIDING = make_policy(
    LABELS, "null-randomized-response", Target(4.0, answers=6, hide_participation=True)
)
MANY = Domain.categorical(["oak", "birch", "=lime", "ash", "elm", "yew"])
SETS = make_policy(MANY, "subset-selection", Target(0.2, answers=6))
METRES = make_policy(Domain.numeric(0, 10), "piecewise", Target(4.0, answers=6))
TASKS = ["t2", "=t1", "t10", "-5", "@x", "t3", "t4", "t5"]


CROWDS: dict[str, str] = {}
"""Campaigns that the service has by now: a test only reads them."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exporting")


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def service(request: pytest.FixtureRequest, folder: Path) -> Iterator[Service]:
    CROWDS.clear()
    if request.param == "sqlite":
        database = Database.at(folder)
    else:
        database = Database.at(request.getfixturevalue("postgresql"))
        with database.engine.begin() as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    upgrade(database)
    with running(database) as service:
        yield service
    database.close()


def crowd(service: Service, policy: Policy = LEAVES) -> str:
    if policy.name not in CROWDS:
        id, invite = opened(service, policy, TASKS)
        report(service, id, invite, workers=7, seed=5)
        infer_now(service, id)
        CROWDS[policy.name] = id
    return CROWDS[policy.name]


def content(out: Export) -> bytes:
    try:
        return b"".join(out.pieces)
    finally:
        out.close()


def rows(out: Export) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(content(out).decode(), newline="")))


def refusal(service: Service, id: str, name: str) -> Reason:
    with pytest.raises(Refused) as refused:
        export(service, id, name)
    return refused.value.reason


def test_reports_are_by_worker_and_then_by_the_tasks_place(service: Service) -> None:
    id = crowd(service)
    out = export(service, id, "reports.csv", raw=True)
    table = rows(out)
    assert out.rows == len(table) == 42
    places = [(row["worker"], TASKS.index(row["task"])) for row in table]
    assert places == sorted(places)
    assert list(table[0]) == ["worker", "task", "report"]


def test_every_export_says_how_many_rows_it_has(service: Service) -> None:
    id = crowd(service)
    for name in EXPORTS:
        out = export(service, id, name)
        whole = content(out)
        assert out.name == f"{id}-{name}"
        if name.endswith("csv"):
            assert len(whole.splitlines()) == (out.rows or 0) + 1
        elif name.endswith("jsonl"):
            assert len(whole.splitlines()) == out.rows
        elif name.endswith("parquet"):
            assert whole.startswith(b"PAR1")
            assert whole.endswith(b"PAR1")


def test_a_spreadsheet_runs_nothing_unless_asked_for(service: Service) -> None:
    id = crowd(service)
    safe, raw = (rows(export(service, id, "reports.csv", raw=raw)) for raw in (False, True))
    tasks = {row["task"] for row in safe}
    assert tasks <= {"t2", "'=t1", "t10", "-5", "'@x", "t3", "t4", "t5"}
    assert {row["report"] for row in safe} <= {"oak", "birch", "'=lime"}
    assert {row["task"] for row in raw} <= set(TASKS)
    assert {row["report"] for row in raw} <= {"oak", "birch", "=lime"}


def test_truths_are_those_of_the_results(service: Service) -> None:
    id = crowd(service)
    lines = content(export(service, id, "truths.jsonl")).decode().splitlines()
    assert [json.loads(line) for line in lines] == json.loads(truths_page(service, id).rows())


def test_reports_of_one_moment_are_exported(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS)
    report(service, id, invite, workers=3, seed=1)
    out = export(service, id, "reports.csv")
    report(service, id, invite, workers=3, seed=2)
    assert len(rows(out)) == out.rows == 18


@pytest.mark.parametrize("policy", [LEAVES, HIDING, SETS], ids=["one label", "NULL", "sets"])
def test_crowd_kit_gets_a_row_for_each_label_of_a_report(service: Service, policy: Policy) -> None:
    id = crowd(service, policy)
    out = export(service, id, "crowdkit.csv", raw=True)
    table = rows(out)
    assert out.rows == len(table)
    assert list(table[0]) == ["task", "worker", "label"]
    reports = rows(export(service, id, "reports.csv", raw=True))
    # A set is written as the places of its labels.
    named = {str(place): label for place, label in enumerate(MANY.labels)}
    votes = [
        (row["task"], row["worker"], named.get(word, word))
        for row in reports
        for word in row["report"].split()
        if word != "NULL"
    ]
    assert sorted(tuple(row.values()) for row in table) == sorted(votes)
    assert len(votes) != len(reports) or policy is LEAVES


@pytest.mark.parametrize("policy", [LEAVES, HIDING, SETS], ids=["one label", "NULL", "sets"])
def test_every_report_on_a_task_is_counted_once(service: Service, policy: Policy) -> None:
    id = crowd(service, policy)
    reports = rows(export(service, id, "reports.csv", raw=True))
    page = truths_page(service, id)
    counts = {task: sum(row["task"] == task for row in reports) for task in TASKS}
    told = dict(zip(page.columns["task"], page.columns["answers"], strict=True))
    assert told == {task: count for task, count in counts.items() if count}


def test_crowd_kit_gets_no_numbers(service: Service) -> None:
    assert refusal(service, crowd(service, METRES), "crowdkit.csv") is Reason.NOT_FOUND


def test_truths_that_are_not_inferred_are_not_there(service: Service) -> None:
    id, _ = opened(service, LEAVES, TASKS)
    for name in ("truths.csv", "workers.parquet"):
        assert refusal(service, id, name) is Reason.NOT_FOUND
    assert rows(export(service, id, "reports.csv")) == []


@pytest.mark.parametrize("name", ["", "reports", "reports.xml", "../policy.json", "tasks.jsonl"])
def test_nothing_else_can_be_taken_away(service: Service, name: str) -> None:
    assert refusal(service, "nobody", name) is Reason.NOT_FOUND


def test_tasks_come_with_their_texts(service: Service) -> None:
    table = rows(export(service, crowd(service), "tasks.csv", raw=True))
    assert [row["task"] for row in table] == TASKS
    assert table[0] == {"task": "t2", "text": "What is t2?", "image": ""}


def test_four_at_a_time_and_each_gives_its_place_back(service: Service) -> None:
    id = crowd(service)
    under_way = [export(service, id, "reports.csv") for _ in range(4)]
    assert refusal(service, id, "reports.csv") is Reason.BUSY
    for out in under_way:
        out.close()
    assert refusal(service, id, "reports.xml") is Reason.NOT_FOUND
    assert refusal(service, "nobody", "reports.csv") is Reason.NOT_FOUND
    for _ in range(5):
        content(export(service, id, "reports.csv"))


def test_a_client_that_leaves_leaves_no_file(service: Service, folder: Path) -> None:
    out = export(service, crowd(service), "reports.parquet")
    next(out.pieces)
    out.close()
    assert not list(folder.glob("temp/*"))


def test_pieces_may_be_taken_by_several_threads(service: Service) -> None:
    out = export(service, crowd(service), "reports.csv")
    pieces: list[bytes] = []
    for _ in range(2):
        thread = threading.Thread(target=lambda: pieces.append(next(out.pieces)))
        thread.start()
        thread.join()
    pieces.extend(out.pieces)
    out.close()
    assert len(b"".join(pieces).splitlines()) == 43


def test_the_policy_and_the_reports_are_all_that_inference_needs(
    service: Service, tmp_path: Path
) -> None:
    id = crowd(service, SETS)
    (tmp_path / "reports.csv").write_bytes(content(export(service, id, "reports.csv", raw=True)))
    policy = Policy.parse(content(export(service, id, "policy.json")))
    assert policy == SETS
    result = infer(tmp_path / "reports.csv", policy=policy)
    assert sorted(result.tasks) == sorted(truths_page(service, id).columns["task"])
