from __future__ import annotations

import json
import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.laws.geometric import Geometric
from sottovoce.mechanisms.laws.task_profiles import integer_profiles, real_profiles
from sottovoce.mechanisms.matrix_factorization import MatrixFactorization
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.model import NULL, WORDS, Cells, Domain, FloatArray, Unit

STARS = Domain.ordinal(range(10))


def dense(codes: list[list[int]]) -> Cells:
    workers, tasks = len(codes), len(codes[0])
    return Cells(
        np.repeat(np.arange(workers, dtype=np.int32), tasks),
        np.tile(np.arange(tasks, dtype=np.int32), workers),
        np.array(codes, np.int32).ravel(),
        np.arange(workers),
        np.array([f"task {j}" for j in range(tasks)]),
    )


def tiny(dimension: int, resolution: int) -> MatrixFactorization:
    noise = Geometric.near(int(0.8 * WORDS), 12)
    return MatrixFactorization(
        2, 1, dimension, resolution, 1, noise.centre, noise.ratio, noise.reach
    )


def exact_law(law: MatrixFactorization, codes: tuple[int, ...], tasks: list[str]) -> FloatArray:
    """The law of z for one worker, from the integer table alone."""
    noise = Geometric(law.centre, law.ratio, law.reach)
    weights = np.concatenate([noise.weights[:0:-1], noise.weights]).astype(np.float64) / WORDS
    furthest = law.reach // 2
    profiles = integer_profiles(tasks, law.dimension, law.resolution, law.salt)
    offsets = np.array([0 if code == NULL else code - law.middle for code in codes])
    joint = np.ones(1)
    for total in np.clip(profiles @ offsets, -furthest, furthest):
        sent = np.clip(total + np.arange(-law.reach, law.reach + 1), -furthest, furthest)
        row = np.bincount(sent + furthest, weights, minlength=2 * furthest + 1)
        joint = np.multiply.outer(joint, row).ravel()
    return joint


@pytest.mark.parametrize(("dimension", "resolution"), [(1, 1), (1, 3), (2, 3)])
def test_no_submission_exceeds_the_guarantee_also_for_participation(
    dimension: int, resolution: int
) -> None:
    law, tasks = tiny(dimension, resolution), ["task 0", "task 1"]
    laws = {c: exact_law(law, c, tasks) for c in product((NULL, 0, 1, 2), repeat=2)}
    worst = {1: 0.0, 2: 0.0}
    for one, other in product(laws, repeat=2):
        changed = sum(a != b for a, b in zip(one, other, strict=True))
        if changed:
            loss = float(np.max(np.log(laws[one] / laws[other])))
            worst[changed] = max(worst[changed], loss)
    assert worst[1] <= law.guarantee(2, Unit.ANSWER).epsilon * (1 + 1e-12)
    assert worst[2] <= law.guarantee(2, Unit.WORKER).epsilon * (1 + 1e-12)
    assert worst[1] >= law.guarantee(2, Unit.ANSWER).epsilon * (1 - 1e-6)


@pytest.mark.slow  # a few targets are in the contracts
@settings(max_examples=15, deadline=None)
@given(
    epsilon=st.floats(0.01, 30.0),
    delta=st.sampled_from([0.0, 1e-6, 0.3]),
    answers=st.sampled_from([1, 5, 400]),
    unit=st.sampled_from(Unit),
    steps=st.sampled_from([1, 9, 1000]),
)
def test_calibration_lands_just_below_the_target(
    epsilon: float, delta: float, answers: int, unit: Unit, steps: int
) -> None:
    domain = Domain.numeric(0, steps, step=1)
    law = MatrixFactorization.calibrated(domain, epsilon, unit=unit, delta=delta, answers=answers)
    held = law.guarantee(answers, unit, delta)
    assert epsilon - 1e-6 <= held.epsilon <= epsilon
    assert law.delta(epsilon, answers, unit) <= delta * (1 + 1e-9)


def test_profiles_come_from_names_and_salt_and_have_one_size() -> None:
    names = [f"task {j}" for j in range(40)]
    profiles = integer_profiles(names, 10, 256, "salt")
    assert (np.abs(profiles).sum(axis=0) == 256).all()
    assert (profiles[:, 7] == integer_profiles(["task 7"], 10, 256, "salt")[:, 0]).all()
    assert (profiles != integer_profiles(names, 10, 256, "pepper")).any()
    real = real_profiles(names, 10, "salt")
    assert np.abs(real).sum(axis=0) == pytest.approx(1.0)
    assert np.abs(profiles / 256 - real).max() < 1 / 256


