"""Running the command line as a user does: another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sottovoce.cli import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sottovoce", *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            input=stdin,
            timeout=120,
            env={**os.environ, "SOTTOVOCE_DATA": str(tmp_path / "cache"), "NO_COLOR": "1"},
        )

    return run


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The same in this process, which is faster: for commands that need no terminal and no pipe."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path / "cache"))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "argv", ["sottovoce", *arguments])
        code = 0
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        printed = capfd.readouterr()
        return subprocess.CompletedProcess(arguments, code, printed.out, printed.err)

    return call


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
