"""A planned campaign: its size and its crowd, from which answers can be drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Grid, Reports
from sottovoce.model.guarantee import check_count
from sottovoce.planning.crowds import Assumption, Crowd, Design, named_crowd

MOST_LABELS, MOST_NUMBERS = 100_000, 20_000
"""Campaigns with more reports than this are simulated on a smaller one; numbers take longer."""

LARGEST = 1 << 31
"""Workers and tasks have 4-byte codes."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Every worker answers `answers_per_worker` random tasks.

    `ability` is a crowd: a named assumption, abilities, or a pilot, whose tasks and answers are
    replayed. With `hide_participation` every worker reports on every task.

    >>> scenario = Scenario(Domain.categorical("ab"), tasks=30, workers=10, answers_per_worker=6)
    >>> answers, truths = scenario.draw(7)
    >>> len(answers), len(truths)
    (60, 30)
    """

    domain: Domain
    tasks: int
    workers: int
    answers_per_worker: int
    ability: Assumption | Crowd = "mixed"
    hide_participation: bool = False

    def __post_init__(self) -> None:
        for field in ("tasks", "workers", "answers_per_worker"):
            size = getattr(self, field)
            check_count(field, size)
            if not 1 <= size < LARGEST:
                raise UsageError(f"{field} must be from 1 to 2^31 - 1, not {size:,}")
        if self.answers_per_worker > self.tasks:
            raise UsageError(
                f"a worker answers a task once: answers_per_worker can be at most the "
                f"{self.tasks:,} tasks, not {self.answers_per_worker:,}"
            )
        _check_domain(self.domain)
        if not self.crowd.suits(self.domain):
            raise UsageError(
                f"{self.domain.kind} answers need another crowd than {type(self.crowd).__name__}"
            )

    @property
    def crowd(self) -> Crowd:
        """The workers, and the tasks as far as they are known."""
        if isinstance(self.ability, str):
            return named_crowd(self.ability, self.domain)
        return self.ability

    @property
    def design(self) -> Design:
        """The size, for a crowd."""
        return Design(self.domain, self.tasks, self.workers, self.answers_per_worker)

    @property
    def cells(self) -> int:
        """The number of reports."""
        each = self.tasks if self.hide_participation else self.answers_per_worker
        return self.workers * each

    @property
    def answers_per_task(self) -> float:
        """The mean number of answers to a task."""
        return self.design.answers_per_task

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        """The answers of one such campaign, and its truths by task.

        Truths and abilities come from separate streams, so that campaigns of different sizes share
        them as far as possible.
        """
        return self.crowd.draw(self.design, seed)

    def smaller(self, most: int | None = None) -> Scenario:
        """A campaign with at most about `most` reports, and as many of them per task.

        Workers and tasks shrink together. If that is not enough, or if participation is hidden and
        the share of answers among reports has to stay, tasks and answers per worker shrink.
        """
        if most is None:
            most = MOST_NUMBERS if self.domain.is_numeric else MOST_LABELS
        factor = min(1.0, most / self.cells)
        if self.hide_participation:
            return self._with_fewer_tasks(factor)
        factor = max(factor, self.answers_per_worker / self.tasks)
        tasks, workers = round(self.tasks * factor), max(1, round(self.workers * factor))
        fewer = replace(self, tasks=tasks, workers=workers)
        return fewer._with_fewer_tasks(min(1.0, most / fewer.cells))

    def _with_fewer_tasks(self, factor: float) -> Scenario:
        tasks = max(1, round(self.tasks * factor))
        answers = max(1, round(self.answers_per_worker * factor))
        return replace(self, tasks=tasks, answers_per_worker=min(answers, tasks))


def _check_domain(domain: Domain) -> None:
    if domain.is_numeric:
        Grid.over(domain)  # refuses numbers without a range, and steps that do not divide it
    elif domain.size < 2:
        raise UsageError(f"a plan needs two labels or more, not {domain.size}")
