"""Trials of simulated campaigns, in several processes, each of them run only once.

Simulated errors are cached on disk, so the same question is answered at once the second time.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, Generic, Self, TypeAlias, TypeVar

import numpy as np

from sottovoce.errors import SottovoceError, UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.files.user_folders import cache_folder
from sottovoce.mechanisms.policies import Target
from sottovoce.planning.pipelines import AWARE, Pipeline
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trials import run_trial, trial_seed
from sottovoce.version import __version__

DECIDING = (
    "model", "privacy", "mechanisms", "inference", "files", "tables", "securesum", "datasets",
    "engines", "api", "planning",
)  # fmt: skip
"""The folders whose code affects the result of a simulation: all layers up to this one."""

Item = TypeVar("Item")

Found = TypeVar("Found")

Progress: TypeAlias = Callable[[int, int], None]
"""Called with the number of finished items, and the total."""

CHUNKS_PER_PROCESS = 8
"""Small enough that no process waits long for the last one, large enough to limit traffic."""

WORTH_STARTING = 6.0
"""Seconds of trials that justify starting processes, which takes a second or two."""

TIMED = 3
"""Trials that are timed first; the fastest counts, because the first one loads libraries."""


@dataclass(frozen=True, slots=True)
class TrialCase:
    """A simulated case: a scenario under a pair and its target.

    Without a pair the answers themselves are used.
    """

    scenario: Scenario
    pair: Pipeline | None = None
    target: Target | None = None

    def error(self, seed: int, trial: int) -> float:
        """The error of one simulated campaign.

        Truths, crowd, answers and noise words depend on the seed and the trial only, not on the
        case: cases are compared on common random numbers.
        """
        for_answers, for_noise = seeds_of(seed, trial)
        answers, truths = self.scenario.draw(for_answers)
        if self.pair is None or self.target is None:
            return run_trial(answers, truths, None, AWARE, for_noise).error
        pair = self.pair
        policy = pair.policy(self.scenario.domain, self.target)
        return run_trial(answers, truths, policy, pair.method, for_noise, pair.settings).error

    def key(self, seed: int) -> str:
        """The case's name in the cache."""
        return key_of([repr(self), seed])


TrialItem: TypeAlias = tuple[TrialCase, int, int]
"""A case, the seed, and the number of a trial."""


class Runner:
    """Runs trials; trials that were run before, here or in the cache, are not repeated.

    Errors depend on the case, the seed and the trial alone, so `jobs` does not change them. With
    `jobs` above 1 processes are started once the expected trials justify it, and stay until the
    block ends.
    """

    def __init__(
        self, seed: int = 0, *, jobs: int = 1, cache: bool = True, progress: Progress | None = None
    ) -> None:
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise UsageError(f"seed must be an integer of at least 0, not {seed!r}")
        self._seed, self._jobs, self._cache, self._progress = seed, jobs, cache, progress
        self._processes: Processes[TrialItem, float] = Processes(_error, jobs=jobs)
        self._known: dict[str, tuple[float, ...]] = {}
        self._counted: dict[str, int] = {}
        self._done = self._expected = 0
        self._seconds: list[float] = []
        self._started = False

    def __enter__(self) -> Self:
        self._processes.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.__exit__(*_)

    def expect(self, trials: int) -> None:
        """Announce more expected trials; fewer, if negative."""
        self._expected += trials
        self._tell(0)

    def errors(self, cases: Sequence[TrialCase], trials: int) -> list[tuple[float, ...]]:
        """The errors of the first `count` trials of each case."""
        keys = [case.key(self._seed) for case in cases]
        missing = {
            key: (case, range(len(self._recalled(key, trials)), trials))
            for key, case in zip(keys, cases, strict=True)
        }
        found = self._run({key: work for key, work in missing.items() if work[1]})
        for key, errors in found.items():
            self._known[key] += errors
            if self._cache:
                remember(key, self._known[key])
        return [self._known[key][:trials] for key in keys]

    def _recalled(self, key: str, trials: int) -> tuple[float, ...]:
        if key not in self._known:
            self._known[key] = recall(key) if self._cache else ()
            self._counted[key] = 0
        done = min(len(self._known[key]), trials)
        self._tell(max(0, done - self._counted[key]))
        self._counted[key] = max(trials, self._counted[key])
        return self._known[key]

    def _run(self, work: Mapping[str, tuple[TrialCase, range]]) -> dict[str, tuple[float, ...]]:
        items = [(case, self._seed, trial) for case, trials in work.values() for trial in trials]
        errors = [0.0] * len(items)
        here = 0
        while here < len(items) and not self._starts_processes():
            errors[here] = self._timed(items[here])
            here += 1
        for place, error in self._processes.results(items[here:]):
            errors[here + place] = error
            self._tell(1)
        ordered = iter(errors)
        return {key: tuple(next(ordered) for _ in trials) for key, (_, trials) in work.items()}

    def _starts_processes(self) -> bool:
        """Whether the remaining trials would take longer here than starting processes does."""
        if not self._started and self._jobs > 1 and len(self._seconds) >= TIMED:
            left = min(self._seconds) * (self._expected - self._done)
            self._started = left > WORTH_STARTING
        return self._started

    def _timed(self, item: TrialItem) -> float:
        start = time.perf_counter()
        error = _error(item)
        self._seconds.append(time.perf_counter() - start)
        self._tell(1)
        return error

    def _tell(self, more: int) -> None:
        self._done += more
        if self._progress is not None:
            self._progress(self._done, max(self._expected, self._done))


