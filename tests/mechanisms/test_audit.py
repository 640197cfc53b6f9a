"""Mechanisms under the audit: its neighbours, and its submissions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import UsageError
from sottovoce.mechanisms.audit import audit_mechanism, neighbors, submissions
from sottovoce.mechanisms.null_randomized_response import NullRandomizedResponse
from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.mechanisms.subset_selection import SubsetSelection
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import NULL, Domain, Unit

COIN, FIVE = Domain.categorical("ab"), Domain.categorical(range(5))


def _pairs(domain: Domain, unit: Unit, *, null: bool = False) -> list[tuple[list[int], list[int]]]:
    kind = NullRandomizedResponse if null else RandomizedResponse
    mechanism = kind.calibrated(FIVE, 1.0)
    return [(a.tolist(), b.tolist()) for a, b in neighbors(mechanism, domain, 2, unit)]


def test_per_answer_neighbours_differ_in_one_answer() -> None:
    assert _pairs(FIVE, Unit.ANSWER) == [([0, 0], [1, 0]), ([0, 0], [4, 0])]


def test_per_worker_neighbours_differ_in_all_answers() -> None:
    assert _pairs(COIN, Unit.WORKER) == [([0, 0], [1, 1])]


def test_numbers_differ_by_the_whole_range() -> None:
    assert _pairs(Domain.numeric(0, 10, step=1), Unit.ANSWER) == [([0, 0], [10, 0])]


def test_where_participation_is_hidden_null_is_a_neighbour() -> None:
    assert _pairs(COIN, Unit.ANSWER, null=True)[1:] == [([0, 0], [NULL, 0]), ([1, 0], [NULL, 0])]


def test_reports_that_are_not_sent_are_seen_as_such() -> None:
    sampled = Sampled(RandomizedResponse.calibrated(COIN, 1.0), 2)
    rows = submissions(sampled, SeededRandomness(1))(np.zeros(5, np.int32), 1000)
    assert rows.shape == (1000, 5)
    assert (np.isnan(rows).sum(axis=1) == 3).all()


def test_sets_are_seen_symbol_by_symbol() -> None:
    sets = SubsetSelection.calibrated(FIVE, 1.0)
    rows = submissions(sets, SeededRandomness(1))(np.zeros(2, np.int32), 1000)
    assert rows.shape == (1000, 10)
    assert (rows.reshape(1000, 2, 5).sum(axis=2) == sets.size).all()


@pytest.mark.parametrize("option", [{"answers": 0}, {"confidence": 0.0}, {"confidence": -0.5}])
def test_impossible_requests_are_refused(option: dict[str, Any]) -> None:
    mechanism = RandomizedResponse.calibrated(FIVE, 1.0)
    with pytest.raises(UsageError, match=next(iter(option))):
        audit_mechanism(mechanism, FIVE, SeededRandomness(3), **option)


@pytest.mark.statistical
def test_the_bound_is_near_and_below_what_a_sound_mechanism_states() -> None:
    mechanism = NullRandomizedResponse.calibrated(FIVE, 1.0)
    found = audit_mechanism(
        mechanism, FIVE, SeededRandomness(3), answers=2, samples=100_000, confidence=1 - 1e-9
    )
    assert 0.85 < found.epsilon <= mechanism.guarantee(2, Unit.ANSWER).epsilon
    assert found.confidence == 1 - 1e-9


@pytest.mark.statistical
def test_two_layer_as_published_loses_more_than_claimed_and_no_more_than_stated() -> None:
    mechanism = TwoLayer.as_published(COIN, 1.0)
    found = audit_mechanism(
        mechanism, COIN, SeededRandomness(3), answers=20, samples=100_000, confidence=1 - 1e-9
    )
    claim = mechanism.claim()
    assert claim is not None
    assert found.exceeds(claim.epsilon + 0.5)
    assert not found.exceeds(mechanism.guarantee(20, Unit.ANSWER).epsilon)
