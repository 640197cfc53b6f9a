"""Messages between workers and tasks (KOS), for two labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import LABELS, Settled, check_parameters, label_result
from sottovoce.inference.steps.arithmetic import grouped_sums, shares, steady, total
from sottovoce.inference.steps.listing import list_answers
from sottovoce.model import Codes, FloatArray, Kind, Result
from sottovoce.seams import Engine


class Messages(NamedTuple):
    """The workers' last messages, one for each answer, up to a common factor."""

    messages: FloatArray
    rounds: int
    converged: bool


@dataclass(frozen=True, slots=True)
class KOS:
    """Belief propagation on the graph of answers, for two labels (Karger, Oh & Shah 2014, alg. 1).

    With Aⱼₖ = 1 for the first label and −1 for the second, tasks and workers send messages along
    each answer, which leave out what came along it:

        task to worker   xⱼₖ = Σ Aⱼₗ yⱼₗ over the other workers l of the task
        worker to task   yⱼₖ = Σ Aᵢₖ xᵢₖ over the other tasks i of the worker
        truth            the sign of Σₖ Aⱼₖ yⱼₖ

    The paper starts from normal messages; here all start at 1, so that the result depends neither
    on a seed nor on names. Messages are scaled to a largest of 1; the iteration ends when none
    moves by more than `tolerance`. If they add up to less than 0, all change sign: most workers are
    taken to be better than chance. The posterior is each label's share of Σₖ |yⱼₖ|: a score, not a
    calibrated probability. A task without messages keeps its vote shares. A worker's weight is the
    mean of its messages.

    Every answer has a message, so sums over reports do not suffice: it needs all answers in memory.
    """

    max_rounds: int = 100
    tolerance: float = 1e-6

    name: ClassVar[str] = "kos"
    takes: ClassVar[frozenset[Kind]] = LABELS
    labels: ClassVar[int] = 2

    def __post_init__(self) -> None:
        check_parameters(self)

    def fit(self, engine: Engine) -> Result:
        if engine.domain.size != self.labels:
            raise UsageError(
                f"kos takes two labels, and the domain has {engine.domain.size}; "
                "mace and dawid-skene take any number"
            )
        task, worker, label = list_answers(engine)
        tasks, workers = len(engine.tasks), len(engine.workers)
        ones = np.ones(len(task))
        ended = self.exchange(task, worker, np.where(label == 0, 1.0, -1.0), ones)
        sent = ended.messages if total(ended.messages) >= 0 else -ended.messages
        favoured = np.where(sent < 0, 1 - label, label)
        posterior = shares(_by_label(task, favoured, np.abs(sent), tasks))
        silent = ~_by_label(task, label, np.abs(sent), tasks).any(axis=1)
        posterior[silent] = shares(_by_label(task, label, ones, tasks))[silent]
        answered = np.bincount(worker, minlength=workers)
        mean = grouped_sums(worker, sent, workers) / np.maximum(answered, 1)
        mean[answered == 0] = mean[answered > 0].mean()
        return label_result(self, engine, posterior, Settled(mean, ended.rounds, ended.converged))

    def exchange(
        self, task: Codes, worker: Codes, sign: FloatArray, start: FloatArray, bits: float = np.inf
    ) -> Messages:
        """The iteration from given messages, at most until they would have grown to 2^bits."""
        sent, grown = start, 0
        for rounds in range(1, self.max_rounds + 1):
            votes = grouped_sums(task, sign * sent, task.max() + 1)[task]
            received = votes - sign * sent
            merits = grouped_sums(worker, sign * received, worker.max() + 1)[worker]
            updated = steady(merits - sign * received)
            if grown + np.log2(max(np.abs([votes, merits]).max(), LEAST)) > bits:
                return Messages(sent, rounds, converged=False)
            settled = np.abs(_scaled(updated) - _scaled(sent)).max() <= self.tolerance
            power = int(np.frexp(np.abs(updated).max())[1])  # exact: no rounding
            sent, grown = np.ldexp(updated, -power), grown + power
            if settled:
                return Messages(sent, rounds, converged=True)
        return Messages(sent, self.max_rounds, converged=False)


LEAST = 1e-300
"""Stands for a largest message of 0, which has no logarithm."""


def _scaled(messages: FloatArray) -> FloatArray:
    return messages / max(float(np.abs(messages).max()), LEAST)


def _by_label(task: Codes, label: Codes, weight: FloatArray, tasks: int) -> FloatArray:
    """Σ weight of the answers of each label to each task."""
    cells = task.astype(np.int64) * KOS.labels + label
    return grouped_sums(cells, weight, tasks * KOS.labels).reshape(tasks, KOS.labels)
