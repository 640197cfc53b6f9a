"""The two-layer mechanism: its sampler, its joint guarantee, its calibrations and its form."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.laws.hyper_weights import LevelWeights, UniformWeights
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import NULL, WORDS, Alphabet, Cells, Domain, Private, Unit

YES_NO = Domain.categorical(["no", "yes"])
THREE = Domain.ordinal([1, 2, 3])


def cells(codes: npt.ArrayLike, workers: int) -> Cells:
    """Every worker gives the same answers."""
    row = np.asarray(codes, np.int32)
    return Cells(
        np.repeat(np.arange(workers, dtype=np.int32), len(row)),
        np.tile(np.arange(len(row), dtype=np.int32), workers),
        np.tile(row, workers),
        np.array([str(w) for w in range(workers)]),
        np.array([str(t) for t in range(len(row))]),
    )


def weight(flip: float, symbols: int) -> int:
    return int(flip * WORDS) // (symbols - 1)


def uniform(low: float, high: float, labels: int, null: bool = False) -> TwoLayer:
    symbols = labels + null
    return TwoLayer(labels, UniformWeights(weight(low, symbols), weight(high, symbols)), null)


def levels(labels: int, null: bool = False) -> TwoLayer:
    symbols = labels + null
    others = (0, weight(0.3, symbols), weight(0.9, symbols))
    return TwoLayer(labels, LevelWeights(others, (WORDS // 4, WORDS // 2, WORDS // 4)), null)


KINDS = [
    uniform(0.0, 0.538, 2),
    uniform(0.1, 0.6, 3),
    uniform(0.2, 0.9, 2, null=True),
    levels(2),
    levels(3, null=True),
    TwoLayer(2, UniformWeights(0, WORDS - 1)),
]


@pytest.mark.parametrize("mechanism", KINDS)
def test_submissions_follow_their_joint_law(mechanism: TwoLayer) -> None:
    workers, answers = 60_000, [0, NULL if mechanism.null else 1, 1]
    simulated = SeededRandomness(11)
    private = mechanism.draw(workers, simulated)
    reports = mechanism.perturb(cells(answers, workers), private, simulated).code
    assert reports.dtype == np.int32
    seen = Counter(map(tuple, reports.reshape(workers, 3).tolist()))
    meant = [mechanism.labels if a == NULL else a for a in answers]
    for submission in itertools.product(range(mechanism.symbols), repeat=3):
        moved = sum(a != r for a, r in zip(meant, submission, strict=True))
        chance = math.exp(float(mechanism.submission_log_likelihood(moved, 3)))
        spread = math.sqrt(chance * (1 - chance) / workers)
        assert seen[submission] / workers == pytest.approx(chance, abs=6 * spread)


@pytest.mark.parametrize("mechanism", KINDS)
def test_one_report_follows_the_channel(mechanism: TwoLayer) -> None:
    channel = mechanism.channel()
    assert all(sum(row) == channel.total for row in channel.weights)
    assert channel.null == mechanism.null == mechanism.hides_participation
    keep, other = (math.exp(float(mechanism.submission_log_likelihood(m, 1))) for m in (0, 1))
    expected = np.full((mechanism.symbols,) * 2, other)
    np.fill_diagonal(expected, keep)
    assert channel.matrix() == pytest.approx(expected, abs=1e-14)


def test_the_likelihood_of_a_report_knows_null() -> None:
    mechanism = uniform(0.2, 0.6, 2, null=True)
    keep, other = mechanism.channel().matrix()[0, :2]
    found = mechanism.log_likelihood([[2, 0, 2, 1]], [NULL, NULL, 0, 1])
    assert np.exp(found) == pytest.approx(np.array([[keep, other, other, keep]]))


def test_what_workers_draw_is_uniform_from_low_to_high() -> None:
    drawn = UniformWeights((1 << 20) + 10, (1 << 20) + 14).draw(50_000, SeededRandomness(3))
    counts = np.bincount((drawn - np.uint64(1 << 20)).astype(np.int64), minlength=15)
    assert counts[:10].sum() == 0
    assert counts[10:] == pytest.approx(np.full(5, 10_000), abs=6 * math.sqrt(8000))


@pytest.mark.parametrize("low", [0, 1, 1 << 19, 1 << 20])
def test_even_the_coarsest_integers_are_as_good_as_a_continuum(low: int) -> None:
    k, high = 6, 1 << 20
    flips = np.arange(low, high + 1) / WORDS
    g = [float(np.mean(flips**m * (1 - flips) ** (k - m))) for m in range(k + 1)]
    stated = TwoLayer(2, UniformWeights(low, high))
    answer = stated.guarantee(k, Unit.ANSWER).epsilon
    assert answer == pytest.approx(math.log(g[0] / g[1]), abs=1e-10)
    excess = stated.guarantee(k, Unit.WORKER).epsilon - math.log(g[0] / g[k])
    assert -1e-10 <= excess <= k / high


def test_what_workers_draw_has_the_chances_of_the_levels() -> None:
    drawn = levels(2).draw(40_000, SeededRandomness(4)).values
    _, counts = np.unique(drawn, return_counts=True)
    assert counts == pytest.approx(np.array([10_000, 20_000, 10_000]), abs=6 * 100)


def test_a_worker_without_noise_reports_its_answers() -> None:
    mechanism = levels(3)
    private = Private(np.zeros(5, np.uint64))
    reports = mechanism.perturb(cells([0, 1, 2], 5), private, SeededRandomness(1))
    assert reports.code.tolist() == [0, 1, 2] * 5


@pytest.mark.parametrize("private", [None, Private(np.ones(2, np.uint64)), Private(np.ones(1))])
def test_reports_need_what_each_worker_drew(private: Private | None) -> None:
    with pytest.raises(UsageError, match="call draw once per worker"):
        KINDS[0].perturb(cells([0], 1), private, SeededRandomness(1))


def test_draws_of_another_mechanism_are_refused() -> None:
    private = Private(np.full(1, WORDS - 1, np.uint64))
    with pytest.raises(UsageError, match="another mechanism"):
        uniform(0.1, 0.6, 3).perturb(cells([0], 1), private, SeededRandomness(1))


@pytest.mark.parametrize("code", [2, NULL])
def test_answers_outside_the_domain_are_refused_and_not_quoted(code: int) -> None:
    mechanism = KINDS[0]
    private = mechanism.draw(1, SeededRandomness(1))
    with pytest.raises(DataError, match="answer 2 is not in the domain") as refusal:
        mechanism.perturb(cells([0, code], 1), private, SeededRandomness(1))
    assert refusal.value.row == 2


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize(
    ("epsilon", "k", "delta"),
    [
        (0.01, 3, 0.0),
        (1.0, 1, 0.0),
        (1.0, 20, 1e-6),
        (6.0, 4, 0.0),
        (30.0, 1, 0.0),
    ],
)
def test_calibration_lands_just_below_the_target(
    epsilon: float, k: int, unit: Unit, delta: float
) -> None:
    mechanism = TwoLayer.calibrated(THREE, epsilon, unit=unit, delta=delta, answers=k)
    stated = mechanism.guarantee(k, unit, delta)
    assert epsilon - 1e-6 <= stated.epsilon <= epsilon


@pytest.mark.parametrize("unit", Unit)
@pytest.mark.parametrize(
    ("labels", "epsilon"),
    [
        pytest.param(2, 1e-4, marks=pytest.mark.slow),
        (1000, 1.0),
        pytest.param(2, 30.0, marks=pytest.mark.slow),
    ],
)
def test_calibration_lands_just_below_the_target_for_a_hundred_thousand_answers(
    epsilon: float, labels: int, unit: Unit
) -> None:
    domain = Domain.categorical(range(labels))
    mechanism = TwoLayer.calibrated(domain, epsilon, unit=unit, answers=100_000)
    assert epsilon - 1e-6 <= mechanism.guarantee(100_000, unit).epsilon <= epsilon


def test_a_calibration_for_many_answers_holds_within_reach_for_any_number() -> None:
    mechanism = TwoLayer.calibrated(YES_NO, 1.0, answers=100_000)
    assert isinstance(mechanism.hyper, UniformWeights)
    limit = 1 / (1 + math.e)
    assert mechanism.hyper.low / WORDS == pytest.approx(limit, abs=1e-5)
    assert mechanism.hyper.high / WORDS == pytest.approx(1 - limit, abs=1e-12)
    assert mechanism.guarantee(10**9, Unit.ANSWER).epsilon == pytest.approx(1.0, abs=1e-4)


def test_for_one_answer_the_published_parameters_are_sound() -> None:
    sound, published = TwoLayer.calibrated(YES_NO, 1.0), TwoLayer.as_published(YES_NO, 1.0)
    assert isinstance(sound.hyper, UniformWeights)
    assert isinstance(published.hyper, UniformWeights)
    assert sound.hyper.low == published.hyper.low == 0
    assert sound.hyper.high == pytest.approx(published.hyper.high, rel=1e-14)


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 5.0, 800.0])
def test_the_published_parameters_have_the_published_epsilon(epsilon: float, null: bool) -> None:
    mechanism = TwoLayer.as_published(THREE, epsilon, null=null)
    finest = math.log(WORDS / (1 << 19))  # a range of weights ends at 2²⁰ or later
    assert mechanism.claim().epsilon == pytest.approx(min(epsilon, finest), abs=1e-12)
    assert mechanism.guarantee(1, Unit.ANSWER).epsilon == pytest.approx(
        mechanism.claim().epsilon, abs=1e-9
    )


def test_the_published_parameters_lose_more_together() -> None:
    mechanism = TwoLayer.as_published(YES_NO, 1.0)
    assert "only for a worker who sends one answer" in mechanism.claim().verdict
    assert mechanism.guarantee(100, Unit.ANSWER).epsilon == pytest.approx(4.6052, abs=1e-4)
    assert mechanism.guarantee(100, Unit.WORKER).epsilon == pytest.approx(67.19, abs=0.01)
    assert mechanism.delta(1.0, 100, Unit.ANSWER) == pytest.approx(0.243, abs=1e-3)


def test_no_published_noise_for_two_labels_loses_the_logarithm_of_the_number_of_answers() -> None:
    mechanism = TwoLayer.as_published(YES_NO, 0.0)
    assert mechanism.guarantee(26, Unit.ANSWER).epsilon == pytest.approx(math.log(26), abs=1e-12)
    worker = mechanism.guarantee(26, Unit.WORKER).epsilon
    assert worker == pytest.approx(math.log(math.comb(26, 13)), abs=1e-10)


def test_the_sparse_baseline_gives_each_worker_its_own_budget() -> None:
    mechanism = TwoLayer.as_published_sparse(THREE, 1.0)
    assert mechanism.alphabet is Alphabet.LABELS_OR_NULL
    assert isinstance(mechanism.hyper, LevelWeights)
    budgets = [math.log((WORDS - 3 * other) / other) for other in mechanism.hyper.others]
    assert np.mean(budgets) == pytest.approx(1.0, abs=1e-9)
    assert min(budgets) == pytest.approx(1 / 1024, abs=1e-9)
    assert max(budgets) == pytest.approx(2 - 1 / 1024, abs=1e-9)
    assert 1.0 < mechanism.guarantee(50, Unit.ANSWER).epsilon < 2.0


def test_shaped_levels_come_close_to_the_law_they_stand_for() -> None:
    flat = TwoLayer(3, LevelWeights.beta(3, 0.1, 0.6, 1.0, 1.0))
    even = uniform(0.1, 0.6, 3)
    for unit in Unit:
        found, expected = flat.guarantee(9, unit).epsilon, even.guarantee(9, unit).epsilon
        assert found == pytest.approx(expected, rel=1e-4)
    bell = LevelWeights.normal(3, 0.1, 0.6, 0.35, 0.05)
    assert float(bell.mean * 2 / WORDS) == pytest.approx(0.35, abs=1e-9)
    assert sum(bell.weights) == WORDS


@pytest.mark.parametrize(
    "mechanism", [*KINDS, TwoLayer.as_published_sparse(YES_NO, 2.0)], ids=lambda m: type(m).__name__
)
def test_the_written_form_can_be_read_back(mechanism: TwoLayer) -> None:
    assert TwoLayer.of_json(mechanism.as_json()) == mechanism


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"low": 5}, "low must be a string of up to 20 digits"),
        ({"low": "9", "high": "8"}, "high must be an integer from 1,048,576 to"),
        ({"low": "1048577", "high": "1048576"}, "low must be an integer from 0 to 1,048,576"),
        ({"high": str(WORDS)}, "high must be an integer from 1"),
        ({"labels": 1}, "labels must be an integer from 2"),
        ({"null": 1}, "null must be true or false"),
        ({"noise": 1}, "unknown fields: 'noise'"),
        ({"others": ["1"]}, "lacks weights"),
    ],
)
def test_a_form_that_is_wrong_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        TwoLayer.of_json({**KINDS[0].as_json(), **change})


@pytest.mark.parametrize(
    ("others", "weights", "words"),
    [
        ((), (), "lists of one length"),
        ((1, 2), (WORDS,), "lists of one length"),
        ((0,), (WORDS,), "reports would be the answers"),
        ((1,), (WORDS - 1,), "must add up to"),
        ((WORDS,), (WORDS,), "others must be an integer from 0"),
        ((1, 2), (WORDS, 0), "weights must be an integer from 1"),
    ],
)
def test_levels_that_are_no_law_are_refused(
    others: tuple[int, ...], weights: tuple[int, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        TwoLayer(2, LevelWeights(others, weights))


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({"epsilon": 0.0}, "epsilon must be above 0 and finite"),
        ({"epsilon": math.nan}, "epsilon must be above 0 and finite"),
        ({"epsilon": 1.0, "delta": 1.0}, "delta must be at least 0 and below 1"),
        ({"epsilon": 1.0, "answers": 0}, "answers must be from 1"),
    ],
)
def test_a_target_that_is_none_is_refused(target: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        TwoLayer.calibrated(YES_NO, **target)


def test_domains_and_shapes_that_make_no_law_are_refused() -> None:
    with pytest.raises(UsageError, match="takes labels, not numbers"):
        TwoLayer.calibrated(Domain.numeric(0, 1), 1.0)
    with pytest.raises(UsageError, match="labels must be an integer from 2"):
        TwoLayer.as_published(Domain.categorical(["only"]), 1.0)
    with pytest.raises(UsageError, match="epsilon must be a number of at least 0"):
        TwoLayer.as_published(YES_NO, -1.0)
    with pytest.raises(UsageError, match="first and second"):
        LevelWeights.beta(2, 0.1, 0.5, 0.0, 1.0)
    with pytest.raises(UsageError, match="deviation above 0"):
        LevelWeights.normal(2, 0.1, 0.5, 0.3, 0.0)
    with pytest.raises(UsageError, match="0 <= low < high <= 1"):
        LevelWeights.beta(2, 0.5, 0.5, 1.0, 1.0)
