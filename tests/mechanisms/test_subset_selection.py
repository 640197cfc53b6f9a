"""Subset selection, and sets as masks."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.laws.subsets import best_size, masks, uniform_masks
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.model import NULL, WORDS, Cells, Domain, Unit


def cells_of(codes: list[int]) -> Cells:
    count = len(codes)
    return Cells(
        np.zeros(count, np.int32),
        np.arange(count, dtype=np.int32),
        np.array(codes, np.int32),
        np.array(["w"], object),
        np.arange(count).astype(object),
    )


def domain_of(labels: int) -> Domain:
    return Domain.categorical(range(labels))


@pytest.mark.parametrize(("elements", "size"), [(1, 0), (1, 1), (6, 0), (6, 3), (9, 4), (12, 12)])
def test_ranks_are_one_to_one_with_sets(elements: int, size: int) -> None:
    ranks = np.arange(math.comb(elements, size), dtype=np.uint64)
    sets = (sum(1 << i for i in s) for s in itertools.combinations(range(elements), size))
    assert masks(ranks, elements, size).tolist() == sorted(sets)


@settings(deadline=None)
@given(size=st.integers(0, 63), share=st.floats(0, 1))
def test_the_rank_of_a_set_of_63_gives_the_set_back(size: int, share: float) -> None:
    number = math.comb(63, size)
    rank = min(int(share * number), number - 1)
    mask = int(masks(np.array([rank], np.uint64), 63, size)[0])
    members = [i for i in range(64) if mask >> i & 1]
    assert sum(math.comb(member, i + 1) for i, member in enumerate(members)) == rank


def test_large_sets_are_uniform_in_every_member() -> None:
    sets = uniform_masks(63, 31, 100_000, SeededRandomness(4))
    held = [(sets >> np.uint64(i) & np.uint64(1)).mean() for i in range(63)]
    assert held == pytest.approx([31 / 63] * 63, abs=0.0105)  # 6 sigma, 63 times


@pytest.mark.parametrize(("answer", "row"), [(0, 0), (3, 3), (NULL, 5)])
def test_reports_follow_the_channel(answer: int, row: int) -> None:
    mechanism = SubsetSelection.calibrated(domain_of(5), 1.0, null=True)
    channel = mechanism.channel()
    reports = mechanism.perturb(cells_of([answer] * 200_000), None, SeededRandomness(row))
    seen = [(reports.code == np.uint64(mask)).mean() for mask in channel.reports]
    assert math.fsum(seen) == 1
    assert seen == pytest.approx(channel.matrix()[row], abs=0.007)  # 6 sigma


def test_sixty_four_labels_fit_a_mask() -> None:
    mechanism = SubsetSelection.calibrated(domain_of(64), 1.0)
    reports = mechanism.perturb(cells_of([63] * 20_000), None, SeededRandomness(2)).code
    reports = reports.astype(np.uint64)
    assert {int(mask).bit_count() for mask in reports} == {mechanism.size}
    held = (reports >> np.uint64(63)).mean()
    assert held == pytest.approx(mechanism.include / WORDS, abs=0.022)  # 6 sigma


@settings(deadline=None)
@given(symbols=st.integers(2, 6), share=st.floats(0, 0.999), data=st.data())
def test_epsilon_is_the_largest_ratio_of_weights(
    symbols: int, share: float, data: st.DataObject
) -> None:
    size = data.draw(st.integers(1, symbols - 1))
    least = -(-WORDS * size // symbols)
    mechanism = SubsetSelection(symbols, size, least + int(share * (WORDS - 1 - least)))
    channel = mechanism.channel()
    assert {sum(row) for row in channel.weights} == {channel.total}
    largest = max(max(row) for row in channel.weights)
    smallest = min(min(row) for row in channel.weights)
    expected = math.log(largest) - math.log(smallest)
    assert mechanism.guarantee(1, Unit.ANSWER).epsilon == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(symbols=st.integers(2, 5), epsilon=st.floats(0.1, 4), at=st.floats(0, 8))
def test_delta_is_that_of_all_submissions_of_two_answers(
    symbols: int, epsilon: float, at: float
) -> None:
    mechanism = SubsetSelection.calibrated(domain_of(symbols), epsilon)
    matrix = mechanism.channel().matrix()
    here, there = np.outer(matrix[0], matrix[0]), np.outer(matrix[1], matrix[1])
    expected = np.maximum(here - math.exp(at) * there, 0).sum()
    assert mechanism.delta(at, 2, Unit.WORKER) == pytest.approx(expected, rel=1e-9, abs=1e-13)


@settings(max_examples=30, deadline=None)
@given(
    labels=st.integers(2, 63),
    epsilon=st.floats(0.05, 18),
    unit=st.sampled_from(Unit),
    delta=st.sampled_from([0.0, 1e-6]),
    null=st.booleans(),
)
def test_calibration_lands_just_within_the_target(
    labels: int, epsilon: float, unit: Unit, delta: float, null: bool
) -> None:
    mechanism = SubsetSelection.calibrated(
        domain_of(labels), epsilon, unit=unit, delta=delta, answers=20, null=null
    )
    assert epsilon - 1e-6 <= mechanism.guarantee(20, unit, delta).epsilon <= epsilon


@settings(deadline=None)
@given(symbols=st.integers(2, 64), epsilon=st.floats(0.01, 800))
def test_the_best_size_is_the_papers_up_to_rounding(symbols: int, epsilon: float) -> None:
    ideal = symbols / (math.exp(min(epsilon, 700)) + 1)
    assert abs(best_size(symbols, epsilon) - max(ideal, 1)) < 1 + 1e-9


def test_two_labels_are_randomised_response() -> None:
    mechanism = SubsetSelection.calibrated(domain_of(2), 1.0)
    assert mechanism.size == 1
    assert mechanism.include / WORDS == pytest.approx(1 / (1 + math.exp(-1)))


def test_the_likelihood_is_the_channel_also_of_bins_and_null() -> None:
    mechanism = SubsetSelection.calibrated(Domain.numeric(0, 12, 1), 1.5, null=True, bins=5)
    channel = mechanism.channel()
    answers = np.array([*range(13), NULL])
    found = np.exp(mechanism.log_likelihood(channel.reports, answers[:, None]))
    assert found == pytest.approx(channel.matrix())


def test_numbers_are_cut_into_bins_of_nearly_equal_width() -> None:
    mechanism = SubsetSelection.calibrated(Domain.numeric(0, 10), 1.0)
    bins = mechanism.symbols(np.arange(1001))
    assert (bins[0], bins[-1], mechanism.bins, mechanism.labels) == (0, 9, 10, 0)
    assert (np.diff(bins) >= 0).all()
    assert sorted(set(np.bincount(bins).tolist())) == [100, 101]


def test_few_points_have_a_bin_each() -> None:
    mechanism = SubsetSelection.calibrated(Domain.numeric(0, 3, 1), 1.0)
    assert mechanism.symbols([0, 1, 2, 3]).tolist() == [0, 1, 2, 3]


def test_bins_at_the_finest_grid_do_not_overflow() -> None:
    mechanism = SubsetSelection.calibrated(Domain.numeric(0, 1 << 16, 1), 1.0, bins=64)
    assert mechanism.symbols(np.array([1 << 16], np.int32)).tolist() == [63]


@pytest.mark.parametrize("null", [False, True])
@pytest.mark.parametrize("domain", [domain_of(7), Domain.numeric(0, 5)], ids=str)
def test_json_gives_the_mechanism_back(domain: Domain, null: bool) -> None:
    mechanism = SubsetSelection.calibrated(domain, 1.0, null=null)
    assert SubsetSelection.of_json(mechanism.as_json()) == mechanism


@pytest.mark.parametrize(("labels", "null"), [(65, False), (64, True)])
def test_more_symbols_than_bits_are_refused(labels: int, null: bool) -> None:
    with pytest.raises(UsageError, match="mask of 64 bits"):
        SubsetSelection.calibrated(domain_of(labels), 1.0, null=null)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((1, 1, WORDS - 1), "labels must be an integer from 2"),
        ((5, 0, WORDS - 1), "size must be an integer from 1 to 4"),
        ((5, 5, WORDS - 1), "size must be an integer from 1 to 4"),
        ((5, 2, WORDS), "include must be an integer"),
        ((5, 2, 2 * WORDS // 5), "at which nothing is revealed"),
        ((5, 2, WORDS - 1, 1), "null must be true or false"),
        ((0, 2, WORDS - 1, False, 5), "both bins and steps"),
        ((3, 2, WORDS - 1, False, 5, 9), "labels must be an integer from 0 to 0"),
        ((0, 2, WORDS - 1, False, 5, 0), "steps must be an integer from 1"),
        ((0, 2, WORDS - 1, False, 5, 3), "bins must be an integer from 2 to 4"),
    ],
)
def test_what_is_no_law_is_refused(arguments: tuple[int, int, int], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        SubsetSelection(*arguments)


@pytest.mark.parametrize("null", [False, True])
def test_pages_list_it_only_for_labels_that_fit(null: bool) -> None:
    listing = SubsetSelection.listing
    assert listing is not None
    assert listing.most_labels == 63
    SubsetSelection.calibrated(Domain.categorical(range(listing.most_labels)), 1.0, null=null)


def test_too_many_sets_are_not_listed() -> None:
    with pytest.raises(UsageError, match="too many to list"):
        SubsetSelection.calibrated(domain_of(40), 0.5).channel()


def test_not_answering_is_refused_unless_it_is_private() -> None:
    mechanism = SubsetSelection.calibrated(domain_of(4), 1.0)
    assert not mechanism.hides_participation
    with pytest.raises(DataError, match="no NULL"):
        mechanism.perturb(cells_of([NULL]), None, SeededRandomness(0))
