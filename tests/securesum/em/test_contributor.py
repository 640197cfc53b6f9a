"""One worker's side of a private EM."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.securesum.em.tables import drawn

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce.securesum.em.contributor import EMContributor, contributor_of
from sottovoce.securesum.em.planner import EMPlanner
from sottovoce.securesum.em.terms import EMTerms, Mode

TERMS = EMTerms(("q1", "q2", "q3"), ("no", "yes"), Mode.AS_PUBLISHED, 1000, clip=1000, repeats=2)
COUNTS = OpenedSum(np.array([1, 3, 2, 2, 4, 0]), 4)


def worker(task: list[int], label: list[int], terms: EMTerms = TERMS) -> EMContributor:
    return EMContributor(terms, np.array(task, np.int64), np.array(label, np.int64))


def test_labels_are_counted_first() -> None:
    assert worker([0, 0, 2], [1, 1, 0]).values([]).tolist() == [0, 2, 0, 0, 1, 0]


def test_every_slot_is_sent_whatever_was_answered() -> None:
    nobody, everything = worker([], []), worker([0, 1, 2], [1, 1, 1])
    for opened in ([], [COUNTS]):
        assert nobody.values(opened).shape == everything.values(opened).shape


def test_logarithms_are_what_the_own_skill_says() -> None:
    own = worker([0, 2], [1, 0])
    skill = own.skill([COUNTS])
    found = own.values([COUNTS]).reshape(3, 2) / TERMS.scale
    assert found[0] == pytest.approx(-np.log(skill[:, 1]), abs=0.0005)
    assert found[1].tolist() == [0, 0]
    assert found[2] == pytest.approx(-np.log(skill[:, 0]), abs=0.0005)


def test_differences_are_offset_so_that_nothing_is_negative() -> None:
    terms = replace(TERMS, mode=Mode.LOG_ODDS)
    own, codec = worker([0, 2], [1, 0], terms), EMPlanner(terms).codec
    skill = own.skill([COUNTS])
    found = own.values([COUNTS])
    assert found.tolist()[1] == -codec.low * terms.scale  # not answered
    odds = np.log(skill[1] / skill[0])
    assert found[[0, 2]] / terms.scale + codec.low == pytest.approx(odds[[1, 0]], abs=0.0005)


@pytest.mark.parametrize("mode", [Mode.AS_PUBLISHED, Mode.LOG_ODDS])
def test_no_value_leaves_its_range(mode: Mode) -> None:
    answers = drawn(4, labels=3)
    terms = answers.terms(mode, 10**6, rounds=3, clip=3)
    planner, workers, opened = EMPlanner(terms), answers.contributors(terms), list[OpenedSum]()
    while (spec := planner.next(opened)) is not None:
        vectors = [spec.check(each.values(opened)) for each in workers]
        opened.append(OpenedSum(np.sum(vectors, axis=0), len(vectors)))
    assert len(opened) == 4


@pytest.mark.parametrize(
    ("task", "label", "words"),
    [
        ([0, 1], [0], "one task and one label each"),
        ([3], [0], "not to one of the 3 tasks"),
        ([-1], [0], "not to one of the 3 tasks"),
        ([0], [2], "not one of the 2 labels"),
        ([0, 0, 0], [0, 0, 1], "up to 2 times, and one was answered 3 times"),
    ],
)
def test_other_answers_are_refused(task: list[int], label: list[int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        worker(task, label)


def test_a_worker_says_nothing_of_its_answers_in_its_name() -> None:
    assert repr(worker([0], [1])) == "EMContributor()"


def test_the_mode_decides_who_contributes() -> None:
    made = contributor_of(TERMS, np.array([0]), np.array([1]), SeededRandomness(1))
    assert isinstance(made, EMContributor)
