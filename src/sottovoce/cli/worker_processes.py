"""The crowd of the demo: simulated answers, and the real worker software in other processes.

Also measures the CPU seconds of child processes.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from queue import Empty
from subprocess import PIPE, Popen
from typing import TYPE_CHECKING, Any

from sottovoce.datasets import CategoricalCrowd, generate
from sottovoce.errors import SottovoceError
from sottovoce.worker.client import Client

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from sottovoce.model import Label


LABELS = ("birch", "maple", "oak")
PROCESSES = 4


@dataclass(frozen=True, slots=True)
class WorkerOutcome:
    """The outcome of one worker. Its tasks are known only because the worker is simulated."""

    worker: int
    tasks: tuple[str, ...]
    replayed: bool = False
    refused: str | None = None


@dataclass(frozen=True, slots=True)
class SimulatedWorker:
    """One simulated worker: its invite, and its answers to the tasks it knows."""

    worker: int
    link: str = field(repr=False)
    answers: Mapping[str, Label] = field(repr=False)


class SimulatedCrowd:
    """Every worker's answer to every task, and gold.

    >>> crowd = SimulatedCrowd(workers=4, tasks=2, seed=1)
    >>> crowd.tasks, sorted(crowd.answers(3)) == crowd.tasks
    (['leaf-001', 'leaf-002'], True)
    """

    def __init__(self, *, workers: int, tasks: int, seed: int) -> None:
        crowd = CategoricalCrowd(
            workers=workers,
            tasks=tasks,
            labels=len(LABELS),
            redundancy=workers,
            ability="spammers",
            share=0.1,
            accuracy=0.85,
            difficulty=0.2,
            seed=seed,
        )
        table, gold = generate(crowd)
        self.tasks = [f"leaf-{task + 1:03}" for task in range(tasks)]
        self.gold = {"task": self.tasks, "truth": [LABELS[truth] for truth in gold.truths]}
        self._answers: list[dict[str, str]] = [{} for _ in range(workers)]
        for worker, task, label in zip(table.worker, table.task, table.value, strict=True):
            self._answers[worker][self.tasks[task]] = LABELS[int(label)]

    def answers(self, worker: int) -> Mapping[str, str]:
        """A worker's answer to each task."""
        return self._answers[worker]

    def raw(self, sent: Sequence[WorkerOutcome]) -> dict[str, list[Any]]:
        """The table of the same workers' raw answers to the same tasks."""
        rows = [(one.worker, task) for one in sent for task in one.tasks]
        return {
            "worker": [worker for worker, _ in rows],
            "task": [task for _, task in rows],
            "answer": [self._answers[worker][task] for worker, task in rows],
        }


def run_workers(workers: Sequence[SimulatedWorker], folder: Path) -> Iterator[WorkerOutcome]:
    """Run the workers in other processes; yield each outcome as it arrives.

    All processes end with the iteration, also after an error.
    """
    context = get_context("spawn")
    outcomes = context.Queue()
    processes = [
        context.Process(target=_answer, args=(workers[i::PROCESSES], folder, outcomes), daemon=True)
        for i in range(PROCESSES)
    ]
    try:
        for process in processes:
            process.start()
        for _ in workers:
            yield _next(outcomes.get, processes)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()
        outcomes.close()


def _next(get: Callable[..., WorkerOutcome], processes: Sequence[BaseProcess]) -> WorkerOutcome:
    """The next outcome; an error if all processes have ended."""
    while True:
        alive = any(process.is_alive() for process in processes)
        try:
            return get(timeout=1)
        except Empty:
            if not alive:
                raise SottovoceError("the workers' processes ended unexpectedly") from None


def _answer(workers: Sequence[SimulatedWorker], folder: Path, outcomes: Any) -> None:
    """Run these workers in turn; each has its own folder and ledger."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    for one in workers:
        try:
            with Client(one.link, folder=folder / f"worker-{one.worker:02}") as client:
                tasks = tuple(task for task in client.offer.names if task in one.answers)
                receipt = client.send({task: one.answers[task] for task in tasks})
            outcomes.put(WorkerOutcome(one.worker, tasks, receipt.replayed))
        except SottovoceError as error:
            outcomes.put(WorkerOutcome(one.worker, (), refused=str(error)))


@contextmanager
def own_command(arguments: Sequence[str], log: Path, line: str = "") -> Iterator[Popen[str]]:
    """A command of this program in its own process, with this line as its input."""
    with log.open("wb") as output:
        process = Popen(  # noqa: S603 - our own command
            [sys.executable, "-m", "sottovoce", *arguments],
            stdin=PIPE,
            stdout=output,
            stderr=output,
            text=True,
        )
    try:
        assert process.stdin is not None  # noqa: S101 - it is a pipe
        with process.stdin as pipe:
            pipe.write(line)
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def cpu(seconds: dict[str, float], party: str) -> Iterator[None]:
    """Record the CPU seconds of the processes that end inside the block."""
    before = _spent()
    yield
    seconds[party] = _spent() - before


def _spent() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
