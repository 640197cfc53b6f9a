"""Geometric noise on a grid: its integers, its law, its guarantees, its NULLs."""

import math
from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.laplace import Laplace
from sottovoce.mechanisms.laws.geometric import LONGEST, Clamped, Geometric
from sottovoce.model import NULL, WORDS, Cells, Domain, FiniteChannel, Unit

DIGITS = Domain.ordinal(range(10))
small_laws = st.builds(
    Clamped.near, st.integers(1, 12), st.floats(0.3, 25), st.sampled_from([1e-3, 1e-7])
)


def cells_of(codes: list[int] | np.ndarray[Any, Any]) -> Cells:
    count = len(codes)
    return Cells(
        np.arange(count, dtype=np.int32), np.zeros(count, np.int32), np.asarray(codes, np.int32),
        np.arange(count), np.array(["t"]),
    )  # fmt: skip


def worst_log_ratio(channel: FiniteChannel) -> float:
    columns = list(zip(*channel.weights, strict=True))
    return max(math.log(Fraction(max(column), min(column))) for column in columns)


def worst_delta(channel: FiniteChannel, epsilon: float) -> float:
    rows, factor = [list(map(int, row)) for row in channel.weights], Fraction(math.exp(epsilon))
    return max(
        float(sum(max(a - factor * b, Fraction(0)) for a, b in zip(one, two, strict=True)))
        / channel.total
        for one, two in permutations(rows, 2)
    )


def channel_of(law: Clamped) -> FiniteChannel:
    noise = law.noise
    return Laplace(law.steps, noise.centre, noise.ratio, noise.reach).channel()


def test_the_table_is_the_recursion_that_a_browser_repeats() -> None:
    law = Geometric.near(17 * 10**18, 40)
    fixed, expected = law.centre << 64, []
    for _ in range(40):
        expected.append(fixed >> 64)
        fixed = (fixed * law.ratio) >> 64
    rest = (WORDS - expected[0] - 2 * sum(expected[1:])) // 2
    assert law.weights.tolist() == [*expected, rest]


@given(law=small_laws)
@settings(deadline=None)
def test_the_weights_of_the_noise_make_up_all_words(law: Clamped) -> None:
    weights = law.noise.weights.tolist()
    assert weights[0] + 2 * sum(weights[1:]) == WORDS


@given(law=small_laws)
@settings(deadline=None)
def test_the_cumulative_table_has_the_weights_as_its_gaps(law: Clamped) -> None:
    weights = law.noise.weights.tolist()
    gaps = [b - a for a, b in pairwise([0, *law.noise.cumulative.tolist(), WORDS])]
    assert gaps == weights[:0:-1] + weights


class Words:
    """Given words, for the draws at the borders of the table."""

    simulated = True

    def __init__(self, *words: int) -> None:
        self._words = np.array(words, np.uint64)

    def words(self, count: int) -> Any:
        return self._words


def test_words_at_the_borders_of_the_table_fall_on_the_right_side() -> None:
    law = Geometric.near(1 << 63, 2)
    table = law.cumulative.tolist()
    words = [0, table[0] - 1, table[0], table[2] - 1, table[2], table[3] - 1, table[3], WORDS - 1]
    assert law.sample(8, Words(*words)).tolist() == [-2, -2, -1, 0, 1, 1, 2, 2]


@given(law=small_laws)
@settings(max_examples=40, deadline=None)
def test_the_stated_epsilon_is_the_worst_ratio_of_the_whole_channel(law: Clamped) -> None:
    assert law.cell_epsilon == pytest.approx(worst_log_ratio(channel_of(law)), rel=1e-12)


@given(law=st.builds(Clamped.near, st.integers(1, 6), st.floats(0.8, 20), st.just(1e-7)),
       share=st.floats(0, 0.99))  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_the_stated_delta_is_no_less_than_the_worst_pairs(law: Clamped, share: float) -> None:
    epsilon = share * law.cell_epsilon
    assert law.cell_delta(epsilon) >= worst_delta(channel_of(law), epsilon) * (1 - 1e-12)


def test_the_stated_delta_is_within_rounding_of_the_worst_pairs() -> None:
    law = Clamped.near(9, 1.0, 1e-7)
    assert law.cell_delta(0.5) == pytest.approx(worst_delta(channel_of(law), 0.5), abs=1e-9)


def test_the_delta_of_a_fine_grid_is_that_of_laplace_noise() -> None:
    law = Clamped.near(1000, 2.0, 1e-7)
    assert law.cell_delta(1.0) == pytest.approx(1 - math.exp((1.0 - 2.0) / 2), abs=1e-6)


