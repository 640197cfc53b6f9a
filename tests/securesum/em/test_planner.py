"""The rounds of a private EM: the sums, and that the result equals plain EM."""

from __future__ import annotations

import numpy as np
import pytest
from tests.securesum.em.tables import Answers, drawn

from sottovoce import DawidSkene, LatentLabel, LocalEngine
from sottovoce.errors import UsageError
from sottovoce.model import Domain, FloatArray
from sottovoce.model.sum_rounds import OpenedSum, SumSpec
from sottovoce.securesum.em.planner import EMPlanner, codec_of
from sottovoce.securesum.em.simulation import run_rounds
from sottovoce.securesum.em.terms import EMTerms, Mode

FINE = 10**14
ROUNDING = 1e-11
"""Parameters are rounded to 40 bits each round; a thousandth of that and 10^-14 are in each sum."""

TERMS = EMTerms(("q1", "q2"), ("no", "yes"), Mode.AS_PUBLISHED, 100, clip=1000)


@pytest.mark.parametrize("seed", range(4))
def test_two_labels_come_out_as_from_the_plain_latent_label_model(seed: int) -> None:
    answers = drawn(seed)
    plain = LatentLabel().fit(LocalEngine(answers.reports()))
    terms = answers.terms(Mode.AS_PUBLISHED, FINE)
    planner, workers = EMPlanner(terms), answers.contributors(terms)
    opened = run_rounds(planner, workers)
    found, skills = planner.result(opened), np.stack([each.skill(opened) for each in workers])
    assert (found.rounds, found.converged) == (plain.rounds, plain.converged)
    assert np.array_equal(found.truths, plain.truths)
    assert np.array_equal(found.answers, plain.answers)
    for ours, theirs in (
        (found.posterior, plain.posterior), (found.prior, plain.prior), (skills, plain.confusions)
    ):  # fmt: skip
        assert np.abs(np.asarray(ours) - np.asarray(theirs)).max() < ROUNDING


def test_the_paper_and_this_table_have_repeats_and_tasks_without_answers() -> None:
    answers = drawn(0)
    assert answers.repeats > 1
    assert np.setdiff1d(np.arange(answers.tasks), answers.task).size >= 2


def plain_em(answers: Answers, clip: float, tolerance: float) -> tuple[FloatArray, int]:
    """Dawid and Skene's EM for any number of labels, worker by worker, in plain code."""
    size, rows = answers.labels, (answers.worker, answers.task, answers.label)
    counts = np.zeros((answers.tasks, size))
    for _, task, label in zip(*rows, strict=True):
        counts[task, label] += 1
    given = counts.sum(axis=1, keepdims=True)
    mu = np.where(given > 0, counts / np.maximum(given, 1), 1 / size)
    before = None
    for rounds in range(1, 101):  # noqa: B007 - returned
        prior = np.clip(mu.mean(axis=0), 1 / clip, 1 - 1 / clip)
        logs = np.zeros_like(mu)
        for worker in range(answers.workers):
            own = [(i, v) for j, i, v in zip(*rows, strict=True) if j == worker]
            skill = np.zeros((size, size))
            for task, label in own:
                skill[:, label] += mu[task]
            skill /= skill.sum(axis=1, keepdims=True)
            for task, label in own:
                logs[task] += np.log(np.clip(skill[:, label], 1 / clip, 1 - 1 / clip))
        mu = np.exp(logs - logs.max(axis=1, keepdims=True)) * prior
        mu /= mu.sum(axis=1, keepdims=True)
        q = float(np.sum(mu * (logs + np.log(np.clip(mu.mean(axis=0), 1 / clip, 1)))))
        if before is not None and abs(q - before) < tolerance * abs(q):
            break
        before = q
    return mu, rounds


@pytest.mark.parametrize("seed", range(2))
def test_three_labels_come_out_as_from_a_plain_em(seed: int) -> None:
    answers = drawn(seed, labels=3)
    terms = answers.terms(Mode.AS_PUBLISHED, FINE)
    planner = EMPlanner(terms)
    found = planner.result(run_rounds(planner, answers.contributors(terms)))
    posterior, rounds = plain_em(answers, terms.clip, 1 / terms.tolerance)
    assert found.rounds == rounds
    assert np.abs(found.posterior - posterior).max() < 1e-9  # type: ignore[operator]


def test_the_truths_of_three_labels_are_those_of_dawid_skene() -> None:
    answers = drawn(3, labels=3, workers=15)
    terms = answers.terms(Mode.AS_PUBLISHED, 10**7)
    planner = EMPlanner(terms)
    found = planner.result(run_rounds(planner, answers.contributors(terms)))
    settled = DawidSkene(tolerance=1e-10, max_rounds=500).fit(LocalEngine(answers.reports()))
    answered = settled.answers > 0
    assert np.array_equal(found.truths[answered], settled.truths[answered])


