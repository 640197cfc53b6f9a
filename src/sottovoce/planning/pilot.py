"""A pilot that is replayed: its own tasks, with their real answers, difficulty and shared errors.

A simulated campaign draws tasks from the pilot and takes their answers as they are. So tasks keep
their difficulty and the errors that workers share, which no model of independent workers has. Three
things are unknown and drawn for each campaign, so that they widen the band:

- the tasks of the campaign are other tasks: the pilot's get random weights (the Bayesian bootstrap,
  Rubin 1981), and half a task more has answers that do not depend on its truth: no pilot shows that
  such tasks do not occur;
- without gold, truths are unknown (see `Pilot.without_gold`);
- repeated tasks differ: some answers, as if a task had two more, are those of the same worker to
  another task with the same truth. If more answers are planned than the pilot has for a task,
  further ones are those of workers like its own.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference.signal import signal
from sottovoce.model import Codes, Domain, FloatArray, Gold, Reports
from sottovoce.planning.crowds import Design, on_grid
from sottovoce.planning.trials import truths_by_task

UNRELATED = 0.5
"""The weight of the task whose answers do not depend on its truth; others have weight 1 each."""

SMOOTHING = 2.0
"""A task's answers are taken as if it had this many more, of its workers to other tasks.

A campaign with more tasks than the pilot repeats them. Without it, the repetitions of a task would
be alike, and a method would learn its errors as if they were the workers'.
"""

SHARED_LABELS = (0.0, 0.6)
"""Without gold: the share of a task's truth that is drawn from its answers, not the posterior.

In the tuning sets the share that explains the errors of inferred labels is from 0 to .7; with that
whole range bands held 98 % of outcomes, so a narrower one is taken.
"""

SHARED_NUMBERS = (0.85, 1.35)
"""Without gold: the distance of a truth from its estimate, in distances of the task's answers.

