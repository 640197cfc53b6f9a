"""The ability of workers that a plan assumes."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.planning.scenario import LabelAbility, NumberAbility


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


@pytest.mark.parametrize("labels", [2, 5, 40])
def test_a_mixed_crowd_has_able_and_weak_workers(labels: int) -> None:
    drawn = LabelAbility("mixed").draw(rng(), 4000, labels)
    able = drawn >= 0.8
    assert able.mean() == pytest.approx(0.4, abs=0.05)  # 6 sigma
    assert drawn[able].max() < 0.95
    assert drawn[~able].min() >= max(0.0, 1 / labels - 0.05)
    assert drawn[~able].max() < 0.6


@pytest.mark.parametrize(("name", "low", "high"), [("able", 0.55, 0.8), ("expert", 0.85, 0.98)])
def test_a_named_crowd_keeps_its_range(name: str, low: float, high: float) -> None:
    drawn = LabelAbility(name).draw(rng(), 2000, 4)  # type: ignore[arg-type]
    assert low <= drawn.min() < low + 0.01
    assert high - 0.01 < drawn.max() < high


def test_accuracies_are_resampled() -> None:
    drawn = LabelAbility((0.3, 0.9)).draw(rng(), 1000, 2)
    assert set(drawn) == {0.3, 0.9}


def test_the_first_workers_are_the_same_in_a_larger_crowd() -> None:
    for ability in (LabelAbility(), LabelAbility((0.2, 0.4, 0.9))):
        few, many = (ability.draw(rng(), size, 3) for size in (10, 50))
        assert (few == many[:10]).all()


def test_variances_of_a_mixed_crowd_have_the_mean_of_a_hundredth() -> None:
    drawn = NumberAbility().draw(rng(), 40_000)
    assert np.square(drawn).mean() == pytest.approx(0.01, abs=0.0003)  # 6 sigma


def test_deviations_are_resampled() -> None:
    assert set(NumberAbility((0.1, 0.2)).draw(rng(), 500)) == {0.1, 0.2}


@pytest.mark.parametrize("given", ["clever", (), (0.5, 1.2), (float("nan"),)])
def test_what_is_no_ability_is_refused(given: object) -> None:
    for kind in (LabelAbility, NumberAbility):
        with pytest.raises(UsageError, match=r"mixed, able, expert|from 0 to 1"):
            kind(given)  # type: ignore[arg-type]


def test_every_assumption_is_said_in_words() -> None:
    assert "4 in 10" in LabelAbility().sentence(4)
    assert "20 to 60 %" in LabelAbility().sentence(4)
    assert "85 to 98 %" in LabelAbility("expert").sentence(4)
    assert "pilot" in LabelAbility((0.5,)).sentence(4)
    assert "exponential" in NumberAbility().sentence()
    assert "5 to 10 % of the range" in NumberAbility("able").sentence()
