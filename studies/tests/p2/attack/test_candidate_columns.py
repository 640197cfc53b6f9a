"""Candidate columns: the true one is always among them, whatever was opened."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from sottovoce.api.simulate_private_em import simulate_private_em
from sottovoce.errors import DataError
from sottovoce.model import Domain, Reports
from sottovoce.model.reports import Repeats
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce_studies.p2.attack.contributions import Contributions
from sottovoce_studies.p2.attack.integer_span import Integers
from sottovoce_studies.p2.attack.transcript_attack import Recovery, label_counts, recover_labels
from sottovoce_studies.p2.real_transcripts import gold_answers


@dataclass(frozen=True, slots=True)
class Drawn:
    """A crowd, and what is opened of its private EM."""

    workers: int
    tasks: int
    share: float
    labels: int
    repeated: float
    mode: str
    scale: int
    rounds: int

    @classmethod
    def of(cls, rng: np.random.Generator) -> Drawn:
        mode = str(rng.choice(["as_published", "log_odds"]))
        return cls(
            int(rng.integers(3, 11)),
            int(rng.integers(6, 60)),
            float(rng.choice([1.0, 0.8, 0.5, 0.3])),
            int(rng.choice([2, 2, 2, 3])),
            float(rng.choice([0.0, 0.0, 0.1, 0.4])),
            mode,
            10 ** int(rng.choice([0, 1, 3, 6, 10] + [14] * (mode == "as_published"))),
            int(rng.choice([1, 2, 5, 15, 40])),
        )

    def answers(self, rng: np.random.Generator) -> Reports:
        """Workers of different abilities, one of whom may always give the same label."""
        truth = rng.integers(0, self.labels, self.tasks)
        ability = rng.uniform(0.4, 0.95, self.workers)
        times = (rng.random((self.workers, self.tasks)) < self.share).astype(np.int64)
        times[:, 0] = 1
        times += times * (rng.random(times.shape) < self.repeated)
        worker, task = (
            np.repeat(each, times.ravel()) for each in np.indices(times.shape).reshape(2, -1)
        )
        right = rng.random(len(worker)) < ability[worker]
        value = np.where(right, truth[task], rng.integers(0, self.labels, len(worker)))
        if rng.random() < 0.2:
            value[worker == 0] = 1
        domain = Domain.categorical(tuple(range(self.labels)))
        return Reports.of(worker, task, value, domain=domain)


def symmetric(rng: np.random.Generator) -> Reports:
    """Two workers whose probabilities are equal in every round, though their tasks differ.

    Tasks come in pairs on which all others agree, and the two workers give opposite labels.
    """
    others = int(rng.integers(3, 6))
    alike, single = [0, 1], [[0], [1]]
    rows: list[tuple[int, int, int]] = []
    task = 0
    for shared in [True] * int(rng.integers(6, 12)) + [False] * 3:
        truth = int(rng.integers(2))
        wrong = rng.random(others) < 0.25
        said = [
            (worker + 2, truth ^ int(wrong[worker]))
            for worker in range(others)
            if rng.random() < 0.85
        ]
        own = int(rng.integers(2))
        for half in (0, 1):
            pair = alike if shared else single[half]
            rows += [(worker, task, value) for worker, value in said]
            rows += [(worker, task, own ^ (half ^ worker if shared else 0)) for worker in pair]
            task += 1
    worker, tasks, value = np.array(rows).T
    return Reports.of(worker, tasks, value, domain=Domain.categorical((0, 1)))


def is_sound(recovery: Recovery, given: Integers) -> bool:
    """Whether every worker's column is among its candidates, and known columns are true."""
    for group in recovery.groups:
        if group.columns is None:
            continue
        left = {column.tobytes() for column in group.columns}
        own = [given[worker].tobytes() for worker in group.workers]
        if not left.issuperset(own):
            return False
        if group.known and sorted(column.tobytes() for column in group.columns) != sorted(own):
            return False
    return True


@pytest.mark.parametrize(
    "seed", [*range(20), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(20, 200))]
)
def test_the_true_column_is_among_the_candidates(seed: int) -> None:
    rng = np.random.default_rng([2206, seed])
    drawn = Drawn.of(rng)
    answers = drawn.answers(rng)
    run = simulate_private_em(
        answers, suite="plain", mode=drawn.mode, scale=drawn.scale, rounds=drawn.rounds,
        assignments=True,
    )  # fmt: skip
    recovery = recover_labels(run.transcript)
    score = recovery.score(answers)
    assert is_sound(recovery, label_counts(answers, run.terms)[1]), drawn
    assert score.certain == score.certain_right == recovery.certain, drawn


@pytest.mark.parametrize("rounds", [1, 3, 10])
@pytest.mark.parametrize(
    "seed", [11, 27, 32, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(33, 60))]
)
def test_the_true_column_is_among_the_candidates_where_two_workers_are_alike(
    seed: int, rounds: int
) -> None:
    """Here relations that only hold for the sum of both would complete the span wrongly."""
    answers = symmetric(np.random.default_rng([2207, seed]))
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", rounds=rounds, assignments=True
    )
    recovery = recover_labels(run.transcript)
    score = recovery.score(answers)
    assert is_sound(recovery, label_counts(answers, run.terms)[1])
    assert score.certain == score.certain_right == recovery.certain


