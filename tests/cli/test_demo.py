"""`sottovoce demo`: the service for real, and nothing of it left."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

import pytest
from tests.cli.conftest import Run

Demo = subprocess.Popen[str]


@contextmanager
def running(folder: Path, mark: str, *arguments: str) -> Iterator[Demo]:
    """The demo, in a session of its own: a signal reaches it and not its children."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sottovoce", "demo", *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1", "SOTTOVOCE_MARK": mark},
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def marked(mark: str) -> list[int]:
    """Processes that were started by the demo, however deep."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"SOTTOVOCE_MARK={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def read_until(process: Demo, words: str) -> str:
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if words in line:
            return seen
    raise AssertionError(f"{words!r} was not said: {seen}")


def assert_nothing_is_left(mark: str) -> None:
    end = time.monotonic() + 10
    while marked(mark):
        assert time.monotonic() < end, "a process is left"
        time.sleep(0.1)


needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")


@pytest.mark.slow  # the quick run has the next one, which goes on until workers answer
@needs_proc
def test_a_campaign_runs_for_real_until_it_is_interrupted(tmp_path: Path) -> None:
    mark = token_hex(8)
    with running(tmp_path, mark, "--keep", "--folder", "out") as process:
        seen = read_until(process, "until Ctrl-C")
        assert len(marked(mark)) >= 2
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert_nothing_is_left(mark)
    assert "60 workers sent 1,200 reports" in seen
    assert "0 refused, 0 received twice" in seen
    assert "epsilon 2 per answer, epsilon 40 per worker" in seen
    assert "gives the same truth for 100 of 100 tasks" in seen
    private, raw = (float(number) for number in re.findall(r"private +(0\.\d+|1\.0+)", seen))
    assert 0.7 < private <= raw + 0.05
    assert re.search(r"http://127\.0\.0\.1:\d+/c/[a-z0-9]+ ", seen)
    assert "sottovoce serve --data out/data" in rest
    log = [json.loads(line) for line in (tmp_path / "out" / "server.log").read_text().splitlines()]
    assert log[-1]["event"] == "stopped"


@needs_proc
@pytest.mark.slow
def test_ended_in_the_middle_it_leaves_nothing(tmp_path: Path) -> None:
    mark = token_hex(8)
    with running(tmp_path, mark, "--no-keep") as process:
        read_until(process, "Workers ")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1].startswith("sottovoce: stopped")
    assert "Traceback" not in errors
    assert_nothing_is_left(mark)


def test_a_folder_with_something_in_it_is_left_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    done = run("demo", "--folder", "full")
    assert (done.returncode, done.stdout) == (2, "")
    assert "full is not empty" in done.stderr


@pytest.mark.slow
def test_a_port_that_is_taken_is_said(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = run("demo", "--port", port)
    assert done.returncode == 2
    assert "cannot be used" in done.stderr
    assert len(done.stderr.splitlines()) == 1
