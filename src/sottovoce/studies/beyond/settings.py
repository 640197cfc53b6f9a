"""The settings of `aware-vs-papers`: what is drawn, which pair is ours, and the figure to reach."""

from __future__ import annotations

from dataclasses import dataclass

from sottovoce.datasets import NumericCrowd, SparseCrowd
from sottovoce.model import Domain, Kind
from sottovoce.planning.pipelines import Pair, papers
from sottovoce.studies.contests import Contest
from sottovoce.studies.sources import Dataset, LabelCrowd, Simulated, Source

__all__ = ["Setting", "settings"]

RESPONSE = Pair("randomised response + aware", "randomized-response")
SUBSETS = Pair("subset selection + aware", "subset-selection")
BINS = Pair("subset selection over 10 bins + aware", "subset-selection", parameters={"bins": 10})
THRESHOLD = Pair("threshold + aware", "threshold")
BEYOND = Pair("subset selection + aware", "subset-selection", "aware-numbers",
              settings={"beyond": 0.35})  # fmt: skip
"""Half of P4's truths lie below the least answer: the grid of truths goes as far beyond it."""

VOTE = papers(Domain.categorical("ab"))[:1]
GAUSSIAN_AND_LAPLACE = tuple(pair for pair in papers(Domain.numeric(0, 1)) if pair.method == "crh")
P4 = papers(Domain.ordinal("ab"), hide_participation=True)

LABELS, NUMBERS = "Labels, error rate", "Numbers (P3's setting), MAE"
SPARSE, REAL = (
    "Sparse with private NULLs (m 2,000, n 200, labels 0..9), MAE",
    "Real data, error rate",
)


@dataclass(frozen=True, slots=True)
class Setting:
    """One row: a contest of our pair with the papers', and the error that ours is to reach.

    `contest` is None where its dataset is not in the cache. `quick` rows are those of quick runs.
    """

    part: str
    name: str
    epsilon: float
    figure: float
    ours: Pair
    contest: Contest | None
    quick: bool = False


def settings() -> list[Setting]:
    """Every row of the study; datasets are looked for in the cache."""
    return [*_labels(), *_numbers(), *_sparse(), *_real()]


def _labels() -> list[Setting]:
    def row(
        name: str, crowd: LabelCrowd, epsilon: float, figure: float, ours: Pair, quick: bool = False
    ) -> Setting:
        return _setting(LABELS, name, crowd, epsilon, figure, ours, VOTE, quick=quick)

    few = LabelCrowd(100, 300, 60, 5, "heterogeneous")
    alike = LabelCrowd(200, 300, 60, 20, "homogeneous")
    many = LabelCrowd(200, 300, 60, 20, "heterogeneous")
    return [
        row("m 100, n 300, k 60, s 5, heterogeneous", few, 2, 0.092, RESPONSE, quick=True),
        row("m 100, n 300, k 60, s 5, heterogeneous", few, 3, 0.018, RESPONSE),
        row("m 200, n 300, k 60, s 20, homogeneous", alike, 1, 0.43, SUBSETS),
        row("m 200, n 300, k 60, s 20, heterogeneous", many, 2, 0.10, SUBSETS, quick=True),
    ]


def _numbers() -> list[Setting]:
    crowd = Simulated(NumericCrowd(workers=150, tasks=30, inset=1.0, clip=True))
    name = "m 150, n 30, truths U(1, 9), range 0..10"
    return [
        _setting(NUMBERS, name, crowd, epsilon, figure, BINS, GAUSSIAN_AND_LAPLACE, quick=quick)
        for epsilon, figure, quick in ((1, 0.36, False), (2, 0.15, True), (4, 0.08, False))
    ]


def _sparse() -> list[Setting]:
    def row(sparsity: float, epsilon: float, figure: float, ours: Pair, *,
            uniform: bool, quick: bool = False) -> Setting:  # fmt: skip
        truths = (1.0, 8.0) if uniform else None
        crowd = SparseCrowd(sparsity=sparsity, kind=Kind.ORDINAL, truths=truths)
        name = f"truths {'U(1, 8)' if uniform else 'N(0, 1)'}, sparsity {sparsity:g}"
        source = Simulated(crowd)
        return _setting(SPARSE, name, source, epsilon, figure, ours, P4, hide=True, quick=quick)

    return [
        row(0.9, 2, 0.62, THRESHOLD, uniform=True),
        row(0.9, 4, 0.20, SUBSETS, uniform=True, quick=True),
        row(0.5, 1, 0.34, SUBSETS, uniform=True),
        row(0.5, 1, 0.40, BEYOND, uniform=False),
        row(0.9, 4, 0.26, BEYOND, uniform=False),
    ]


def _real() -> list[Setting]:
    rows = (("rte", 1, 0.22), ("rte", 2, 0.107), ("bluebirds", 2, 0.145), ("duchenne", 1, 0.35))
    return [
        _setting(
            REAL, name, Dataset.of(name), epsilon, figure, RESPONSE, VOTE, quick=name == "bluebirds"
        )
        for name, epsilon, figure in rows
    ]


def _setting(
    part: str,
    name: str,
    source: Source | None,
    epsilon: float,
    figure: float,
    ours: Pair,
    theirs: tuple[Pair, ...],
    *,
    hide: bool = False,
    quick: bool = False,
) -> Setting:
    contest = None if source is None else Contest(source, epsilon, (ours, *theirs), hide)
    return Setting(part, name, epsilon, figure, ours, contest, quick)
