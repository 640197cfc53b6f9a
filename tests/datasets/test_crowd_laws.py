"""Crowds draw by the laws that their docstrings state.

Bounds are 7 standard deviations of the statistic, worst case where it depends on a parameter: a
normal law leaves them with probability 2.6e-12, and each test looks at no more than 20 numbers.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest

from sottovoce.datasets import Ability, CategoricalCrowd, NumericCrowd, SparseCrowd, generate
from sottovoce.datasets.seeded_randomness import cells, distinct
from sottovoce.model import FloatArray, Kind

SIGMAS = 7
pytestmark = pytest.mark.statistical


def share_bound(probability: float, draws: int) -> float:
    return SIGMAS * math.sqrt(probability * (1 - probability) / draws)


def right(crowd: CategoricalCrowd) -> npt.NDArray[np.bool_]:
    """Whether each answer is right, one row per task."""
    reports, gold = generate(crowd)
    correct: npt.NDArray[np.bool_] = reports.value == gold.truths[reports.task]
    return correct.reshape(crowd.tasks, crowd.redundancy)


@pytest.mark.parametrize(("size", "population"), [(3, 7), (5, 7), (1, 4), (4, 8), (7, 7)])
def test_each_set_of_workers_is_as_likely(size: int, population: int) -> None:
    rows = 200_000
    drawn = distinct(np.random.default_rng(31), rows, size, population)
    masks, counts = np.unique((1 << drawn).sum(axis=1), return_counts=True)
    sets = math.comb(population, size)
    assert len(masks) == sets
    # Chi-square with sets − 1 degrees of freedom; a tail bound of Laurent & Massart (2000):
    # P(χ² > d + 2 √(d x) + 2 x) ≤ e^(−x), with x = 25, so 1.4e-11.
    freedom, x = sets - 1, 25
    chi_square = np.square(counts - rows / sets).sum() / (rows / sets)
    assert chi_square <= freedom + 2 * math.sqrt(freedom * x) + 2 * x


@pytest.mark.parametrize("density", [0.003, 0.3, 0.9, 1.0])
def test_each_cell_is_there_with_its_probability(density: float) -> None:
    rows, columns = 4, 250_000
    row, column = cells(np.random.default_rng(32), rows, columns, density)
    assert len(row) / (rows * columns) == pytest.approx(
        density, abs=share_bound(density, rows * columns)
    )
    for counts, draws in (
        (np.bincount(row, minlength=rows), columns),
        (np.bincount(column // (columns // 10), minlength=10), rows * columns // 10),
    ):
        assert counts / draws == pytest.approx(density, abs=share_bound(density, draws))


@pytest.mark.parametrize(
    ("ability", "mean"),
    [
        ("homogeneous", 0.7),
        ("heterogeneous", 0.7),
        ("spammers", 0.8 * 0.7 + 0.2 / 4),
        ("adversaries", 0.8 * 0.7 + 0.2 / 8),
    ],
)
def test_abilities_have_the_stated_mean(ability: Ability, mean: float) -> None:
    crowd = CategoricalCrowd(workers=100_000, labels=4, ability=ability, seed=33)
    # The Beta law has m = 0.6, so a deviation of 0.75 √(0.6 · 0.4 / 5) = 0.165 at most.
    assert crowd.abilities().mean() == pytest.approx(mean, abs=SIGMAS * 0.165 / math.sqrt(1e5))


@pytest.mark.parametrize(("ability", "level"), [("spammers", 1 / 4), ("adversaries", 1 / 8)])
def test_the_odd_share_is_exact_and_the_rest_is_above_chance(
    ability: Ability, level: float
) -> None:
    abilities = CategoricalCrowd(workers=1_000, ability=ability, share=0.3, seed=34).abilities()
    assert np.sum(abilities == level) == 300
    assert np.all(abilities[abilities != level] > 1 / 4)


def test_workers_are_right_as_often_as_their_ability_says() -> None:
    crowd = CategoricalCrowd(workers=10, tasks=60_000, ability="adversaries", seed=35)
    reports, gold = generate(crowd)
    correct = reports.value == gold.truths[reports.task]
    answered = np.bincount(reports.worker)
    shares = np.bincount(reports.worker, correct) / answered
    assert shares == pytest.approx(crowd.abilities(), abs=share_bound(0.5, answered.min()))


def test_errors_go_to_every_other_label_alike() -> None:
    crowd = CategoricalCrowd(tasks=60_000, labels=4, accuracy=0.4, ability="homogeneous", seed=36)
    reports, gold = generate(crowd)
    shift = (reports.value - gold.truths[reports.task]) % 4
    seen = np.bincount(shift, minlength=4) / len(reports)
    assert seen == pytest.approx([0.4, 0.2, 0.2, 0.2], abs=share_bound(0.4, len(reports)))


@pytest.mark.parametrize("imbalance", [1.0, 3.0, 50.0])
def test_the_first_label_is_as_much_more_common_as_stated(imbalance: float) -> None:
    crowd = CategoricalCrowd(tasks=200_000, redundancy=1, labels=5, imbalance=imbalance, seed=37)
    _, gold = generate(crowd)
    assert crowd.prior[0] / crowd.prior[-1] == pytest.approx(imbalance)
    seen = np.bincount(gold.truths, minlength=5) / crowd.tasks
    assert seen == pytest.approx(crowd.prior, abs=share_bound(0.5, crowd.tasks))


def test_difficulty_shrinks_every_task_towards_chance() -> None:
    crowd = CategoricalCrowd(
        tasks=40_000, labels=2, redundancy=20, ability="homogeneous", accuracy=0.9,
        difficulty=0.8, seed=38,
    )  # fmt: skip
    shares = right(crowd).mean(axis=1)
    # The mean over tasks: 1/2 + (1 − 0.8/2) 0.4; a task's share has a deviation below 1/2.
    assert shares.mean() == pytest.approx(0.74, abs=SIGMAS * 0.5 / math.sqrt(crowd.tasks))
    # Var(share) = Var(p) + E[p (1 − p)] / 20, with p = 0.5 + 0.4 e and e ~ Uniform(0.2, 1);
    # a share's square deviation lies in [0, 1/2], so its deviation is below 1/4.
    spread = 0.4**2 * 0.8**2 / 12
    expected = spread + (0.74 * 0.26 - spread) / 20
    assert shares.var() == pytest.approx(expected, abs=SIGMAS * 0.25 / math.sqrt(crowd.tasks))
    without = right(CategoricalCrowd(
        tasks=40_000, labels=2, redundancy=20, ability="homogeneous", accuracy=0.9, seed=38
    )).mean(axis=1)  # fmt: skip
    assert without.var() < shares.var()


def test_error_variances_are_exponential() -> None:
    variances = NumericCrowd(workers=200_000, lambda1=2.5, seed=39).variances()
    assert_distributed(variances, lambda x: 1 - np.exp(-2.5 * x))


def test_numeric_errors_have_their_workers_variance() -> None:
    crowd = NumericCrowd(workers=10, tasks=50_000, lambda1=0.5, low=-3, high=3, seed=40)
    reports, gold = generate(crowd)
    squares = np.square(reports.value - gold.truths[reports.task])
    found = np.bincount(reports.worker, squares) / crowd.tasks
    # A mean of n squared Gaussians has relative deviation √(2/n); 8 of them, for its skew.
    assert found == pytest.approx(crowd.variances(), rel=8 * math.sqrt(2 / crowd.tasks))
    assert_distributed(gold.truths, lambda x: (x + 3) / 6)


def test_numeric_answers_can_be_cut_to_the_range() -> None:
    reports, _ = generate(NumericCrowd(lambda1=0.1, clip=True, seed=41))
    assert (reports.value.min(), reports.value.max()) == (0, 10)
    free, _ = generate(NumericCrowd(lambda1=0.1, seed=41))
    np.testing.assert_array_equal(np.clip(free.value, 0, 10), reports.value)


@pytest.mark.parametrize("sparsity", [0.0, 0.5, 0.9, 0.99])
def test_the_stated_share_of_cells_is_empty(sparsity: float) -> None:
    crowd = SparseCrowd(sparsity=sparsity, seed=42)
    reports, _ = generate(crowd)
    total = crowd.workers * crowd.tasks
    assert 1 - len(reports) / total == pytest.approx(sparsity, abs=share_bound(sparsity, total))


def test_half_of_the_sparse_workers_are_poor() -> None:
    assert np.sum(SparseCrowd(workers=2_000, seed=43).deviations() == 5) == 1_000
    assert np.sum(SparseCrowd(workers=5, seed=43).deviations() == 5) == 2


def test_sparse_answers_are_rounded_and_cut() -> None:
    crowd = SparseCrowd(workers=400, tasks=2_000, sparsity=0.5, kind=Kind.ORDINAL, seed=44)
    reports, gold = generate(crowd)
    assert_distributed(gold.truths, lambda x: np.array([0.5 * math.erfc(-v / 2**0.5) for v in x]))
    for sigma in (crowd.good, crowd.poor):
        who = crowd.deviations()[reports.workers][reports.worker] == sigma
        seen = np.bincount(reports.value[who], minlength=10) / who.sum()
        # Over tasks an answer is N(0, 1 + σ²), cut at 0.5, 1.5 … 8.5. Answers to one task share its
        # truth, so the bound counts tasks (2,000), not answers.
        edges = [-math.inf, *np.arange(0.5, 9), math.inf]
        below = [0.5 * math.erfc(-edge / math.sqrt(2 * (1 + sigma**2))) for edge in edges]
        assert seen == pytest.approx(np.diff(below), abs=share_bound(0.5, crowd.tasks))


def assert_distributed(values: FloatArray, distribution: object) -> None:
    """Dvoretzky–Kiefer–Wolfowitz: P(sup |F̂ − F| > d) ≤ 2 exp(−2 n d²), here 1e-11."""
    assert callable(distribution)
    ordered = np.sort(values)
    gap = np.abs(np.arange(1, len(values) + 1) / len(values) - distribution(ordered)).max()
    assert gap <= math.sqrt(math.log(2e11) / (2 * len(values))) + 1 / len(values)
