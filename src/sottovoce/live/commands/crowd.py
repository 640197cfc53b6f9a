"""The workers of a rehearsed live session: each in a process of its own, all at the same time."""

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
from sottovoce.worker.budget import Budget
from sottovoce.worker.ledger import Ledger

PRELOADED = ["sottovoce.live.worker", "sottovoce.live.commands.crowd", "certifi"]
"""What every worker would import anew."""

BUDGET = (1e6, 0.5)
"""What a worker of a rehearsal allows: its ledger begins and ends with it."""


@dataclass(frozen=True, slots=True)
class RehearsedWorker:
    """One worker: its place in the table, a link of its own, and its answers."""

    place: int
    link: str = field(repr=False)
    answers: LiveAnswers = field(repr=False)


@dataclass(frozen=True, slots=True)
class LiveWorkerOutcome:
    """What became of one worker: its number in the session, how it ended, and its CPU seconds."""

    place: int
    number: int | None
    state: str
    seconds: float


class LiveCrowd:
    """Workers that were started."""

    def __init__(self, processes: Sequence[Any], outcomes: Any) -> None:
        self._processes, self._outcomes = processes, outcomes

    def parts(self) -> list[LiveWorkerOutcome]:
        """What became of each worker, once all have ended, by place."""
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
    """Start the workers; no process is left when the block ends, however it ends.

    They are forked from a process that has imported what they need, where a system can do that.
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
    """Be this worker, with a ledger and keys of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
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
