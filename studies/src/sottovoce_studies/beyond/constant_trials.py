"""Settings of `best-constant`: those of each paper, and the other datasets with known truths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.datasets import NumericCrowd, SparseCrowd
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Kind, Reports
from sottovoce.planning.pipelines import P3_DELTA, Pipeline, papers, true_guarantee
from sottovoce.planning.trials import best_constant, run_trial, trial_seed
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Dataset, Simulated, Source
from sottovoce_studies.p1.crowds import PeerGrades

__all__ = [
    "CLEAN",
    "MF",
    "OWN",
    "Arena",
    "Group",
    "ScoredDataset",
    "arenas",
    "clean",
    "true_epsilon",
]

Group: TypeAlias = Literal["P1", "P3", "P4", "other data"]

OWN = "2,000 x 200, truths N(0, 1)"
"""P4's synthetic crowd (§VI-A)."""

CLEAN = "clean"

_ANSWERS, _TIES = 0, 2
"""Positions among the seeds of a trial; that of its answers is the same as in contests."""

RESPONSE = Pipeline("randomised response + aware", "randomized-response")
SUBSETS = Pipeline("subset selection + aware", "subset-selection")
BINS = Pipeline(
    "subset selection over 10 bins + aware", "subset-selection", parameters={"bins": 10}
)
BEYOND = Pipeline(
    "subset selection + aware", "subset-selection", "aware-numbers", settings={"beyond": 0.35}
)
"""Half of P4's truths are below the smallest answer, so the grid of truths extends beyond it."""

ONE_LAYER, TWO_LAYER = (
    next(pair for pair in papers(Domain.categorical("ab")) if pair.name == name)
    for name in ("one-layer + TD", "two-layer as published + TD")
)
GAUSSIAN = Pipeline(
    "random variance as published + CRH",
    "random-variance-gaussian",
    "crh",
    delta=P3_DELTA,
    published=True,
)
SPARSE = papers(Domain.ordinal("ab"), hide_participation=True)
MF = next(pair for pair in SPARSE if pair.mechanism == "matrix-factorization").name


SCORES = 5


@dataclass(frozen=True, slots=True)
class ScoredDataset:
    """A dataset whose labels, in their order, are scores 0, 1, … up to 4, for P4's MAE.

    P4 says that its datasets have five scores; 3 and 4 of them occur in the public ones.
    """

    dataset: Dataset

    @classmethod
    def of(cls, name: str) -> ScoredDataset | None:
        """The dataset, or None if it is not in the cache."""
        dataset = Dataset.of(name)
        return None if dataset is None else cls(dataset)

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        answers, codes = self.dataset.draw(seed)
        scores = Reports.of(
            answers.worker,
            answers.task,
            answers.value,
            domain=Domain.ordinal(range(SCORES)),
            workers=answers.workers,
            tasks=answers.tasks,
        )
        return scores, np.where((codes >= 0) & (codes < SCORES), codes, np.nan)


@dataclass(frozen=True, slots=True)
class Arena:
    """A setting for comparing pipelines with the constant: its paper, answers, theirs and ours.

    `source` is None if its dataset is not in the cache. `trials` are the numbers for theirs and
    ours in a full run; large crowds have fewer.
    """

    group: Group
    name: str
    unit: str
    source: Source | None
    theirs: tuple[Pipeline, ...]
    ours: Pipeline
    trials: tuple[int, int] = (20, 20)
    hide: bool = False

    @property
    def drawn(self) -> bool:
        """Whether answers are drawn in every trial."""
        return not isinstance(self.source, Dataset | ScoredDataset)


def clean(source: Source, method: str, trial: int, seed: int) -> dict[str, float]:
    """The error of a method on the trial's answers themselves, and of their best constant."""
    answers, truths = source.draw(trial_seed(seed, _ANSWERS, trial))
    error = run_trial(answers, truths, None, method, trial_seed(seed, _TIES, trial)).error
    return {CLEAN: error, CONSTANT: best_constant(truths).error}


def true_epsilon(
    source: Source, pair: Pipeline, epsilon: float, hide: bool
) -> dict[str, float | None]:
    """The true ε per answer of a pair for the busiest worker; None if none holds.

    It is at the pair's delta if it has one, else at 0.
    """
    answers, _ = source.draw(0)
    busiest = len(answers.tasks) if hide else int(np.bincount(answers.worker).max())
    target = Target(epsilon, delta=pair.delta or 0.0, answers=busiest, hide_participation=hide)
    true = true_guarantee(pair.policy(answers.domain, target), target).epsilon
    return {"epsilon": true if math.isfinite(true) else None}


def arenas() -> list[Arena]:
    """Every setting, with datasets from the cache."""
    return [*_p1(), *_p3(), *_p4(), *_others()]


def _p1() -> list[Arena]:
    sources = (("Duchenne", Dataset.of("duchenne")), ("peer grades (stand-in)", PeerGrades()))
    return [
        Arena("P1", name, "error rate", source, (ONE_LAYER, TWO_LAYER), RESPONSE)
        for name, source in sources
    ]


def _p3() -> list[Arena]:
    crowd = Simulated(NumericCrowd(workers=150, tasks=30, inset=1.0, clip=True))
    return [Arena("P3", "150 x 30, truths U(1, 9)", "MAE", crowd, (GAUSSIAN,), BINS)]


def _p4() -> list[Arena]:
    def crowd(truths: tuple[float, float] | None) -> Simulated:
        return Simulated(SparseCrowd(sparsity=0.9, kind=Kind.ORDINAL, truths=truths))

    rows: tuple[tuple[str, Source | None, Pipeline, tuple[int, int]], ...] = (
        (OWN, crowd(None), BEYOND, (10, 5)),
        ("2,000 x 200, truths U(1, 8)", crowd((1.0, 8.0)), SUBSETS, (10, 5)),
        ("Web", ScoredDataset.of("wsd"), SUBSETS, (10, 5)),
        ("AdultContent", ScoredDataset.of("adult2"), SUBSETS, (2, 2)),
    )
    return [
        Arena("P4", name, "MAE", source, SPARSE, ours, trials, hide=True)
        for name, source, ours, trials in rows
    ]


def _others() -> list[Arena]:
    """P1's pipelines on labels, P3's on numbers."""
    labels = {"bluebirds": 10, "rte": 10, "dog": 10, "trec2010": 4}
    ranges = {"emotion": (-100.0, 100.0), "calories": (0.0, 5000.0), "peer_grades": (0.0, 14.0)}
    return [
        *(
            Arena(
                "other data",
                name,
                "error rate",
                Dataset.of(name),
                (ONE_LAYER, TWO_LAYER),
                RESPONSE,
                (trials, trials),
            )
            for name, trials in labels.items()
        ),
        *(
            Arena(
                "other data", name, "MAE", Dataset.of(name, bounds), (GAUSSIAN,), SUBSETS, (10, 5)
            )
            for name, bounds in ranges.items()
        ),
    ]
