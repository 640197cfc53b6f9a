"""Tables of answers for private EMs, with repeats and tasks that nobody answered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sottovoce.model import Domain, Reports
from sottovoce.securesum.em.contributor import EMContributor
from sottovoce.securesum.em.terms import EMTerms, Mode

Codes = npt.NDArray[np.int64]


class Answers(NamedTuple):
    """Rows of a table, and its size."""

    worker: Codes
    task: Codes
    label: Codes
    workers: int
    tasks: int
    labels: int

    @property
    def repeats(self) -> int:
        """The most answers of a worker to a task."""
        pairs = self.worker * self.tasks + self.task
        return int(np.bincount(pairs).max())

    def reports(self) -> Reports:
        """As a table."""
        return Reports.of(
            self.worker, self.task, self.label, domain=Domain.categorical(range(self.labels)),
            workers=np.arange(self.workers), tasks=np.arange(self.tasks),
        )  # fmt: skip

    def terms(self, mode: Mode, scale: int, **given: Any) -> EMTerms:
        """The terms of its workers."""
        names, labels = map(str, range(self.tasks)), map(str, range(self.labels))
        return EMTerms(tuple(names), tuple(labels), mode, scale, repeats=self.repeats, **given)

    def contributors(self, terms: EMTerms) -> list[EMContributor]:
        """Its workers."""
        return [
            EMContributor(terms, self.task[self.worker == each], self.label[self.worker == each])
            for each in range(self.workers)
        ]


def drawn(
    seed: int, *, workers: int = 9, tasks: int = 40, labels: int = 2, share: float = 0.6,
    again: int = 25, unanswered: int = 2,
) -> Answers:  # fmt: skip
    """Workers of different skill answer a share of the tasks, some of them again."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(0, labels, tasks), rng.uniform(0.5, 0.95, workers)
    answered = rng.random((workers, tasks)) < share
    answered[:, :unanswered] = False
    worker, task = np.nonzero(answered)
    extra = rng.integers(0, len(worker), again)
    worker, task = np.concatenate([worker, worker[extra]]), np.concatenate([task, task[extra]])
    wrong = rng.random(len(worker)) >= skill[worker]
    label = (truth[task] + wrong * rng.integers(1, labels, len(worker))) % labels
    return Answers(worker, task, label, workers, tasks, labels)
