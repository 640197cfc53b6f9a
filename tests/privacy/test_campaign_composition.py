"""The joint privacy loss of several campaigns."""

from __future__ import annotations

import math

import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Guarantee, Unit
from sottovoce.privacy.composition import composed


def test_epsilon_delta_and_answers_add_up() -> None:
    total = composed([Guarantee(Unit.WORKER, 3, 0.1, 1e-6), Guarantee(Unit.WORKER, 4, 0.2, 2e-6)])
    assert (total.unit, total.answers) == (Unit.WORKER, 7)
    assert total.epsilon == pytest.approx(0.3)
    assert total.delta == pytest.approx(3e-6)


def test_a_sum_is_an_upper_bound_and_says_so() -> None:
    total = composed([Guarantee(Unit.ANSWER, 1, 1.0, assumptions=("a",))] * 2)
    assert not total.exact
    assert total.assumptions[0] == "a"
    assert any("independent" in line for line in total.assumptions)


def test_one_campaign_keeps_its_guarantee() -> None:
    one = Guarantee(Unit.WORKER, 3, 0.1, 1e-6)
    assert composed([one]) is one


def test_units_do_not_mix() -> None:
    with pytest.raises(UsageError, match="per answer and per worker do not add up"):
        composed([Guarantee(Unit.WORKER, 1, 1.0), Guarantee(Unit.ANSWER, 1, 1.0)])


def test_nothing_is_no_guarantee() -> None:
    with pytest.raises(UsageError, match="no guarantee to compose"):
        composed([])


def test_delta_stops_at_one_and_infinity_stays() -> None:
    total = composed([Guarantee(Unit.WORKER, 1, math.inf, 0.7), Guarantee(Unit.WORKER, 1, 1, 0.7)])
    assert (total.epsilon, total.delta) == (math.inf, 1.0)