In public datasets the ratio of mean distances is from .9 to 1.3.
"""

FEW = 20
"""A pilot with fewer tasks says little about the tasks of a campaign."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pilot:
    """Answers by task; `truths` are known, or with `posterior` the estimates without gold.

    `task` is increasing. The posterior of labels has a row for each task; that of numbers is empty.
    """

    domain: Domain
    task: Codes
    worker: Codes
    value: npt.NDArray[Any]
    truths: npt.NDArray[Any]
    posterior: FloatArray | None = None

    @classmethod
    def with_gold(cls, answers: Reports, gold: Gold) -> Self:
        """The tasks with gold; others are left out."""
        return cls.of_truths(answers, truths_by_task(answers, gold))

    @classmethod
    def of_truths(cls, answers: Reports, truths: npt.NDArray[Any]) -> Self:
        """The same with truths by task: label codes (-1 where unknown), or numbers (NaN)."""
        known = np.isfinite(truths) if answers.domain.is_numeric else truths >= 0
        return cls._of(answers, truths, known)

    @classmethod
    def without_gold(cls, answers: Reports) -> Self:
        """All tasks, with inferred truths.

        Errors that workers share are invisible without gold. In public datasets, the truth of a
        number is about as far from its estimate as a single answer; that of a label is drawn from a
        mixture of the posterior and the task's own answers. The strength is drawn for each
        campaign. Answers that agree no more than chance are refused.
        """
        numeric = answers.domain.is_numeric
        warning = None if numeric else signal(LocalEngine(answers)).warning()
        if warning is not None:
            raise UsageError(f"a pilot without gold cannot tell what to expect here: {warning}")
        result = infer(answers)
        answered = np.bincount(answers.task, minlength=len(answers.tasks)) > 0
        posterior = np.empty((0, 0)) if numeric or result.posterior is None else result.posterior
        pilot = cls._of(answers, result.truths, answered)
        return replace(pilot, posterior=posterior[answered] if len(posterior) else posterior)

    @classmethod
    def _of(cls, answers: Reports, truths: npt.NDArray[Any], wanted: npt.NDArray[np.bool_]) -> Self:
        answered = np.bincount(answers.task, minlength=len(answers.tasks)) > 0
        place = np.cumsum(wanted & answered) - 1
        rows = np.flatnonzero(wanted[answers.task])
        rows = rows[np.argsort(answers.task[rows], kind="stable")]
        _, worker = np.unique(answers.worker[rows], return_inverse=True)
        task = place[answers.task[rows]].astype(np.int32)
        value, known = answers.value[rows], truths[wanted & answered]
        return cls(answers.domain, task, worker.astype(np.int32), value, known)

    def __repr__(self) -> str:
        """Short: cached forecasts are found by it."""
        content = hashlib.sha256()
        for array in (self.task, self.worker, self.value, self.truths, self.posterior):
            content.update(b"|" if array is None else np.ascontiguousarray(array).tobytes() + b"|")
        return f"Pilot({self.domain!r}, tasks={len(self.truths)}, sha256={content.hexdigest()})"

    @property
    def answers_per_task(self) -> float:
        """The mean number of answers to a task."""
        return len(self.task) / len(self.truths)

    def suits(self, domain: Domain) -> bool:
        """Whether its answers are of this domain."""
        return domain == self.domain

    def sentence(self, domain: Domain) -> str:
        """The assumption in words."""
        tasks, workers = len(self.truths), int(self.worker.max()) + 1
        told = (
            f"tasks and workers as in the pilot, replayed: {tasks:,} tasks with "
            f"{self.answers_per_task:.3g} answers each, of {workers:,} workers"
        )
        if self.posterior is not None:
            told += (
                "; there is no gold, so truths are inferred, and the band allows for errors that "
                "workers share as in public datasets: known truths of some tasks would narrow it"
            )
        if tasks < FEW:
            told += f"; {tasks} tasks say little about others: plan a pilot of {FEW} or more"
        return told

    def draw(self, design: Design, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """Answers and truths of one campaign."""
        for_tasks, for_truths, for_answers, for_workers = (
            np.random.default_rng(each) for each in np.random.SeedSequence(seed).spawn(4)
        )
        known = self._truths(for_truths)
        picked, truths = self._tasks(design.tasks, known, for_tasks)
        rows, task, turn = self._rows(design, picked, for_answers)
        value = self._values(rows, truths[task], known, for_answers)
        worker = self._workers(design, rows, task, turn, for_workers)
        names, worker = np.unique(worker, return_inverse=True)
        table = Reports.of(
            worker.astype(np.int32),
            task.astype(np.int32),
            value,
            domain=design.domain,
            workers=np.arange(len(names)),
            tasks=np.arange(design.tasks),
        )
        return replace(table, simulated=True), truths

    def _truths(self, rng: np.random.Generator) -> npt.NDArray[Any]:
        """The truths of the pilot's tasks: known, or drawn."""
        if self.posterior is None:
            return self.truths
        counts = np.bincount(self.task)
        last = np.cumsum(counts)
        answer = self.value[last - counts + (rng.random(len(counts)) * counts).astype(np.int64)]
        if self.domain.is_numeric:
            distance = rng.uniform(*SHARED_NUMBERS) * (answer - self.truths)
            # The estimate lies between the answers, and a truth may be on either side of it.
            sides = rng.choice([-1.0, 1.0], len(counts))
            return on_grid(self.truths + sides * distance, self.domain)
        ends = np.cumsum(self.posterior, axis=1)
        inferred = (rng.random(len(counts))[:, np.newaxis] > ends[:, :-1]).sum(axis=1)
        shared = rng.random(len(counts)) < rng.uniform(*SHARED_LABELS)
        drawn: Codes = np.where(shared, answer, inferred).astype(np.int32)
        return drawn

    def _tasks(
        self, tasks: int, known: npt.NDArray[Any], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """The pilot's task that each task replays, and its truth."""
        weights = rng.gamma([1.0] * len(known) + [UNRELATED])
        picked = rng.choice(len(weights), tasks, p=weights / weights.sum())
        unrelated = picked == len(known)
        others = rng.integers(len(known), size=(2, tasks))
        answered = np.where(unrelated, others[0], picked)
        truths: npt.NDArray[Any] = known[np.where(unrelated, others[1], picked)]
        return answered, truths

    def _rows(
        self, design: Design, picked: npt.NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The pilot's answer behind each answer, its task, and its turn.

        Tasks have more or fewer answers than others as in the pilot. Turn 0 takes a task's own
        answers in random order; if they are not enough, turn 1 takes them again, and so on. If
        fewer are planned, workers with few answers come first: a plan gives all the same number.
        """
        counts = np.bincount(self.task)
        first = np.cumsum(counts) - counts
        own = counts[picked]
        scale = design.answers_per_task / self.answers_per_task
        wanted = (own * scale + rng.random(len(picked))).astype(np.int64)
        turns = -(-wanted // own)
        drawn = turns * own
        task = np.repeat(np.arange(len(picked)), drawn)
        within = np.arange(len(task)) - np.repeat(np.cumsum(drawn) - drawn, drawn)
        turn, place = within // own[task], within % own[task]
        loads = np.bincount(self.worker)[self.worker[first[picked[task]] + place]]
        order = np.lexsort((rng.exponential(size=len(task)) * loads, turn, task))
        kept = order[within < wanted[task]]
        return first[picked[task[kept]]] + place[kept], task[kept], turn[kept]

    def _values(
        self,
        rows: npt.NDArray[np.int64],
        truth: npt.NDArray[Any],
        known: npt.NDArray[Any],
        rng: np.random.Generator,
    ) -> npt.NDArray[Any]:
        """The pilot's answers; some are those of the same worker to tasks with the same truth."""
        value = self.value[rows]
        own = np.bincount(self.task)[self.task[rows]]
        lent = rng.random(len(rows)) < SMOOTHING / (own + SMOOTHING)
        worker, truth = self.worker[rows[lent]].astype(np.int64), truth[lent]
        draws, numeric = rng.random(len(worker)), self.domain.is_numeric
        labels = 1 if numeric else self.domain.size + 1
        kinds = self.worker * np.int64(labels) + (0 if numeric else known[self.task])
        order = np.argsort(kinds, kind="stable")
        ranked, wanted = kinds[order], worker * labels + (0 if numeric else truth)
        low, high = (np.searchsorted(ranked, wanted, side) for side in ("left", "right"))
        place = order[np.minimum(low + (draws * (high - low)).astype(np.int64), len(order) - 1)]
        if numeric:
            value[lent] = truth + (self.value - known[self.task])[place]
            return on_grid(value, self.domain)
        value[lent] = np.where(high > low, self.value[place], value[lent])
        return value

    def _workers(
        self,
        design: Design,
        rows: npt.NDArray[np.int64],
        task: npt.NDArray[np.int64],
        turn: npt.NDArray[np.int64],
        rng: np.random.Generator,
    ) -> npt.NDArray[np.int64]:
        """The worker of each answer: if more are planned than the pilot has, several are alike.

        A worker's answers to a task in several turns are those of different workers.
        """
        present = int(self.worker.max()) + 1
        each = max(design.workers / present, 1.0)
        alike = (each + rng.random(present)).astype(np.int64)
        worker = self.worker[rows].astype(np.int64)
        turns = int(turn.max(initial=0)) + 1
        number = np.maximum(alike, turns)
        # The same worker in every turn of a task, so that turns lead to different ones.
        shift = rng.random(design.tasks)[task] + rng.random(present)[worker]
        chosen = (shift % 1 * alike[worker]).astype(np.int64)
        return worker * int(number.max()) + (chosen + turn) % number[worker]


def read_pilot(answers: Reports, gold: Gold | None = None) -> Pilot:
    """A pilot to replay, from a table of raw answers and the known truths of its tasks."""
    if answers.domain.is_numeric and not np.isfinite(answers.domain.high - answers.domain.low):
        raise UsageError(
            "a pilot of numbers needs their public range: read it with "
            "domain=Domain.numeric(low, high)"
        )
    return Pilot.without_gold(answers) if gold is None else Pilot.with_gold(answers, gold)