@st.composite
def rough_laws(draw: st.DrawFn) -> Clamped:
    """Laws whose centre does not fit their ratio, and whose weights are rounded hard."""
    steps, beyond = draw(st.integers(1, 5)), draw(st.integers(0, 6))
    ratio = draw(st.integers(1 << 61, WORDS - 1))
    centre = draw(st.sampled_from([1 << 10, 1 << 20, 1 << 40, 1 << 58]))
    try:
        return Clamped(steps, Geometric(centre, ratio, steps + beyond))
    except UsageError:
        assume(False)
        raise


@given(law=rough_laws())
@settings(deadline=None)
def test_the_epsilon_of_a_rough_law_is_exact_too(law: Clamped) -> None:
    assert law.cell_epsilon == pytest.approx(worst_log_ratio(channel_of(law)), rel=1e-12)


@given(law=rough_laws(), share=st.floats(0, 0.99))
@settings(deadline=None)
def test_the_delta_of_a_rough_law_is_a_bound_too(law: Clamped, share: float) -> None:
    epsilon = share * law.cell_epsilon
    assert law.cell_delta(epsilon) >= worst_delta(channel_of(law), epsilon) * (1 - 1e-9) - 1e-15


@pytest.mark.parametrize("steps", [1, 9, 1000, 65536])
@pytest.mark.parametrize("epsilon", [1e-4, 0.01, 0.5, 1.0, 4.0, 12.0, 20.0])
def test_calibration_lands_just_below_its_target(steps: int, epsilon: float) -> None:
    noise = Laplace.calibrated(Domain.numeric(0, steps, step=1), epsilon)
    assert 0 <= epsilon - noise.guarantee(1, Unit.ANSWER).epsilon <= 1e-6


@pytest.mark.parametrize(
    ("unit", "answers", "delta", "epsilon"),
    [(Unit.WORKER, 40, 0.0, 3.0), (Unit.WORKER, 100, 1e-6, 4.0), (Unit.WORKER, 1, 1e-3, 1.0),
     (Unit.ANSWER, 7, 1e-6, 1.0), (Unit.ANSWER, 7, 0.05, 0.2)],
)  # fmt: skip
def test_calibration_keeps_units_and_deltas(
    unit: Unit, answers: int, delta: float, epsilon: float
) -> None:
    noise = Laplace.calibrated(
        Domain.numeric(0, 100, step=1), epsilon, unit=unit, delta=delta, answers=answers
    )
    assert 0 <= epsilon - noise.guarantee(answers, unit, delta).epsilon <= 1e-6


def test_a_target_beyond_64_bits_gets_the_least_noise_they_hold() -> None:
    noise = Laplace.calibrated(DIGITS, 100.0)
    assert 35 < noise.guarantee(1, Unit.ANSWER).epsilon < 45


def test_the_guarantee_per_worker_adds_up_and_is_exact() -> None:
    noise = Laplace.calibrated(DIGITS, 1.0)
    worker, answer = noise.guarantee(6, Unit.WORKER), noise.guarantee(6, Unit.ANSWER)
    assert worker.epsilon == pytest.approx(6 * answer.epsilon)
    assert worker.exact


def test_a_delta_per_answer_is_a_bound_and_says_so() -> None:
    assert not Laplace.calibrated(DIGITS, 1.0).guarantee(1, Unit.ANSWER, 1e-3).exact


def test_delta_and_guarantee_are_one_curve() -> None:
    noise = Laplace.calibrated(DIGITS, 2.0)
    epsilon = noise.guarantee(1, Unit.ANSWER, 0.1).epsilon
    assert noise.delta(epsilon, 1, Unit.ANSWER) == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("null", ["centre", "random", 2])
def test_reports_follow_the_channel_also_for_null(null: str | int) -> None:
    noise = Laplace.calibrated(Domain.ordinal(range(4)), 3.0, null=null)
    channel, count = noise.channel(), 200_000
    for answer, row in ((3, 3), (NULL, 4)):
        codes = noise.perturb(cells_of(np.full(count, answer)), None, SeededRandomness(5)).code
        seen = np.bincount(codes + noise.law.beyond, minlength=len(channel.reports)) / count
        expected = channel.matrix()[row]
        assert np.all(np.abs(seen - expected) <= 6 * np.sqrt(expected / count) + 1e-4)


@pytest.mark.parametrize("null", ["absent", "centre", "random", 2])
@pytest.mark.parametrize("epsilon", [0.8, 22.0])
def test_log_likelihood_is_the_channels(null: str | int, epsilon: float) -> None:
    noise = Laplace.calibrated(Domain.ordinal(range(6)), epsilon, null=null)
    channel = noise.channel()
    answers = [*range(6), *([NULL] if channel.null else [])]
    logs = noise.log_likelihood(np.array(channel.reports)[None, :], np.array(answers)[:, None])
    assert logs == pytest.approx(np.log(channel.matrix()), abs=1e-12)


