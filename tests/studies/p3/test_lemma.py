"""P3 Lemma 4.7: its distance, and how many pairs it covers."""

from __future__ import annotations

import math

import pytest

from sottovoce_studies.p3.pipeline import coverage, published_distance


def test_the_distance_falls_with_the_quality_of_data() -> None:
    assert published_distance(1.0) == pytest.approx(2 * math.sqrt(2 * math.log(10)))
    assert published_distance(25.0) == pytest.approx(published_distance(1.0) / 25)


def test_the_lemma_fails_where_it_says_it_holds() -> None:
    assert coverage(1.0).holds
    assert not coverage(25.0).holds
    assert coverage(25.0).sound == pytest.approx(0.576, abs=5e-4)
    assert coverage(25.0).value == pytest.approx(0.778, abs=5e-4)
