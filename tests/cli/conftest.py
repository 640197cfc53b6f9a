"""Running the command line as a user does: another process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

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