def test_columns_that_few_rounds_make_likely_are_found_and_not_counted() -> None:
    drawn = Drawn(5, 60, 0.7, 2, 0.0, "as_published", 10**10, 2)
    answers = drawn.answers(np.random.default_rng(8))
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", rounds=2, assignments=True
    )
    recovery = recover_labels(run.transcript)
    assert (recovery.score(answers).owned, recovery.reproduced) == (5, True)
    assert (recovery.proven, recovery.certain) == (0, recovery.unanimous_labels)
    assert {leak.candidates for leak in recovery.leaks} == {None}


def test_drawn_workers_have_one_candidate_at_the_papers_scale() -> None:
    rng = np.random.default_rng(6)
    drawn = Drawn(10, 60, 0.5, 2, 0.0, "as_published", 10**10, 15)
    run = simulate_private_em(
        drawn.answers(rng), suite="plain", mode="as_published", rounds=15, assignments=True
    )
    assert [leak.candidates for leak in recover_labels(run.transcript).leaks] == [1] * 10


def test_contributions_are_those_that_workers_send() -> None:
    rng = np.random.default_rng(7)
    for mode, scale in (("as_published", 10**10), ("log_odds", 1000)):
        answers = Drawn(4, 30, 0.6, 3, 0.4, mode, scale, 5).answers(rng)
        run = simulate_private_em(answers, suite="plain", mode=mode, scale=scale, rounds=5)
        theirs = Contributions.of(run.transcript)
        _, given = label_counts(answers, run.terms)
        tasks = np.arange(30)
        total = sum(
            np.rint(theirs.numbers(column, steps, tasks))
            for column, steps in zip(given, theirs.steps(given), strict=True)
        )
        assert np.array_equal(total, theirs.totals)


def test_a_number_near_a_half_is_unsure() -> None:
    answers = Drawn(4, 30, 0.6, 2, 0.0, "as_published", 10**10, 5).answers(np.random.default_rng(7))
    run = simulate_private_em(answers, suite="plain", mode="as_published", rounds=2)
    theirs = Contributions.of(run.transcript)
    assert theirs.unsure(np.array([3.499, 3.5, 3.1])).tolist() == [True, True, False]


def test_totals_that_no_workers_can_have_sent_narrow_nothing() -> None:
    answers = Drawn(6, 50, 0.6, 2, 0.0, "as_published", 10**10, 10).answers(
        np.random.default_rng(3)
    )
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", rounds=10, assignments=True
    )
    assert {leak.candidates for leak in recover_labels(run.transcript).leaks} == {1}
    opened = list(run.transcript.opened)
    changed = opened[4].totals.copy()
    changed[::3] += 10**6
    opened[4] = OpenedSum(changed, opened[4].workers)
    other = recover_labels(replace(run.transcript, opened=tuple(opened[:5])))
    assert {leak.candidates for leak in other.leaks} == {None}
    assert other.columns == 0


def test_assignments_that_do_not_fit_the_counts_are_not_used() -> None:
    answers = Drawn(6, 50, 0.6, 2, 0.0, "as_published", 10**10, 10).answers(
        np.random.default_rng(3)
    )
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", rounds=10, assignments=True
    )
    names = run.transcript.assignments or {}
    cut = {name: tasks[1:] for name, tasks in names.items()}
    assert recover_labels(replace(run.transcript, assignments=cut)).leaks == ()


def test_a_worker_who_only_gives_one_label_leaves_columns_uncounted() -> None:
    """The rank is then too small to prove that the totals span all labels."""
    rng = np.random.default_rng(6)
    answers = Drawn(6, 50, 0.6, 2, 0.0, "as_published", 10**10, 15).answers(rng)
    value = np.where(answers.worker == 2, 1, answers.value)
    constant = Reports.of(answers.worker, answers.task, value, domain=answers.domain)
    run = simulate_private_em(
        constant, suite="plain", mode="as_published", rounds=15, assignments=True
    )
    recovery = recover_labels(run.transcript)
    assert (recovery.rank, recovery.needed) == (11, 12)
    assert {leak.candidates for leak in recovery.leaks} == {None}
    assert (recovery.score(constant).owned, recovery.reproduced) == (6, True)


def gold_tasks(name: str, repeats: Repeats) -> Reports:
    try:
        return gold_answers(name, repeats)
    except DataError:
        pytest.skip(f"needs the dataset {name} (SOTTOVOCE_DATA)")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "repeats"), [("duchenne", "first"), ("duchenne", "keep")])
def test_every_worker_of_duchenne_is_found(name: str, repeats: Repeats) -> None:
    answers = gold_tasks(name, repeats)
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", scale=10**10, assignments=True
    )
    recovery = recover_labels(run.transcript)
    score = recovery.score(answers)
    assert (score.owned, recovery.proven, score.certain_right) == (17, 17, len(answers))


@pytest.mark.slow
@pytest.mark.parametrize("assignments", [True, False])
def test_every_column_of_bluebirds_is_found_without_its_name(assignments: bool) -> None:
    """Too few rounds are opened for a proof, but the columns reproduce every total."""
    answers = gold_tasks("bluebirds", "first")
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", scale=10**10, assignments=assignments
    )
    recovery = recover_labels(run.transcript)
    assert (recovery.score(answers).exact, recovery.linked) == (39, ())
    assert (recovery.proven, recovery.reproduced) == (0, True)
