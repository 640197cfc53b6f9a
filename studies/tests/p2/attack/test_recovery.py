"""The attack on sums whose parts are known: columns, their owners, and what cannot be told."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce_studies.p2.attack.integer_span import Integers
from sottovoce_studies.p2.attack.recovery import (
    NONE,
    Observed,
    distinct,
    linked,
    recover,
    unanimous,
)


def crowd(seed: int, workers: int, tasks: int, share: float, labels: int = 2) -> Integers:
    """Label codes (workers, tasks), -1 where there is no answer."""
    rng = np.random.default_rng(seed)
    answers = rng.integers(0, labels, (workers, tasks))
    return np.where(rng.random((workers, tasks)) < share, answers, NONE)


def observed(
    answers: Integers, rounds: int, *, labels: int = 2, known: bool = True, most: int = 10**9
) -> Observed:
    """Counts, and in each round one random number of each worker for each of its labels."""
    rng = np.random.default_rng(0)
    parts = np.stack([answers == label for label in range(labels)]).astype(np.int64)
    counts = parts.sum(axis=1).T
    sizes = rng.integers(1, most, (rounds, *parts.shape[:2]))
    opened = np.einsum("rlw,lwt->rt", sizes, parts)
    assigned = answers != NONE if known else None
    return Observed(np.concatenate([counts.T, opened]), counts, labels, len(answers), assigned)


def same(found: Integers, answers: Integers) -> bool:
    return sorted(map(tuple, found.tolist())) == sorted(map(tuple, answers.tolist()))


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("share", [1.0, 0.6])
@pytest.mark.parametrize("known", [True, False])
def test_every_label_comes_out(labels: int, share: float, known: bool) -> None:
    answers = crowd(1, 5, 80, share, labels)
    seen = observed(answers, 20, labels=labels, known=known)
    found = recover(seen)
    assert found.outcome == "all"
    assert seen.rank == seen.needed
    assert same(found.columns, answers)


def test_two_rounds_are_enough_at_a_large_scale() -> None:
    answers = crowd(1, 10, 100, 1.0)
    seen = observed(answers, 2)
    found = recover(seen)
    assert (seen.rank, seen.needed, found.outcome) == (4, 11, "all")
    assert same(found.columns, answers)


def test_columns_are_their_owners_where_tasks_differ() -> None:
    answers = crowd(2, 6, 60, 0.6)
    found = recover(observed(answers, 20))
    assert found.owners == (0, 1, 2, 3, 4, 5)
    assert np.array_equal(found.columns, answers)


def test_columns_have_no_owner_where_everybody_has_the_same_tasks() -> None:
    found = recover(observed(crowd(2, 6, 60, 1.0), 20))
    assert set(found.owners) == {None}


def test_a_task_that_was_left_out_does_not_hide_its_worker() -> None:
    answers = crowd(2, 6, 60, 0.6)
    seen = observed(answers, 20)
    assert seen.assigned is not None
    assigned = seen.assigned.copy()
    assigned[0, np.flatnonzero(answers[0] == NONE)[0]] = True
    found = recover(Observed(seen.vectors, seen.counts, 2, 6, assigned))
    assert found.owners == (0, 1, 2, 3, 4, 5)


def test_two_workers_who_agree_in_everything_are_both_found() -> None:
    answers = crowd(3, 5, 60, 1.0)
    answers[1] = answers[0]
    assert same(recover(observed(answers, 12)).columns, answers)


def test_a_worker_who_says_the_opposite_is_found() -> None:
    answers = crowd(3, 5, 60, 1.0)
    answers[1] = 1 - answers[0]
    assert same(recover(observed(answers, 12)).columns, answers)


def test_a_worker_who_only_knows_one_label_is_found() -> None:
    answers = crowd(3, 5, 60, 0.7)
    answers[1] = np.where(answers[1] == NONE, NONE, 1)
    answers[2] = NONE
    found = recover(observed(answers, 12))
    assert same(found.columns, answers)


def test_counts_alone_give_unanimous_tasks_away_and_no_column() -> None:
    answers = crowd(4, 6, 40, 1.0)
    answers[:, :3] = 1
    seen = observed(answers, 0, known=False)
    found = recover(seen)
    assert found.outcome == "none"
    assert len(found.columns) == 0
    assert seen.counts is not None
    assert (unanimous(seen.counts)[:3] == 1).all()


def test_noisy_counts_are_not_read_as_exact() -> None:
    seen = observed(crowd(4, 6, 40, 1.0), 2)
    noise = np.random.default_rng(1).integers(-9, 9, seen.vectors.shape)
    found = recover(Observed(seen.vectors + noise, None, 2, 6, seen.assigned))
    assert (found.outcome, len(found.columns)) == ("none", 0)


def test_a_crowd_beyond_the_search_is_said_to_be() -> None:
    assert recover(observed(crowd(5, 60, 90, 1.0), 3)).outcome == "too large"


@pytest.mark.parametrize("known", [True, False])
def test_what_is_not_explained_may_still_be_told(known: bool) -> None:
    """A worker whose column is in the span, among others whose are not."""
    answers = crowd(6, 46, 90, 1.0)
    seen = observed(answers, 2, known=known)
    alone = np.concatenate([seen.vectors, answers[:1] * 7 + 2])
    found = recover(Observed(alone, seen.counts, 2, 46, seen.assigned))
    assert found.outcome == "some"
    assert found.columns.tolist() in ([answers[0].tolist()], [(1 - answers[0]).tolist()])


def test_a_missing_answer_is_not_taken_for_a_label() -> None:
    """Every task has as many answers, so all that is not one worker's yes looks like its no."""
    answers = crowd(6, 46, 90, 1.0)
    answers[np.arange(90) % 45, np.arange(90)] = NONE
    seen = observed(answers, 2, known=False)
    alone = np.concatenate([seen.vectors, (answers[:1] == 1).astype(np.int64)])
    assert len(recover(Observed(alone, seen.counts, 2, 46)).columns) == 0


def test_which_part_is_which_label_is_what_most_say() -> None:
    counts = np.array([[1, 4], [4, 1], [1, 4]])
    right = (np.array([False, True, False]), np.array([True, False, True]))
    room = {np.ones(3, bool).tobytes(): 1}
    found = distinct([right[::-1], right], counts, room)
    assert [np.array(each).tolist() for each in found] == [np.array(right).tolist()]


def test_more_columns_than_workers_with_these_tasks_are_none() -> None:
    first, second, third = np.eye(3, dtype=bool)
    counts = np.full((3, 2), 2)
    columns = [(first, second | third), (first | second, third)]
    everything = np.ones(3, bool).tobytes()
    assert [len(distinct(columns, counts, {everything: room})) for room in (1, 2)] == [0, 2]
    assert distinct(columns, counts, {first.tobytes(): 9}) == []


def test_two_columns_that_fit_one_worker_are_not_linked() -> None:
    answered = np.array([[True, False, False], [False, True, False]])
    assert linked(answered, np.array([[True, True, False]])) == [None, None]


def test_nothing_opened_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing was opened"):
        Observed(np.empty((0, 5), np.int64), None, 2, 3)
