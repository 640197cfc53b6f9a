"""The workers of a rehearsed live session, each in its own process, all at the same time."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from queue import Empty
from typing import Any

from sottovoce.errors import SottovoceError
from sottovoce.files.private_files import private_folder
from sottovoce.live.worker import LiveAnswers, LiveWorker
from sottovoce.model.budget import Budget
from sottovoce.worker.ledger import Ledger

PRELOADED = ["sottovoce.live.worker", "sottovoce.live.commands.crowd", "certifi"]
"""Modules that every worker would otherwise import again."""

BUDGET = (1e6, 0.5)
"""The budget of a rehearsed worker; its ledger is temporary."""


@dataclass(frozen=True, slots=True)
class RehearsedWorker:
    """One worker: its place in the table, its link and its answers."""

    place: int
    link: str = field(repr=False)
    answers: LiveAnswers = field(repr=False)


@dataclass(frozen=True, slots=True)
class LiveWorkerOutcome:
    """One worker's outcome: its number in the session, final state and CPU seconds."""

    place: int
    number: int | None
    state: str
    seconds: float


class LiveCrowd:
    """The running workers."""

    def __init__(self, processes: Sequence[Any], outcomes: Any) -> None:
        self._processes, self._outcomes = processes, outcomes

    def parts(self) -> list[LiveWorkerOutcome]:
        """Every worker's outcome by place, after all have ended."""
        found: list[LiveWorkerOutcome] = []
        while len(found) < len(self._processes):
            alive = any(process.is_alive() for process in self._processes)
            try:
                found.append(self._outcomes.get(timeout=1))
            except Empty:
                if not alive:
                    raise SottovoceError("the workers' processes ended unexpectedly") from None
        return sorted(found, key=lambda part: part.place)


@contextmanager
def live_crowd(workers: Sequence[RehearsedWorker], folder: Path) -> Iterator[LiveCrowd]:
    """Start the workers; all processes end with the block, also after an error.

    Where the system supports it, they are forked from a process with preloaded modules.
    """
    context: Any = get_context("spawn" if sys.platform == "win32" else "forkserver")
    if sys.platform != "win32":
        context.set_forkserver_preload(PRELOADED)
    outcomes = context.Queue()
    processes = [
        context.Process(target=_take_part, args=(one, folder, outcomes), daemon=True)
        for one in workers
    ]
    try:
        for process in processes:
            process.start()
        yield LiveCrowd(processes, outcomes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()
        outcomes.close()


def _take_part(one: RehearsedWorker, folder: Path, outcomes: Any) -> None:
    """Run this worker, with its own ledger and keys."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    start, number, state = time.process_time(), None, "done"
    try:
        home = private_folder(folder / f"worker-{one.place}")
        ledger = Ledger(home / "ledger.jsonl", Budget(*BUDGET))
        with LiveWorker(one.link, ledger=ledger) as worker:
            outcome = worker.run(one.answers)
        number, state = outcome.number, outcome.ended.state
    except SottovoceError as error:
        state = str(error)
    outcomes.put(LiveWorkerOutcome(one.place, number, state, time.process_time() - start))