def seeds_of(seed: int, trial: int) -> tuple[int, int]:
    """The seeds of a trial's answers and of its noise."""
    return trial_seed(seed, trial, 0), trial_seed(seed, trial, 1)


def default_jobs() -> int:
    """One process for each processor this one may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Processes(Generic[Item, Found]):
    """A function in several processes; with one job everything stays in this process.

    The function goes to each process once, with everything it carries (a `partial` over a table).
    Processes are spawned, so that they inherit no thread and no lock. Results do not depend on the
    number of jobs.

    >>> with Processes(abs, jobs=1) as processes:
    ...     processes.map([-2, 3])
    [2, 3]
    """

    def __init__(self, function: Callable[[Item], Found], *, jobs: int = 1) -> None:
        if not isinstance(jobs, int) or isinstance(jobs, bool) or jobs < 1:
            raise UsageError(f"jobs must be a whole number from 1 up, not {jobs!r}")
        self._function, self._jobs = function, jobs
        self._executor: Executor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)

    def map(self, items: Sequence[Item], progress: Progress | None = None) -> list[Found]:
        """The function of every item, in the order of the items."""
        found: dict[int, Found] = {}
        for place, result in self.results(items):
            found[place] = result
            if progress is not None:
                progress(len(found), len(items))
        return [found[place] for place in range(len(items))]

    def results(
        self, items: Sequence[Item], size: int | None = None
    ) -> Iterator[tuple[int, Found]]:
        """The function of every item with the item's position, as they are finished.

        Items go to a process `size` at a time, else in a few chunks for each.
        """
        if self._jobs == 1 or len(items) < 2:
            yield from ((place, self._function(item)) for place, item in enumerate(items))
            return
        size = size or math.ceil(len(items) / (self._jobs * CHUNKS_PER_PROCESS))
        pending: dict[Future[list[Found]], int] = {
            self._pool().submit(_apply, items[first : first + size]): first
            for first in range(0, len(items), size)
        }
        try:
            for future in as_completed(pending):
                yield from enumerate(future.result(), pending[future])
        except BrokenProcessPool:
            raise SottovoceError(
                "a process ended before its work was done, perhaps because memory ran out: try "
                "fewer jobs"
            ) from None
        finally:
            for future in pending:
                future.cancel()

    def _pool(self) -> Executor:
        if self._executor is None:
            self._executor = ProcessPoolExecutor(
                self._jobs, get_context("spawn"), _remember, (self._function,)
            )
        return self._executor


def plans_folder() -> Path:
    """The cache folder: `SOTTOVOCE_CACHE`, or sottovoce in the user's cache folder; plans in it."""
    if chosen := os.environ.get("SOTTOVOCE_CACHE"):
        return Path(chosen).expanduser() / "plans"
    return cache_folder() / "plans"


def key_of(content: Any) -> str:
    """SHA-256 of everything that affects a result: the question, and the software.

    `content` is plain: mappings, sequences, texts, numbers.
    """
    text = json.dumps([software(), content], sort_keys=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def recall(key: str) -> tuple[float, ...]:
    """The errors cached under a key; none if the file is missing or invalid."""
    try:
        document = json.loads((plans_folder() / f"{key}.json").read_bytes())
        errors = tuple(map(float, document["errors"]))
    except (OSError, ValueError, TypeError, KeyError, RuntimeError, RecursionError):
        return ()
    return errors if all(math.isfinite(error) and error >= 0 for error in errors) else ()


def remember(key: str, errors: tuple[float, ...]) -> None:
    """Cache errors under a key, atomically; failures to write are ignored."""
    try:
        folder = plans_folder()
        folder.mkdir(parents=True, exist_ok=True)
        with new_file(folder / f"{key}.json", force=True) as temporary:
            temporary.write_text(json.dumps({"errors": errors}))
    except (OSError, RuntimeError, UsageError):  # a full disk, another user's folder, no home
        return


@cache
def software() -> tuple[str, str, str]:
    """The versions that affect a simulation, and a stamp of the code.

    Two installations of one version may differ during development. Code above the simulations, such
    as pages and commands, is not part of the stamp.
    """
    root = Path(__file__).parents[1]
    files = [path for folder in DECIDING for path in _code_in(root / folder)]
    return __version__, np.__version__, stamp_of([*sorted(root.glob("*.py")), *files], root)


def _code_in(folder: Path) -> list[Path]:
    """The modules of a folder; a missing folder must not count as unchanged code."""
    found = sorted(folder.rglob("*.py"))
    if not found:
        raise FileNotFoundError(f"no code in {folder.name}, which simulations depend on")
    return found


def stamp_of(files: Sequence[Path], root: Path) -> str:
    """SHA-256 of the names and contents of files, in their order."""
    stamp = hashlib.sha256()
    for path in files:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        stamp.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return stamp.hexdigest()


_remembered: list[Callable[[Any], Any]] = []
"""The function of this process, if it is one of several."""


def _remember(function: Callable[[Any], Any]) -> None:
    # Ctrl-C reaches every process of a terminal; the first one ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _remembered[:] = [function]


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for work forever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _apply(items: Sequence[Any]) -> list[Any]:
    [function] = _remembered
    return [function(item) for item in items]


def _error(item: TrialItem) -> float:
    case, seed, trial = item
    return case.error(seed, trial)
