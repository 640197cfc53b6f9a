"""Cells of `adaptive-assignment`: a campaign in which workers come one after another.

Reports are drawn once for every worker and task, so that both assignments read the same reports and
differ only in which of them they ask for. With assignment by need, the server's own rule gives the
tasks, from the counts of now and the latest result. A result is made whenever there are 5 % more
reports; the service makes them more often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import CategoricalCrowd, SeededRandomness, generate
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Policy, Reports, Result
from sottovoce.planning.trials import trial_seed
from sottovoce_studies.crowds import Dataset

__all__ = ["FRESH", "Crowd", "PublicCrowd", "SimulatedCrowd", "accuracies"]

FRESH = 1.05
"""A result is made when there are this many times the reports of the one before."""

_CROWD, _NOISE, _ORDER = range(3)

Truths = npt.NDArray[Any]


class Crowd(Protocol):
    """Answers of every worker to every task, and how workers come.

    A worker answers `block` tasks at a visit, and comes `visits` times.
    """

    @property
    def block(self) -> int: ...
    @property
    def visits(self) -> int: ...
    def draw(self, seed: int) -> tuple[Reports, Truths]: ...


@dataclass(frozen=True, slots=True)
class SimulatedCrowd:
    """Workers of a simulated crowd, each of whom comes once."""

    crowd: CategoricalCrowd
    block: int
    visits: int = 1

    def draw(self, seed: int) -> tuple[Reports, Truths]:
        """Everybody's answer to every task, for the same seed the same."""
        crowd = replace(self.crowd, redundancy=self.crowd.workers, seed=seed % 2**31)
        answers, gold = generate(crowd)
        return answers, gold.truths[answers.tasks]


@dataclass(frozen=True, slots=True)
class PublicCrowd:
    """A public dataset in which every worker answered every task. Workers come several times."""

    dataset: Dataset
    block: int
    visits: int

    def draw(self, seed: int) -> tuple[Reports, Truths]:
        """The dataset, for any seed."""
        return self.dataset.draw(seed)


def accuracies(
    crowd: Crowd, epsilon: float, marks: tuple[float, ...], by_need: bool, trial: int, seed: int
) -> list[float]:
    """The accuracy at each mark, the mean number of answers per task."""
    answers, truths = crowd.draw(trial_seed(seed, _CROWD, trial))
    tasks = len(answers.tasks)
    policy = make_policy(answers.domain, "randomized-response", Target(epsilon, answers=tasks))
    reports = perturb(answers, policy, SeededRandomness(trial_seed(seed, _NOISE, trial)))
    campaign = _Campaign(reports, policy, np.zeros((len(answers.workers), tasks), np.bool_))
    found: list[float] = []
    order = np.random.default_rng(trial_seed(seed, _ORDER, trial))
    for _ in _visits(campaign, crowd, order, by_need=by_need):
        while len(found) < len(marks) and campaign.given.sum() >= marks[len(found)] * tasks:
            found.append(_accuracy(campaign.fitted(), reports, truths))
        if len(found) == len(marks):
            break
    return found


@dataclass(slots=True)
class _Campaign:
    """The reports that were asked for so far, and the latest result."""

    reports: Reports
    policy: Policy
    given: npt.NDArray[np.bool_]
    result: Result | None = None
    seen: int = 0

    def fitted(self) -> Result:
        """A result of all reports so far."""
        if self.result is None or self.seen < self.given.sum():
            asked = self.given[self.reports.worker, self.reports.task]
            columns = (getattr(self.reports, name)[asked] for name in ("worker", "task", "value"))
            worker, task, value = columns
            part = replace(self.reports, worker=worker, task=task, value=value, reading=None)
            self.result, self.seen = infer(part, policy=self.policy), int(self.given.sum())
        return self.result

    def needs(self) -> npt.NDArray[np.int64]:
        """The need of each task, as the server computes it."""
        # The server is an extra, and the catalogue of studies is shown without it.
        from sottovoce.server.campaigns.needs import doubt_of, needs_of
        from sottovoce.server.database.results import Columns

        counts = self.given.sum(axis=0)
        if self.given.sum() >= max(FRESH * self.seen, len(counts)):
            self.fitted()
        result = self.result
        if result is None or result.warnings or result.confidence is None:
            return needs_of(counts, 1 / (1.0 + counts))
        columns = replace(
            Columns.none(),
            place=np.arange(len(counts), dtype=np.int32),
            truth=np.asarray(result.truths),
            certainty=np.where(result.answers > 0, result.confidence, np.nan),
        )
        return needs_of(counts, doubt_of(columns, self.policy.domain, len(counts)))


def _visits(
    campaign: _Campaign, crowd: Crowd, order: np.random.Generator, *, by_need: bool
) -> Iterator[None]:
    """Workers in a random order, who answer the tasks that they are given."""
    from sottovoce.server.campaigns.needs import needed

    name = str(order.integers(2**62))
    alike = np.ones(len(campaign.reports.tasks), np.int64)
    for _ in range(crowd.visits):
        for worker in order.permutation(len(campaign.given)).tolist():
            own = np.flatnonzero(campaign.given[worker]).tolist()
            needs = campaign.needs() if by_need else alike
            tasks = needed(name, str(worker), needs, len(own) + crowd.block, own)
            campaign.given[worker, [task for task in tasks if needs[task]]] = True
            yield


def _accuracy(result: Result, reports: Reports, truths: Truths) -> float:
    """The share of right truths; a task without a report has the first label."""
    known = truths >= 0
    return float((np.asarray(result.truths)[known] == truths[known]).mean())
