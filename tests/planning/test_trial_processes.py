"""The same results in one process as in several, in the order of the items.

Processes are spawned and cannot import tests: the functions here are other modules'.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sottovoce.errors import SottovoceError, UsageError
from sottovoce.model import Domain
from sottovoce.planning.trial_runner import Processes
from sottovoce.testing.server_process import wait_until


def test_results_do_not_depend_on_the_number_of_processes() -> None:
    items = list(range(40))
    seen: list[tuple[int, int]] = []
    with Processes(math.factorial, jobs=2) as processes:
        many = processes.map(items, lambda *done: seen.append(done))
    with Processes(math.factorial) as processes:
        assert processes.map(items) == many == [math.factorial(number) for number in items]
    assert seen == [(done, 40) for done in range(1, 41)]


def test_one_job_stays_in_this_process() -> None:
    here: Processes[int, int] = Processes(lambda _: os.getpid())
    with here as processes:
        assert set(processes.map([1, 2])) == {os.getpid()}


def test_an_error_of_another_process_is_raised_here() -> None:
    with Processes(Domain.categorical, jobs=2) as processes:
        with pytest.raises(UsageError, match="needs at least one label"):
            processes.map(["", ""])


def test_a_process_that_dies_is_said_in_one_line() -> None:
    with Processes(os._exit, jobs=2) as processes:
        with pytest.raises(SottovoceError, match="fewer jobs"):
            processes.map([3, 3])


@pytest.mark.parametrize("jobs", [0, -1, True, 1.5])
def test_jobs_are_counted_from_one(jobs: int) -> None:
    with pytest.raises(UsageError, match="jobs must be a whole number from 1 up"):
        Processes(math.factorial, jobs=jobs)


BEATING = """
import os, sys, time
from pathlib import Path
from sottovoce.planning.trial_runner import Processes

def beat(folder):
    while True:
        Path(folder, str(os.getpid())).write_text(str(time.monotonic_ns()))
        time.sleep(0.02)

if __name__ == "__main__":
    with Processes(beat, jobs=2) as processes:
        processes.map([sys.argv[1]] * 2)
"""


def test_processes_end_with_the_one_that_started_them(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(BEATING)
    folder = tmp_path / "beats"
    folder.mkdir()
    with subprocess.Popen([sys.executable, str(tmp_path / "script.py"), str(folder)]) as first:
        wait_until(lambda: len(list(folder.iterdir())) == 2, "two processes to work")
        first.kill()
    wait_until(lambda: not _goes_on(folder), "them to end")


def _goes_on(folder: Path) -> bool:
    before = [file.read_text() for file in folder.iterdir()]
    time.sleep(0.3)
    return [file.read_text() for file in folder.iterdir()] != before
