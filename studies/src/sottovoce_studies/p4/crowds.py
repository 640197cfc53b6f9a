"""Answers for P4: its real datasets, found by their sizes, and the crowds of its examples.

P4's Web is the word-sense data of Snow et al. 2008: its sizes and sparsities, and its share of
truths with the first label, are those that P4 prints. The dataset that others call Web has 177
workers, not 177 tasks, and is a different one. Datasets are summarised, and used whole or
restricted to the tasks with known truth. In the worked examples all workers have the same quality,
and all tasks the same truth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import answer_cells
from sottovoce.model import Domain, Reports
from sottovoce.planning.trials import best_constant, error_of, trial_seed
from sottovoce_studies.contests import CONSTANT, Contest, trial_of
from sottovoce_studies.crowds import Dataset, Source
from sottovoce_studies.dataset_search import find
from sottovoce_studies.p4.factorization import Factorization

__all__ = [
    "DATASETS",
    "SCORES",
    "AlikeCrowd",
    "GoldAnswers",
    "Scored",
    "errors",
    "factored_errors",
    "public",
    "search_words",
    "summary",
]

DATASETS: Mapping[str, str] = MappingProxyType({"Web": "wsd", "AdultContent": "adult2"})
"""P4's names of the datasets, and their names in the cache."""

SCORES = 5
"""|Γ|: P4 says that both datasets have scores from 0 to 4; 3 and 4 of them occur."""

PLACES = 100
"""The number of equal steps at which the ordered workers are plotted."""


@dataclass(frozen=True, slots=True)
class AlikeCrowd:
    """A crowd whose workers all have one quality and whose tasks all have one truth (P4 §IV-V).

        answer = clip(round(truth + N(0, 1)), 0, 9),  NULL instead with probability `sparsity`

    Answers are the labels 0 … 9, Γ of the examples; a NULL is a missing row.
    """

    workers: int
    tasks: int
    truth: int
    sparsity: float

    def __post_init__(self) -> None:
        if not 0 <= self.sparsity < 1:
            raise UsageError(f"sparsity must be at least 0 and below 1, not {self.sparsity:g}")

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        rng = np.random.default_rng(seed)
        worker, task = np.nonzero(rng.random((self.workers, self.tasks)) >= self.sparsity)
        exact = self.truth + rng.standard_normal(len(worker))
        answers = Reports.of(
            worker,
            task,
            np.clip(np.rint(exact), 0, 9).astype(np.int32),
            domain=Domain.ordinal(range(10)),
            workers=np.arange(self.workers),
            tasks=np.arange(self.tasks),
        )
        return answers, np.full(self.tasks, float(self.truth))


def errors(contest: Contest, trial: int, seed: int) -> dict[str, float]:
    """The mean error to the truth of every pair in a trial, and of the best constant."""
    found = {pair.name: trial_of(contest, pair, trial, seed).error for pair in contest.pairs}
    _, truths = contest.source.draw(seed)
    return {**found, CONSTANT: best_constant(truths).error}


def factored_errors(
    crowd: AlikeCrowd, epsilon: float, variants: Sequence[Factorization], trial: int, seed: int
) -> dict[str, float]:
    """The mean error of each variant of MF in a trial; those without a minimum are left out."""
    answers, truths = crowd.draw(trial_seed(seed, 0, trial))
    cells, noise = answer_cells(answers, answers.domain).dense(), trial_seed(seed, 1, trial)
    found = {}
    for variant in variants:
        reports = variant.reports(cells, answers.domain, epsilon, f"{seed}/{trial}", noise)
        if reports is not None:
            policy = variant.policy(answers.domain, epsilon)
            found[variant.name] = error_of(infer(reports, "mean", policy=policy), truths)
    return {**found, CONSTANT: best_constant(truths).error}


@dataclass(frozen=True, slots=True)
class GoldAnswers:
    """The answers to tasks with gold, and the workers who gave one of them."""

    whole: Source

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        answers, truths = self.whole.draw(seed)
        known = np.flatnonzero(truths >= 0)
        rows = np.isin(answers.task, known)
        workers, worker = np.unique(answers.worker[rows], return_inverse=True)
        cut = Reports.of(
            worker,
            np.searchsorted(known, answers.task[rows]),
            answers.value[rows],
            domain=answers.domain,
            workers=answers.workers[workers],
            tasks=answers.tasks[known],
        )
        return cut, truths[known]


@dataclass(frozen=True, slots=True)
class Scored:
    """Labels in their order as the scores 0, 1, … of P4, on a scale from 0 to 4."""

    whole: Source

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        answers, truths = self.whole.draw(seed)
        scores = Reports.of(
            answers.worker,
            answers.task,
            answers.value,
            domain=Domain.ordinal(range(SCORES)),
            workers=answers.workers,
            tasks=answers.tasks,
        )
        return scores, truths


def search_words(workers: int, tasks: int) -> str:
    """The result of a search for a dataset of these sizes in the cache."""
    return str(find(workers=workers, tasks=tasks))


def public() -> dict[str, Dataset]:
    """The datasets in the cache, by P4's names."""
    found = {paper: Dataset.of(name) for paper, name in DATASETS.items()}
    return {paper: dataset for paper, dataset in found.items() if dataset is not None}


def summary(source: Source) -> dict[str, Any]:
    """Sparsity of the workers' answers, and shares of answers, truths and right answers.

    The sparsity of a worker is the share of tasks that it does not answer (P4 §VI-B).
    """
    answers, truths = source.draw(0)
    labels, tasks = answers.domain.size, len(answers.tasks)
    each = np.bincount(answers.worker, minlength=len(answers.workers))
    sparsity = 1 - each / tasks
    known = truths >= 0
    gold = truths[answers.task]
    correct = answers.value[gold >= 0] == gold[gold >= 0]
    return {
        "workers": len(answers.workers),
        "tasks": tasks,
        "answers": len(answers),
        "maximum sparsity": float(sparsity.max()),
        "minimum sparsity": float(sparsity.min()),
        "average sparsity": float(sparsity.mean()),
        "answered": _steps(np.sort(each / tasks)),
        "answer shares": _shares(answers.value, labels),
        "truth shares": _shares(truths[known], labels),
        "vote shares": _shares(_votes(answers), labels),
        "truths": int(known.sum()),
        "checked": len(correct),
        "correct": int(correct.sum()),
    }


def _steps(ordered: npt.NDArray[np.float64]) -> list[float]:
    places = np.linspace(0, len(ordered) - 1, PLACES + 1).round().astype(int)
    return [float(share) for share in ordered[places]]


def _shares(codes: npt.NDArray[Any], labels: int) -> list[float]:
    return [float(share) for share in np.bincount(codes, minlength=labels) / len(codes)]


def _votes(answers: Reports) -> npt.NDArray[Any]:
    """Each task's most frequent answer; the smallest one in a tie."""
    labels, tasks = answers.domain.size, len(answers.tasks)
    cells = answers.task.astype(np.int64) * labels + answers.value
    counts = np.bincount(cells, minlength=tasks * labels).reshape(tasks, labels)
    votes: npt.NDArray[Any] = np.argmax(counts, axis=1)
    return votes
