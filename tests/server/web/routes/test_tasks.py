"""Tasks over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.server.web.requests import Served, refused, served

from sottovoce.server.database import Database


@pytest.fixture
def server(database: Database) -> Iterator[Served]:
    with served(database) as made:
        yield made


def put(server: Served, id: str, content: bytes, kind: str = "text/csv") -> httpx.Response:
    path, headers = f"/campaigns/{id}/tasks", {"Content-Type": kind}
    return server.client.put(path, content=content, headers=headers)


def names(server: Served, id: str, **pages: int) -> list[str]:
    reply = server.client.get(f"/campaigns/{id}/tasks", params=pages)
    return [task["task"] for task in reply.json()["tasks"]]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("text/csv", b"task,text\na,A?\nb,\n"),
        ("text/csv; charset=utf-8", b"task,text\na,A?\nb,\n"),
        ("text/tab-separated-values", b"task\ttext\na\tA?\nb\t\n"),
        ("application/x-ndjson", b'{"task": "a", "text": "A?"}\n{"task": "b"}\n'),
        ("application/json", b'[{"task": "a", "text": "A?"}, {"task": "b"}]'),
    ],
)
def test_tasks_come_in_four_formats(server: Served, kind: str, content: bytes) -> None:
    id = server.draft()
    taken = put(server, id, content, kind)
    assert (taken.status_code, taken.json()) == (200, {"tasks": 2, "ignored": []})
    assert server.client.get(f"/campaigns/{id}/tasks").json() == {
        "tasks": [
            {"task": "a", "text": "A?", "image": None, "known": None},
            {"task": "b", "text": "b", "image": None, "known": None},
        ],
        "total": 2,
    }


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_columns_that_mean_nothing_are_named(server: Served) -> None:
    taken = put(server, server.draft(), b"task,gold\na,yes\n")
    assert taken.json() == {"tasks": 1, "ignored": ["gold"]}


def test_tasks_are_shown_in_pages(server: Served) -> None:
    id = server.draft()
    put(server, id, b"task\n" + b"".join(b"t%d\n" % i for i in range(25)))
    assert names(server, id, offset=20, limit=3) == ["t20", "t21", "t22"]
    assert names(server, id, offset=25) == []
    for wrong in ({"offset": -1}, {"limit": 0}, {"limit": 10**9}, {"offset": 1 << 70}):
        reply = server.client.get(f"/campaigns/{id}/tasks", params=wrong)
        refused(reply, 422, "malformed")


def test_a_fault_has_its_row_and_column_and_changes_nothing(server: Served) -> None:
    id = server.draft()
    told = refused(put(server, id, b"task,text\na,A\nb,B\na,C\n"), 422, "malformed")
    assert (told["row"], told["column"]) == (4, "task")
    assert "row 2" in told["detail"]
    assert names(server, id) == ["t1", "t2"]


def test_only_drafts_take_tasks(server: Served) -> None:
    id = server.draft()
    server.client.post(f"/campaigns/{id}/open")
    refused(put(server, id, b"task\na\n"), 409, "not_a_draft")
    refused(put(server, "absent", b"task\na\n"), 404, "not_found")
    refused(server.client.get("/campaigns/absent/tasks"), 404, "not_found")
    assert names(server, id) == ["t1", "t2"]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_other_kinds_compressed_and_huge_bodies_are_refused(server: Served) -> None:
    id = server.draft()
    refused(put(server, id, b"task\na\n", "application/vnd.ms-excel"), 415, "unsupported")
    path, headers = f"/campaigns/{id}/tasks", {**server.client.headers, "Content-Type": "text/csv"}
    packed = headers | {"Content-Encoding": "gzip", "Content-Length": "99"}
    assert server.head_only("PUT", path, packed) == (415, "unsupported")
    huge = headers | {"Content-Length": str((64 << 20) + 1)}
    assert server.head_only("PUT", path, huge) == (413, "oversize")


def test_a_hundred_thousand_tasks_are_taken(server: Served) -> None:
    id = server.draft()
    content = b"task,text\n" + b"".join(b"t%d,Which <b>tree</b>?\n" % i for i in range(100_000))
    assert put(server, id, content).json()["tasks"] == 100_000
    assert server.client.post(f"/campaigns/{id}/open").json()["tasks"] == 100_000
    assert names(server, id, offset=99_999) == ["t99999"]
