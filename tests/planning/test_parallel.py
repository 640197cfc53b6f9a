"""The same results in one process as in several, in the order of the items.

Processes are spawned and cannot import tests: the functions here are other modules'.
"""

from __future__ import annotations

import math
import os

import pytest

from sottovoce.errors import SottovoceError, UsageError
from sottovoce.model import Domain
from sottovoce.planning.parallel import Processes


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
