"""Noised rounds: the contributions, the opened sums, and the posteriors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from tests.securesum.em.noised import added, contributor, crowd, silent, small_terms

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.laws.discrete_gaussian import DiscreteGaussian
from sottovoce.mechanisms.laws.polya import noise_law
from sottovoce.model import Domain, FloatArray
from sottovoce.model.sum_rounds import Integers, OpenedSum
from sottovoce.securesum.em.contributor import NoisedContributor
from sottovoce.securesum.em.planner import NoisedPlanner
from sottovoce.securesum.em.sensitivity import NoisedSlots
from sottovoce.securesum.em.simulation import run_rounds
from sottovoce.securesum.em.terms import EMTerms, Law

LAWS = [Law.LAPLACE, Law.GAUSSIAN]


def check_law(noise: Integers, law: FloatArray, reach: int) -> None:
    """A chi-square test over at most 60 classes; fails by chance once in 10⁹ seeds."""
    edges = np.unique(np.searchsorted(np.cumsum(law), np.linspace(0, 1, 61)[1:-1])) - reach
    shares = np.diff(np.concatenate([[0.0], np.cumsum(law)[edges + reach], [1.0]]))
    expected = shares * len(noise)
    observed = np.bincount(np.searchsorted(edges, noise), minlength=len(expected))
    kept = expected > 5
    assert kept.sum() > 3
    statistic = float(np.sum((observed[kept] - expected[kept]) ** 2 / expected[kept]))
    assert stats.chi2.sf(statistic, int(kept.sum()) - 1) > 1e-9


def opened_noise(terms: EMTerms, workers: int, opened: list[OpenedSum]) -> Integers:
    """The noise in a sum of workers that answered nothing, in steps."""
    slots, number = NoisedSlots(terms), len(opened)
    total = added([silent(terms, seed).values(opened) for seed in range(workers)])
    return np.rint(slots.decoded(number, total) * slots.unit(number)).astype(np.int64).ravel()


@pytest.mark.statistical
def test_counts_have_the_noise_that_is_said() -> None:
    """7 shares where 5 are assumed honest: negative binomials of shape 7/5."""
    terms = small_terms(tasks=1500, epsilon=1.0, rounds=0)
    assert terms.noise is not None
    law, reach = noise_law(1 / terms.noise.rounds[0].size, Fraction(7, 5))
    check_law(opened_noise(terms, 7, []), law, reach)


@pytest.mark.statistical
def test_weighted_sums_have_the_noise_that_is_said() -> None:
    """Sums of 7 discrete Gaussians with σ from 8 on have the law of one, up to 10⁻²⁰⁰."""
    terms = small_terms(tasks=1500, law=Law.GAUSSIAN)
    assert terms.noise is not None
    first = added([silent(terms, seed).values([]) for seed in range(7)])
    law, reach = DiscreteGaussian(7 * int(terms.noise.rounds[1].size)).law()
    check_law(opened_noise(terms, 7, [first]), law, reach)


@pytest.mark.statistical
@pytest.mark.parametrize("law", LAWS)
def test_the_opened_counts_of_neighbours_are_as_alike_as_is_said(law: Law) -> None:
    """Each task is one draw of the same experiment: one worker answers yes, or no.

    Clopper and Pearson bound the loss from below at 1 - 10⁻¹⁰ for each of 40 events.
    """
    terms = small_terms(tasks=20_000, epsilon=1.0, delta=1e-3, rounds=0, law=law)
    others = [silent(terms, seed).values([]) for seed in range(4)]
    leads = [
        NoisedSlots(terms).decoded(
            0, added([*others, contributor(terms, np.full(20_000, label), 5).values([])])
        )[:, 0]
        for label in (1, 0)
    ]
    edges = np.quantile(np.concatenate(leads), np.linspace(0.005, 0.995, 40))
    seen = [np.sum(lead[:, np.newaxis] >= edges, axis=0) for lead in leads]
    yes = stats.beta.ppf(1e-10, seen[0], 20_000 - seen[0] + 1)
    no = stats.beta.isf(1e-10, seen[1] + 1, 20_000 - seen[1])
    losses = np.log(np.maximum(yes - 1e-3, 1e-12) / no)
    assert losses.max() <= 1.0
    # It has power: noise of a tenth would be detected.
    assert losses.max() > 0.1


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("labels", [2, 3])
def test_sums_open_to_votes_and_noise(law: Law, labels: int) -> None:
    """Within 8 deviations; each slot is outside with a probability of 10⁻¹⁴."""
    terms = small_terms(labels=labels, law=law)
    label = np.arange(30) % labels
    slots = NoisedSlots(terms)
    opened = added([contributor(terms, label, seed).values([]) for seed in range(60)])
    found = slots.decoded(0, opened)
    deviation = float(np.sqrt(slots.variances(60)[0]))
    wanted = 60 * (np.eye(labels)[label] if labels > 2 else np.stack([2 * label - 1, label**0], 1))
    assert np.abs(found - wanted).max() < 8 * deviation


def test_every_slot_is_sent_whatever_was_answered() -> None:
    terms = small_terms()
    planner = NoisedPlanner(terms)
    spec = planner.next([])
    assert spec is not None
    one = NoisedContributor(terms, np.array([3]), np.array([1]), SeededRandomness(1))
    for worker in (one, silent(terms, 2), contributor(terms, np.zeros(30, np.int64), 3)):
        assert spec.check(worker.values([])).shape == (60,)


def test_two_labels_have_one_slot_a_task_once_weighted() -> None:
    planner = NoisedPlanner(small_terms())
    first = planner.next([])
    second = planner.next([OpenedSum(np.zeros(60, np.int64), 1)])
    assert first is not None
    assert second is not None
    assert (first.values, second.values) == (60, 30)


def test_more_labels_have_a_slot_each() -> None:
    planner = NoisedPlanner(small_terms(labels=4, rounds=2))
    specs = [planner.next([OpenedSum(np.zeros(120, np.int64), 1)] * done) for done in range(4)]
    assert [spec and spec.values for spec in specs] == [120, 120, 120, None]


def test_every_round_has_fresh_noise() -> None:
    worker = silent(small_terms(rounds=0), 1)
    assert worker.values([]).tolist() != worker.values([]).tolist()


def test_noise_beyond_its_reach_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    slots = NoisedSlots(small_terms(tasks=100, law=Law.GAUSSIAN))
    monkeypatch.setattr(NoisedSlots, "reach", lambda self, number: 30)
    assert np.abs(slots.drawn(1, SeededRandomness(1))).max() <= 30


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("rounds", [0, 1, 2])
def test_a_session_finds_the_truths(labels: int, rounds: int) -> None:
    """Nine of ten workers right 9 times in 10, and almost no noise."""
    terms = small_terms(tasks=60, labels=labels, epsilon=30.0, rounds=rounds)
    workers, truths = crowd(terms, [0.9] * 12)
    planner = NoisedPlanner(terms)
    opened = run_rounds(planner, workers)
    result = planner.result(opened)
    assert len(opened) == rounds + 1
    assert result.truths.tolist() == truths.tolist()
    assert (result.rounds, result.converged) == (rounds, True)
    assert result.confidence is not None
    assert result.confidence.min() > 0.9


def test_weights_tell_who_is_right() -> None:
    terms = small_terms(tasks=80, epsilon=20.0, rounds=1)
    workers, _ = crowd(terms, [0.95] * 8 + [0.5] * 4 + [0.05])
    opened = run_rounds(NoisedPlanner(terms), workers)
    found = [worker.weight(opened) for worker in workers]
    assert min(found[:8]) > 0.7 > 0.5 > max(np.abs(found[8:12]))
    assert found[12] < -0.7


def test_weighted_rounds_find_what_a_count_does_not() -> None:
    """Few workers know, the others guess: with little noise a second round helps."""
    accuracies = [0.97] * 4 + [0.5] * 26
    errors = []
    for rounds in (0, 2):
        terms = small_terms(tasks=200, epsilon=40.0, rounds=rounds, honest=30)
        workers, truths = crowd(terms, accuracies)
        planner = NoisedPlanner(terms)
        found = planner.result(run_rounds(planner, workers)).truths
        errors.append(float(np.mean(found != truths)))
    assert errors[1] < errors[0] / 2


def test_own_skill_is_told_to_the_worker_alone() -> None:
    terms = small_terms(tasks=80, epsilon=30.0, rounds=0)
    workers, _ = crowd(terms, [0.95] * 8)
    opened = run_rounds(NoisedPlanner(terms), workers)
    assert workers[0].skill(opened).diagonal().min() > 0.8
    assert repr(workers[0]) == "NoisedContributor()"


def test_a_result_has_the_domain_it_is_asked_for() -> None:
    terms = small_terms(epsilon=30.0, rounds=0)
    workers, _ = crowd(terms, [0.9] * 6)
    planner = NoisedPlanner(terms)
    result = planner.result(run_rounds(planner, workers), Domain.categorical([False, True]))
    assert result.values.dtype == np.bool_


@pytest.mark.parametrize("law", LAWS)
def test_whatever_a_server_says_was_opened_what_is_sent_fits(law: Law) -> None:
    """Totals at either end of the possible range: posteriors of a lying server."""
    terms = small_terms(law=law)
    planner = NoisedPlanner(terms)
    first, second = planner.next([]), planner.next([OpenedSum(np.zeros(60, np.int64), 1)])
    assert first is not None
    assert second is not None
    worker = contributor(terms, np.arange(30) % 2, 4)
    for forged in (np.zeros(60, np.int64), np.full(60, 9 * first.greatest)):
        second.check(worker.values([OpenedSum(forged, 9)]))


def test_totals_that_nobody_can_add_up_to_are_refused() -> None:
    worker = silent(small_terms(), 1)
    with pytest.raises(UsageError, match="impossible for 3 workers"):
        worker.values([OpenedSum(np.full(60, -1), 3)])


def test_more_rounds_than_there_are_cannot_be_read() -> None:
    planner = NoisedPlanner(small_terms(rounds=0))
    with pytest.raises(UsageError, match="1 noised rounds, not 2"):
        planner.decode([OpenedSum(np.zeros(60, np.int64), 1)] * 2)
    with pytest.raises(UsageError, match="nothing has been opened"):
        planner.decode([])


def test_two_answers_to_a_task_are_refused() -> None:
    with pytest.raises(UsageError, match="answered once"):
        NoisedContributor(small_terms(), np.array([1, 1]), np.array([0, 1]), SeededRandomness(1))