@pytest.mark.statistical
def test_sums_follow_the_exact_law() -> None:
    law, tasks, workers = tiny(1, 3), ["task 0", "task 1"], 200_000
    codes = np.tile([2.0, NULL], (workers, 1))
    profiles = integer_profiles(tasks, 1, 3, "")
    sums = law.sums(codes, profiles, SeededRandomness(8))[:, 0].astype(int)
    seen = np.bincount(sums + law.reach // 2, minlength=law.reach + 1) / workers
    expected = exact_law(law, (2, NULL), tasks)
    assert (np.abs(seen - expected) <= 6 * np.sqrt(expected / workers)).all()


def test_with_little_noise_reports_are_the_answers_projected_on_the_profiles() -> None:
    codes = [[2, 9, 4, 4, 7, 0, 5, 3], [NULL, 1, NULL, NULL, 8, NULL, NULL, 4]]
    law = MatrixFactorization.calibrated(STARS, 3.0, dimension=4)
    # All words at the middle of the table draw no noise.
    reports = law.perturb(dense(codes), None, Fixed(WORDS // 2)).code.reshape(2, -1)
    profiles = integer_profiles(dense(codes).tasks, 4, law.resolution, "").astype(float)
    offsets = np.array([[0 if c == NULL else c - law.middle for c in row] for row in codes])
    gram = profiles @ profiles.T + law.ridge * np.eye(4)
    expected = law.middle + offsets @ profiles.T @ np.linalg.inv(gram) @ profiles
    assert reports == pytest.approx(expected, abs=1e-9)


class Fixed:
    """The same word again and again."""

    simulated = True

    def __init__(self, word: int) -> None:
        self.word = word

    def words(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        return np.full(count, self.word, np.uint64)


def published_loss(reach: float, answered: bool) -> float:
    """|ln f(u | answered) / f(u | other)| at |u| = reach for P4 Alg. 2, d = 3 (density of u)."""
    profiles = real_profiles([f"task {j}" for j in range(8)], 3, "")
    values, scale = np.arange(8.0), 10.0
    u = np.full(3, reach / math.sqrt(3))

    def log_density(tasks: slice, first: float) -> float:
        v, a = profiles[:, tasks], np.concatenate([[first], values[1:]])[tasks]
        hessian = v @ v.T
        noise = v @ a - hessian @ u
        return float(np.log(np.linalg.det(hessian)) - np.abs(noise).sum() / scale)

    every = slice(0, None)
    other = (every, 9.0) if answered else (slice(1, None), 0.0)
    return abs(log_density(every, 0.0) - log_density(*other))


def test_the_published_form_has_an_unbounded_loss_for_participation() -> None:
    losses = [published_loss(10.0**power, answered=False) for power in (1, 2, 3, 4, 5)]
    assert losses[-1] > 100
    assert losses[-1] == pytest.approx(10 * losses[-2], rel=0.05)


def test_the_published_form_keeps_its_epsilon_between_two_values() -> None:
    paper = MatrixFactorization.as_published(STARS, 1.0, dimension=3)
    losses = [published_loss(10.0**power, answered=True) for power in range(6)]
    assert max(losses) <= paper.value_epsilon + 1e-6
    assert paper.value_epsilon == pytest.approx(0.9)


def test_the_published_form_promises_nothing_and_says_what_it_claimed() -> None:
    paper = MatrixFactorization.as_published(Domain.ordinal([0, 100]), 1.0)
    for unit in Unit:
        assert paper.guarantee(5, unit, 0.1).epsilon == math.inf
        assert paper.delta(1.0, 5, unit) == 1.0
    assert paper.claim().epsilon == 1.0
    assert paper.value_epsilon == pytest.approx(50.0)


def test_the_published_form_refuses_workers_with_too_few_answers_unless_ridged() -> None:
    cells = dense([[1, 2, 3, 4], [NULL, 2, NULL, NULL]])
    paper = MatrixFactorization.as_published(STARS, 1.0, dimension=3)
    with pytest.raises(DataError, match="1 of 2 workers answer fewer than 3 tasks"):
        paper.perturb(cells, None, SeededRandomness(1))
    ridged = MatrixFactorization.as_published(STARS, 1.0, dimension=3, ridge=0.5)
    assert np.isfinite(ridged.perturb(cells, None, SeededRandomness(1)).code).all()


def test_the_published_form_finds_the_minimum() -> None:
    domain = Domain.numeric(-3, 3, step=1)
    paper = MatrixFactorization.as_published(domain, 1e12, dimension=2)
    cells = dense([[0, 6, 3, 2, 5, 1, 1, 4]])
    reports = paper.perturb(cells, None, SeededRandomness(2)).code
    profiles = real_profiles(cells.tasks, 2, "")
    values = cells.code - 3.0
    best = np.linalg.lstsq(profiles.T, values, rcond=None)[0] @ profiles
    assert reports == pytest.approx(best + 3, abs=1e-6)


@pytest.mark.parametrize(
    "law",
    [
        MatrixFactorization.calibrated(STARS, 1.0, salt="é"),
        MatrixFactorization.as_published(Domain.numeric(-1, 1, 0.25), 0.5, ridge=0.1),
    ],
    ids=["sound", "as-published"],
)
def test_either_form_is_written_without_floats_and_read_again(
    law: MatrixFactorization | PublishedFactorization,
) -> None:
    written = json.dumps(law.as_json())
    assert MatrixFactorization.of_json(json.loads(written, parse_float=pytest.fail)) == law


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"form": "other"}, "form must be sound or as-published"),
        ({"reach": 17}, "reach must be"),
        ({"middle": 10}, "middle must be an integer from 0 to 9"),
        ({"dimension": 0}, "dimension must be"),
        ({"salt": 5}, "salt must be a text"),
        ({"ridge": 0}, "ridge must be"),
    ],
)
def test_other_documents_are_refused(change: dict[str, object], words: str) -> None:
    document = MatrixFactorization.calibrated(STARS, 1.0).as_json()
    with pytest.raises(UsageError, match=words):
        MatrixFactorization.of_json({**document, **change})


def test_cells_that_are_not_all_there_are_refused() -> None:
    law = MatrixFactorization.calibrated(STARS, 1.0)
    full = dense([[1, 2], [3, NULL]])
    some = Cells(full.worker[1:], full.task[1:], full.code[1:], full.workers, full.tasks)
    with pytest.raises(UsageError, match="give every worker with every task"):
        law.perturb(some, None, SeededRandomness(1))
    assert law.perturb(some.dense(), None, SeededRandomness(1)).code.shape == (4,)


def test_the_published_form_is_no_target_for_calibration() -> None:
    with pytest.raises(UsageError, match="keeps no finite epsilon"):
        PublishedFactorization.calibrated(STARS, 1.0)
