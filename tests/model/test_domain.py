"""Domains: what an answer may be."""

from __future__ import annotations

import math

import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Kind


@pytest.mark.parametrize("kind", [Kind.CATEGORICAL, Kind.ORDINAL])
def test_labels_are_needed(kind: Kind) -> None:
    with pytest.raises(UsageError, match=f"a {kind} domain needs at least one label"):
        Domain(kind, ())


@pytest.mark.parametrize("labels", [("a", "a"), (1, "1"), (True, "True")])
def test_labels_must_differ_as_text(labels: tuple[str, str]) -> None:
    with pytest.raises(UsageError, match="the labels of a categorical domain must differ"):
        Domain.categorical(labels)


def test_numbers_have_no_labels() -> None:
    with pytest.raises(UsageError, match="a numeric domain has a range, not labels"):
        Domain(Kind.NUMERIC, ("a",))


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (math.nan, 1), (0, math.nan)])
def test_a_range_needs_room(low: float, high: float) -> None:
    with pytest.raises(UsageError, match="a numeric range needs low < high, not"):
        Domain.numeric(low, high)


def test_numbers_are_unbounded_unless_said() -> None:
    assert (Domain.numeric().low, Domain.numeric().high) == (-math.inf, math.inf)


def test_numeric_labels_stand_for_themselves() -> None:
    assert Domain.ordinal(["1", "2.5", "10"]).scale.tolist() == [1, 2.5, 10]


@pytest.mark.parametrize("labels", [["low", "mid", "high"], ["1", "2", "many"], ["1", "2", "inf"]])
def test_other_labels_stand_for_their_rank(labels: list[str]) -> None:
    assert Domain.ordinal(labels).scale.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("domain", "words"),
    [
        (Domain.numeric(0, 10), "numeric 0..10"),
        (Domain.categorical("ab"), "categorical {a, b}"),
        (Domain.ordinal(range(9)), "ordinal {0, 1, 2, 3, 4, 5, …}"),
    ],
)
def test_says_what_it_is(domain: Domain, words: str) -> None:
    assert str(domain) == words


def test_knows_its_size() -> None:
    assert (Domain.categorical("abc").size, Domain.numeric().size) == (3, 0)