@pytest.mark.parametrize("null", ["centre", "random", 0])
def test_null_is_as_hidden_as_any_answer(null: str | int) -> None:
    noise = Laplace.calibrated(Domain.ordinal(range(6)), 1.0, null=null)
    assert noise.hides_participation
    assert worst_log_ratio(noise.channel()) <= noise.guarantee(1, Unit.ANSWER).epsilon * (1 + 1e-12)


def test_every_row_of_a_channel_adds_up_to_its_total() -> None:
    channel = Laplace.calibrated(Domain.ordinal(range(5)), 1.0, null="random").channel()
    assert {sum(row) for row in channel.weights} == {channel.total}


def test_null_is_refused_where_participation_is_public() -> None:
    noise = Laplace.calibrated(DIGITS, 1.0)
    with pytest.raises(DataError, match=r"answer 2 is not in the domain .* and no NULL"):
        noise.perturb(cells_of([3, NULL]), None, SeededRandomness(1))


def test_a_report_out_of_reach_is_refused_by_its_row() -> None:
    noise = Laplace.calibrated(DIGITS, 1.0)
    with pytest.raises(DataError, match="report 2 is not a code from"):
        noise.log_likelihood([0, 10_000], [1, 1])


def test_as_published_the_range_of_ten_digits_is_nine() -> None:
    published = Laplace.as_published(DIGITS, 1.0)
    claim = published.claim()
    assert claim is not None
    assert claim.epsilon == pytest.approx(1.0, abs=1e-8)
    assert published.guarantee(1, Unit.ANSWER).epsilon == pytest.approx(0.9, abs=1e-8)


def test_as_published_two_distant_values_are_hardly_hidden() -> None:
    published = Laplace.as_published(Domain.ordinal([0, 100]), 0.5)
    assert published.guarantee(1, Unit.ANSWER).epsilon == pytest.approx(25.0, abs=1e-6)


def test_as_published_beyond_64_bits_still_betrays_forty_times_its_claim() -> None:
    published = Laplace.as_published(Domain.ordinal([0, 100]), 1.0)
    assert published.guarantee(1, Unit.ANSWER).epsilon > 40


def test_a_sound_calibration_claims_nothing_of_a_paper() -> None:
    assert Laplace.calibrated(DIGITS, 1.0).claim() is None


@pytest.mark.parametrize(
    "noise",
    [Laplace.calibrated(DIGITS, 1.0, null="random"), Laplace.calibrated(DIGITS, 1.0, null=3),
     Laplace.as_published(Domain.numeric(0, 1, step=0.05), 1.0)],
)  # fmt: skip
def test_json_comes_back_as_it_went(noise: Laplace) -> None:
    assert Laplace.of_json(noise.as_json()) == noise


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 0}, "steps must be an integer from 1 to 65,536"),
        ({"reach": 3}, "reach must be an integer from 9 to 131,072"),
        ({"reach": 10**6}, "reach must be an integer"),
        ({"centre": "7"}, "centre must be even"),
        ({"ratio": "0"}, "ratio must be an integer from 1"),
        ({"ratio": "2"}, "64-bit weights cannot represent this noise"),
        ({"null": "zero"}, "null must be absent, centre, random or the code of a point"),
        ({"null": 10}, "null must be an integer from 0 to 9"),
        ({"null": True}, "null must be an integer from 0 to 9"),
        ({"step": "1e9"}, "step must be a fraction above 0"),
        ({"other": 1}, "unknown fields: 'other'"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str) -> None:
    document = Laplace.calibrated(DIGITS, 1.0).as_json() | change
    with pytest.raises(UsageError, match=message):
        Laplace.of_json(document)


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf])
def test_an_epsilon_that_is_no_target_is_refused(epsilon: float) -> None:
    with pytest.raises(UsageError, match="epsilon must be above 0 and finite"):
        Laplace.calibrated(DIGITS, epsilon)
    with pytest.raises(UsageError, match="epsilon must be above 0 and finite"):
        Laplace.as_published(DIGITS, epsilon)


def test_labels_without_order_are_refused() -> None:
    with pytest.raises(UsageError, match="laplace takes numbers or labels in order"):
        Laplace.calibrated(Domain.categorical("ab"), 1.0)


def test_a_channel_too_large_to_write_out_is_refused() -> None:
    with pytest.raises(UsageError, match="use log_likelihood, or a coarser step"):
        Laplace.calibrated(Domain.numeric(0, 1), 0.1).channel()


def test_the_table_stays_within_its_longest() -> None:
    assert Laplace.calibrated(Domain.numeric(0, 1, step=2**-16), 0.001).reach == LONGEST