@pytest.mark.parametrize("labels", [2, 3])
def test_log_odds_have_the_posteriors_of_the_published_mode_round_by_round(labels: int) -> None:
    answers = drawn(1, labels=labels)
    found = []
    for mode in (Mode.AS_PUBLISHED, Mode.LOG_ODDS):
        terms = answers.terms(mode, 10**12, rounds=5)
        planner = EMPlanner(terms)
        found.append(planner.decode(run_rounds(planner, answers.contributors(terms))))
    assert (found[0].rounds, found[1].rounds) == (5, 5)
    assert np.abs(found[0].posterior - found[1].posterior).max() < 1e-9


def test_small_log_odds_find_the_same_labels() -> None:
    answers = drawn(2)
    plain = LatentLabel().fit(LocalEngine(answers.reports()))
    terms = answers.terms(Mode.LOG_ODDS, 1000, clip=1000)
    planner = EMPlanner(terms)
    found = planner.result(run_rounds(planner, answers.contributors(terms)))
    assert found.converged
    assert np.array_equal(found.truths, plain.truths)


@pytest.mark.parametrize(
    ("mode", "labels", "values"),
    [(Mode.AS_PUBLISHED, 2, 4), (Mode.LOG_ODDS, 2, 2), (Mode.LOG_ODDS, 4, 6)],
)
def test_every_label_has_a_slot_or_all_but_the_first(mode: Mode, labels: int, values: int) -> None:
    terms = EMTerms(("q1", "q2"), tuple("abcd"[:labels]), mode, 100, clip=1000)
    planner = EMPlanner(terms)
    counts = OpenedSum(np.ones(2 * labels, np.int64), 3)
    assert planner.next([]) == SumSpec(2 * labels, 1)
    second = planner.next([counts])
    assert second is not None
    assert second.values == values


def test_bounds_are_whole_numbers_and_so_the_same_on_every_machine() -> None:
    assert (codec_of(TERMS).low, codec_of(TERMS).high, codec_of(TERMS).greatest) == (0, 7, 700)


def test_the_first_stop_test_is_in_the_second_round() -> None:
    planner = EMPlanner(TERMS)
    counts = OpenedSum(np.array([1, 2, 2, 1]), 3)
    logs = OpenedSum(np.array([100, 50, 50, 100]), 3)
    first, second = planner.decode([counts, logs]), planner.decode([counts, logs, logs])
    assert (first.rounds, first.converged) == (1, False)
    assert planner.next([counts, logs]) is not None
    assert (second.rounds, second.converged) == (2, True)
    assert planner.next([counts, logs, logs]) is None


def test_the_rounds_end_when_they_are_used_up() -> None:
    terms = EMTerms(("q1", "q2"), ("no", "yes"), Mode.AS_PUBLISHED, 100, clip=1000, rounds=1)
    planner = EMPlanner(terms)
    opened = [OpenedSum(np.array([1, 2, 2, 1]), 3), OpenedSum(np.array([100, 50, 50, 100]), 3)]
    assert planner.next(opened) is None
    assert not planner.decode(opened).converged


def test_what_was_decoded_before_changes_nothing() -> None:
    answers = drawn(5)
    terms = answers.terms(Mode.AS_PUBLISHED, 1000, rounds=4)
    opened = run_rounds(EMPlanner(terms), answers.contributors(terms))
    used = EMPlanner(terms)
    used.decode(opened)
    other = (opened[0], OpenedSum(opened[1].totals // 2, opened[1].workers))
    assert np.array_equal(used.decode(other).posterior, EMPlanner(terms).decode(other).posterior)
    copied = [OpenedSum(each.totals.copy(), each.workers) for each in opened]
    assert np.array_equal(used.decode(copied).posterior, EMPlanner(terms).decode(opened).posterior)


@pytest.mark.parametrize(
    ("totals", "words"),
    [
        ([1, 2, 3], "a round has 4 totals, not 3"),
        ([1, 2, 3, 4], "impossible for 3 workers"),
        ([1, 2, 3, -1], "impossible for 3 workers"),
    ],
)
def test_totals_that_cannot_be_are_refused(totals: list[int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        EMPlanner(TERMS).decode([OpenedSum(np.array(totals), 3)])


def test_nothing_is_decoded_from_nothing() -> None:
    with pytest.raises(UsageError, match="nothing has been opened yet"):
        EMPlanner(TERMS).decode([])


def test_truths_have_the_labels_of_a_domain_of_the_same_size() -> None:
    opened = [OpenedSum(np.array([1, 2, 2, 1]), 3)]
    assert EMPlanner(TERMS).result(opened).values.tolist() == ["yes", "no"]
    assert EMPlanner(TERMS).result(opened, Domain.categorical([0, 1])).values.tolist() == [1, 0]
    with pytest.raises(UsageError, match="2 labels, but the domain has 3"):
        EMPlanner(TERMS).result(opened, Domain.categorical("abc"))


def test_a_scale_that_floats_cannot_tell_apart_is_refused() -> None:
    terms = EMTerms(("q1",), ("no", "yes"), Mode.LOG_ODDS, FINE, repeats=9)
    with pytest.raises(UsageError, match="lower scale"):
        EMPlanner(terms)
