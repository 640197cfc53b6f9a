"""Bodies that two readers would read differently, or that no reader should read."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.server.web.hostile_server import CANARY, Arena, bearer, new, problem
from tests.server.web.requests import DRAFT

from sottovoce.errors import Reason
from sottovoce.server.web.worker_page import PAGE, STATIC
from sottovoce.testing.server_process import wait_until

PLAIN = json.dumps({**DRAFT, "title": CANARY})
HEAD = '{"title": "x", "question": "x", "policy": '
DEEP = 100_000

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": CANARY.encode(),
    "half": PLAIN[:-1].encode(),
    "more than one": (PLAIN + PLAIN).encode(),
    "a list": b"[]",
    "null": b"null",
    "a field twice": PLAIN.replace('"title"', f'"title": "{CANARY}", "title"', 1).encode(),
    "a nested field twice": PLAIN.replace('"epsilon"', '"epsilon": 9, "epsilon"', 1).encode(),
    "NaN": PLAIN.replace("1.0", "NaN", 1).encode(),
    "Infinity": PLAIN.replace("1.0", "-Infinity", 1).encode(),
    "1e999": PLAIN.replace("1.0", "1e999", 1).encode(),
    "a number of 5,000 digits": PLAIN.replace("1.0", "9" * 5_000, 1).encode(),
    "a number of 400 digits": PLAIN.replace("1.0", "9" * 400, 1).encode(),
    "400 digits of answers": PLAIN.replace('"answers": 5', f'"answers": {"9" * 400}').encode(),
    "deep lists": (HEAD + "[" * DEEP + "]" * DEEP + "}").encode(),
    "deep objects": (HEAD + '{"a":' * DEEP + "1" + "}" * DEEP + "}").encode(),
    "900 lists": (HEAD + '{"a":' + "[" * 900 + "]" * 900 + "}}").encode(),
    "deep and open": b"[" * DEEP,
    "invalid UTF-8": PLAIN.replace("Which", "\u00ff").encode("latin-1"),
    "half a character, escaped": PLAIN.replace(CANARY, "\\ud800").encode(),
    "half a character, in bytes": PLAIN.encode().replace(CANARY.encode(), b"\xed\xa0\x80"),
    "half a character as a name": (HEAD + '{"\\udfff": 1}}').encode(),
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-32": PLAIN.encode("utf-32"),
    "a byte order mark": b"\xef\xbb\xbf" + PLAIN.encode(),
    "a NUL in the title": PLAIN.replace(CANARY, "\\u0000").encode(),
    "an escape sequence": PLAIN.replace(CANARY, "\\u001b[2J").encode(),
    "an unknown field": PLAIN.replace('"title"', f'"{CANARY}": 1, "title"').encode(),
    "a field with a script": PLAIN.replace('"title"', '"<script>": 1, "title"').encode(),
    "an unknown kind": PLAIN.replace("categorical", CANARY).encode(),
    "a number as a text": PLAIN.replace("1.0", '"1.0"').encode(),
    "a truth as a number": PLAIN.replace("1.0", "true").encode(),
    "both ways": PLAIN.replace('"title"', '"policy": {}, "title"').encode(),
    "neither way": b'{"title": "x", "question": "x"}',
    "a huge title": PLAIN.replace(CANARY, CANARY * 1_000).encode(),
    "an empty title": PLAIN.replace(CANARY, "  ").encode(),
    "a task twice": PLAIN.replace('"t2"', '"t1"').encode(),
    "labels twice": PLAIN.replace('"birch"', '"oak"').encode(),
}  # fmt: skip


def _post(arena: Arena, content: bytes | Iterator[bytes], **headers: str) -> httpx.Response:
    sent = {**arena.requester, "Content-Type": "application/json", **headers}
    return arena.ask("POST", "/campaigns", content=content, headers=sent)


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_draft_that_makes_no_sense_is_refused(arena: Arena, body: bytes) -> None:
    with arena.unharmed():
        reply = _post(arena, body)
    content = problem(reply, 422, Reason.MALFORMED)
    assert "<script>" not in reply.text
    assert content["detail"]


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_nor_is_it_a_submission_a_webhook_or_a_list_of_tasks(arena: Arena, body: bytes) -> None:
    id = arena.ids["draft"]
    headers = {**arena.requester, "Content-Type": "application/json"}
    with arena.unharmed():
        replies = [
            arena.put(body),
            arena.ask("POST", f"/campaigns/{id}/webhooks", content=body, headers=headers),
            arena.ask("POST", f"/campaigns/{id}/invites", content=body, headers=headers),
            arena.ask("PUT", f"/campaigns/{id}/tasks", content=body, headers=headers),
            arena.ask("POST", "/tokens", content=body, headers=headers),
        ]
    for reply in replies:
        expected = (413, Reason.OVERSIZE) if reply.status_code == 413 else (422, Reason.MALFORMED)
        problem(reply, *expected)


@pytest.mark.parametrize(
    "privacy",
    [{"mechanism": "x" * 60_000}, {"parameters": {"y" * 60_000: 1}},
     {"parameters": {"z": "z" * 60_000}}],
    ids=["mechanism", "parameter", "value"],
)  # fmt: skip
def test_what_a_requester_is_told_again_is_cut_short(arena: Arena, privacy: dict[str, Any]) -> None:
    asked = {**DRAFT["privacy"], **privacy}
    with arena.unharmed():
        reply = arena.ask("POST", "/campaigns", json={**DRAFT, "privacy": asked})
    problem(reply, 422, Reason.MALFORMED)


def test_a_mistyped_field_is_named(arena: Arena) -> None:
    with arena.unharmed():
        reply = arena.ask("POST", "/campaigns", json={**DRAFT, "titel": "x"})
    content = problem(reply, 422, Reason.MALFORMED)
    assert (content["field"], content["detail"]) == ("titel", "titel: Unknown field")


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
     "application/json-patch+json", "application/xml", CANARY],
)  # fmt: skip
def test_a_wrong_kind_of_content_is_refused(arena: Arena, kind: str) -> None:
    submission = json.dumps(arena.submission(arena.ids["open"], new("svr_"))).encode()
    with arena.unharmed():
        replies = [_post(arena, PLAIN.encode(), **{"Content-Type": kind})]
        if kind:
            replies.append(arena.put(submission, headers={**arena.worker, "Content-Type": kind}))
    for reply in replies:
        problem(reply, 415, Reason.UNSUPPORTED)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip", "x"])
def test_a_compressed_body_is_refused_before_it_is_read(arena: Arena, encoding: str) -> None:
    bomb = gzip.compress(b'{"title": "' + b"x" * (32 << 20))
    with arena.unharmed():
        replies = [
            _post(arena, bomb[:60_000], **{"Content-Encoding": encoding}),
            arena.put(b"x", headers={**arena.worker, "Content-Encoding": encoding}),
        ]
    for reply in replies:
        problem(reply, 415, Reason.UNSUPPORTED)


def _endless() -> Iterator[bytes]:
    for _ in range(1_000):
        yield b" " * 65_536


def test_a_body_without_a_length_is_read_only_so_far(arena: Arena) -> None:
    """64 MiB of spaces to each; what was read is refused, and the rest is not taken."""
    headers = {**arena.requester, "Content-Type": "application/json"}
    with arena.unharmed():
        for path, kind in (("/tokens", headers), (f"/campaigns/{arena.ids['open']}/reports/{'0' * 32}", arena.worker)):  # fmt: skip  # noqa: E501
            method = "POST" if path == "/tokens" else "PUT"
            try:
                reply = arena.ask(method, path, content=_endless(), headers=kind)
            except (httpx.WriteError, httpx.ReadError):
                continue  # cut off while it was still sending
            problem(reply, 413, Reason.OVERSIZE)


def test_a_body_without_a_length_that_is_fine_is_taken(arena: Arena) -> None:
    receipt = new("svr_")
    body = json.dumps(arena.submission(arena.ids["open"], receipt)).encode()
    headers = bearer(arena.invites["open"], receipt)
    path = f"/campaigns/{arena.ids['open']}/reports/{'ab' * 16}"
    reply = arena.ask("PUT", path, content=iter([body[:9], body[9:]]), headers=headers)
    assert (reply.status_code, reply.json()["replayed"]) == (201, False)


SCRIPT = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"
FORMULA = '=HYPERLINK("http://evil.example","click")'


@pytest.fixture(scope="module")
def scripted(arena: Arena) -> tuple[str, str]:
    """An open campaign whose every text is a script or a formula, with a report; its identifier."""
    labels = [SCRIPT, FORMULA, "@SUM(1)"]
    id, invite = arena.opened(
        title=SCRIPT,
        question=SCRIPT,
        domain={"kind": "categorical", "labels": labels},
        tasks=[{"task": "=1+1", "text": SCRIPT}, {"task": "+cmd|x", "text": "-2"},
               {"task": SCRIPT}],
    )  # fmt: skip
    receipt = new("svr_")
    tasks, reports = sorted(["=1+1", "+cmd|x"]), [FORMULA, SCRIPT]
    body = arena.submission(id, receipt, tasks=tasks, reports=reports)
    sent = arena.put(body, campaign=id, headers=bearer(invite, receipt))
    assert sent.status_code == 201, sent.text
    return id, invite


def test_scripts_in_texts_come_back_as_they_were(arena: Arena, scripted: tuple[str, str]) -> None:
    id, invite = scripted
    shown = arena.ask("GET", f"/campaigns/{id}")
    offer = arena.ask("GET", f"/campaigns/{id}/offer", headers=bearer(invite))
    for reply in (shown, offer):
        assert reply.headers["content-type"] == "application/json"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-security-policy"].startswith("default-src 'none'")
        assert (reply.json()["title"], reply.json()["question"]) == (SCRIPT, SCRIPT)
    assert shown.json()["domain"]["labels"] == [SCRIPT, FORMULA, "@SUM(1)"]


def test_no_text_of_a_requester_is_in_the_page_that_workers_load(
    arena: Arena, scripted: tuple[str, str]
) -> None:
    page = arena.http.get(f"/c/{scripted[0]}", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert "alert" not in page.text
    assert page.content == (STATIC / PAGE).read_bytes()
    policy = page.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy


def _is_inferred(arena: Arena, id: str) -> bool:
    results = arena.ask("GET", f"/campaigns/{id}/results").json()
    return results["summary"] is not None and results["reports_waiting"] == 0


def _cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text)) for cell in row]


@pytest.mark.parametrize("name", ["reports.csv", "crowdkit.csv", "tasks.csv", "truths.csv"])
def test_formulas_do_not_run_in_a_spreadsheet(
    arena: Arena, scripted: tuple[str, str], name: str
) -> None:
    wait_until(lambda: _is_inferred(arena, scripted[0]), "the truths")
    reply = arena.ask("GET", f"/campaigns/{scripted[0]}/exports/{name}")
    assert reply.status_code == 200
    assert reply.headers["content-disposition"].startswith("attachment")
    assert reply.headers["x-content-type-options"] == "nosniff"
    starts = [cell for cell in _cells(reply.text) if cell[:1] in {*"=+-@\t\r"}]
    assert set(starts) <= {"-2"}  # a number, and nothing to run
    if name in ("reports.csv", "tasks.csv"):
        assert "'=1+1" in _cells(reply.text)


def test_formulas_are_exact_on_request(arena: Arena, scripted: tuple[str, str]) -> None:
    id = scripted[0]
    raw = arena.ask("GET", f"/campaigns/{id}/exports/reports.csv", params={"raw": "true"})
    assert {"=1+1", FORMULA, SCRIPT} <= set(_cells(raw.text))
    lines = arena.ask("GET", f"/campaigns/{id}/exports/reports.jsonl").text.splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert FORMULA in [value for row in rows for value in row.values()]
