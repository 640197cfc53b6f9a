from __future__ import annotations

import asyncio
import io
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from sottovoce.server.web.app import build_app
from sottovoce.server.web.logs import JsonLines, RateLimitFilter, TextLines, described
from sottovoce.server.web.settings import Settings

CANARY = "canary-7f3a"


def _record(name: str, message: object, *args: object, **extra: object) -> logging.LogRecord:
    record = logging.LogRecord(name, logging.ERROR, "x.py", 1, message, args, None)
    record.__dict__.update(extra)
    return record


def _raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:
        return caught


def _line(record: logging.LogRecord) -> dict[str, Any]:
    text = JsonLines().format(record)
    assert "\n" not in text
    line: dict[str, Any] = json.loads(text)
    return line


def test_a_line_has_a_time_a_level_an_event_and_known_fields() -> None:
    line = _line(_record("sottovoce.web", "request", method="GET", status=200, worker=CANARY))
    assert list(line) == ["time", "level", "event", "method", "status"]
    assert line["time"].endswith("Z")


def test_our_own_events_are_not_filled_in() -> None:
    assert _line(_record("sottovoce.web", "took %s", CANARY))["event"] == "took %s"


@pytest.mark.parametrize("name", ["uvicorn.error", "asyncio", "sqlalchemy.pool", "py.warnings"])
def test_what_other_libraries_fill_in_is_left_out(name: str) -> None:
    assert CANARY not in JsonLines().format(_record(name, "saw %s", CANARY))
    assert CANARY not in TextLines().format(_record(name, ValueError(CANARY)))


def test_what_other_libraries_may_have_filled_in_is_left_out() -> None:
    assert CANARY not in JsonLines().format(_record("asyncio", f"Task: {CANARY}"))
    assert CANARY not in JsonLines().format(_record("uvicorn.error", f"Traceback:\n{CANARY}"))


def test_numbers_of_uvicorn_are_kept() -> None:
    line = _line(_record("uvicorn.error", "Cancel %s running task(s)", 3))
    assert line["event"] == "Cancel 3 running task(s)"


def test_an_error_is_told_by_its_kind_and_place_only() -> None:
    error = _raised(ValueError(CANARY))
    record = _record("uvicorn.error", "Exception in ASGI application\n")
    record.exc_info = (type(error), error, error.__traceback__)
    line = _line(record)
    assert line["error"] == "ValueError"
    assert "test_logs.py" in line["place"]
    assert CANARY not in json.dumps(line)
    assert CANARY not in TextLines().format(record)


def test_an_error_inside_another_is_told_by_the_outer_kind() -> None:
    outer = KeyError(CANARY)
    outer.__cause__ = _raised(ValueError(CANARY))
    assert described(_raised(outer))["error"] == "KeyError"
    assert CANARY not in str(described(_raised(outer)))


def test_a_flood_of_one_line_becomes_one_line_a_second() -> None:
    seldom, record = RateLimitFilter(), _record("uvicorn.error", "Invalid HTTP request received.")
    assert [seldom.filter(record) for _ in range(3)] == [True, False, False]
    ours = _record("sottovoce.web", "request")
    assert all(seldom.filter(ours) for _ in range(3))


def test_what_breaks_inside_a_route_is_a_problem_and_a_line_without_what_was_sent(
    tmp_path: Path,
) -> None:
    app = build_app(Settings(tmp_path))

    @app.get("/break/{what}")
    async def breaks(what: str) -> None:
        raise RuntimeError(f"saw {what}")

    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("sottovoce")
    logger.addHandler(handler)
    before = logger.level
    logger.setLevel(logging.INFO)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            await client.request(CANARY, "/")
            return await client.get(f"/break/{CANARY}", headers={"User-Agent": CANARY})

    try:
        answer = asyncio.run(ask())
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
    assert answer.status_code == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert CANARY not in answer.text
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["request", "unexpected error", "request"]
    assert lines[0]["method"] == "other"
    assert lines[1]["error"] == "RuntimeError"
    assert lines[2]["status"] == 500
    assert CANARY not in stream.getvalue()


PROGRAM = f"""
import asyncio, logging, threading, warnings
from sottovoce.server.web.logs import LogFormat, set_up_logs

set_up_logs(LogFormat.json)

def fail():
    raise ValueError("{CANARY}")

thread = threading.Thread(target=fail)
thread.start()
thread.join()
warnings.warn("{CANARY}")
logging.getLogger("x").error("%d", "{CANARY}")

async def forget():
    task = asyncio.get_running_loop().create_task(asyncio.sleep(0))
    task.add_done_callback(lambda _: fail())
    await asyncio.sleep(0.05)

asyncio.run(forget())
"""


def test_threads_warnings_and_forgotten_tasks_print_nothing_of_their_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert len(lines) == 4
    assert lines[0]["event"] == "a thread was ended by an error"
    assert lines[0]["error"] == "ValueError"
    assert CANARY not in done.stderr + done.stdout
