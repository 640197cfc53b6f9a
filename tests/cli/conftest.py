"""Running the command line as a user does: in another process, which is forked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from tests.service.forked_processes import Forker

from sottovoce.cli import main
from sottovoce.testing import RunningServer, running_server

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path, forker: Forker) -> Run:
    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "SOTTOVOCE_DATA": str(tmp_path / "cache"), "NO_COLOR": "1"}
        with TemporaryDirectory() as place, _piped(stdin, Path(place)) as source:
            out, log = Path(place, "out"), Path(place, "log")
            command = forker.start(
                arguments, out, log, environment, source=source, folder=str(tmp_path)
            )
            code = command.wait(120)
            said = [file.read_text(encoding="utf-8") for file in (out, log)]
        return subprocess.CompletedProcess(arguments, code, *said)

    return run


@contextmanager
def _piped(text: str | None, folder: Path) -> Iterator[str]:
    """The file from which a command reads this text: a pipe, or the null device."""
    if text is None:
        yield os.devnull
        return
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    thread = Thread(target=_write, args=(pipe, text))
    thread.start()
    yield str(pipe)
    thread.join()


def _write(pipe: Path, text: str) -> None:
    with suppress(BrokenPipeError):  # a command need not read everything
        pipe.write_text(text, encoding="utf-8")


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The same in this process, which is faster: for commands that need no terminal and no pipe."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path / "cache"))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "argv", ["sottovoce", *arguments])
        return completed(arguments, capfd)

    return call


def completed(
    arguments: Sequence[str], capfd: pytest.CaptureFixture[str]
) -> subprocess.CompletedProcess[str]:
    """The outcome of the command line in this process with the arguments that were set."""
    code = 0
    try:
        main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    printed = capfd.readouterr()
    return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    """A server for the commands of one file."""
    with running_server() as running:
        yield running


@pytest.fixture
def logged_in(server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands speak to that server, as a requester who is logged in."""
    monkeypatch.setenv("SOTTOVOCE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SOTTOVOCE_URL", server.url)
    monkeypatch.setenv("SOTTOVOCE_TOKEN", server.token)


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.csv"
    rows = ["worker,task,answer"]
    for task in range(12):
        truth = "yes" if task % 3 else "no"
        for worker, right in (("ann", True), ("bob", True), ("cy", task % 2 == 0)):
            other = "no" if truth == "yes" else "yes"
            rows.append(f"{worker},q{task},{truth if right else other}")
    file.write_text("\n".join(rows) + "\n")
    return file


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    file = tmp_path / "gold.csv"
    rows = [f"q{task},{'yes' if task % 3 else 'no'}" for task in range(12)]
    file.write_text("\n".join(["task,truth", *rows]) + "\n")
    return file
