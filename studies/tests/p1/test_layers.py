"""Tests of one trial of one and two layers: the noise, the methods, and the errors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sottovoce.model import Domain, Reports, Unit
from sottovoce_studies.p1.crowds import PeerGrades
from sottovoce_studies.p1.layers import (
    AS_PRINTED,
    METHODS,
    OPEN,
    PUBLISHED,
    Setting,
    clean_errors,
    errors_at,
    noise_seed,
    one_layer,
    same_guarantee,
    settings_at,
    two_layer,
)

BINARY = Domain.categorical((0, 1))


@dataclass(frozen=True, slots=True)
class Split:
    """Two workers who agree on the first task and disagree on the second."""

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        return Reports.of([0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1], domain=BINARY), np.array([1, 1])


@pytest.mark.parametrize("epsilon", [1.0, 0.01, 0.001])
def test_one_layer_flips_as_theorem_6_2_has_it(epsilon: float) -> None:
    flip = 1 - one_layer(BINARY, epsilon).keep_probability
    assert math.log((1 - flip) / flip) == pytest.approx(epsilon, abs=1e-12)


def test_at_epsilon_0_one_layer_is_a_coin_and_two_layers_are_uniform() -> None:
    assert one_layer(BINARY, 0.0).keep_probability == 0.5
    mean = float(two_layer(BINARY, 0.0).hyper.mean) / 2**64
    assert mean == pytest.approx(0.5, abs=1e-15)
    # ln k per answer, as is known of U(0, 1).
    assert two_layer(BINARY, 0.0).guarantee(30, Unit.ANSWER).epsilon == pytest.approx(math.log(30))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_an_equal_guarantee_has_the_delta_of_two_layers(epsilon: float) -> None:
    promised = two_layer(BINARY, epsilon).delta(epsilon, 5, Unit.ANSWER)
    assert same_guarantee(BINARY, epsilon, 5).delta(epsilon, 1, Unit.ANSWER) == pytest.approx(
        promised
    )


def test_a_tie_goes_to_label_0_as_printed() -> None:
    assert clean_errors(Split(), 0, 1)["MV"] == 0.5


def test_a_random_tie_without_noise_counts_in_part() -> None:
    assert clean_errors(Split(), 0, 1, Setting("random"))["MV"] == pytest.approx(0.25)


def test_a_setting_has_one_choice_for_each_open_point() -> None:
    assert all(value in OPEN[point] for point, value in AS_PRINTED.values.items())
    assert Setting.of(AS_PRINTED.values) == AS_PRINTED


def test_the_setting_as_printed_has_the_errors_of_the_other_cells() -> None:
    errors = errors_at(PeerGrades(), 1.0, 0, 1)
    (found,) = settings_at(PeerGrades(), 1.0, 0, 1, [AS_PRINTED])
    assert found == {name: errors[name] for name in (*PUBLISHED, "clean MV", "clean TD")}


@pytest.mark.parametrize(
    "setting",
    [
        Setting("random"),
        Setting(divisor="all questions"),
        Setting(rounds="10"),
        Setting(clipping="1e-06"),
    ],
)
def test_each_open_point_reaches_the_method(setting: Setting) -> None:
    changed = {
        name for name, value in setting.parameters.items() if value != AS_PRINTED.parameters[name]
    }
    assert len(changed) == 1


def test_a_trial_is_the_same_for_the_same_seed_only() -> None:
    first = errors_at(PeerGrades(), 1.0, 0, 1)
    assert first == errors_at(PeerGrades(), 1.0, 0, 1)
    assert first != errors_at(PeerGrades(), 1.0, 1, 1)
    assert set(METHODS) < set(first)


def test_every_epsilon_has_different_noise() -> None:
    seeds = {noise_seed(epsilon, trial, 1) for epsilon in (0.0, 0.001, 0.01) for trial in (0, 1)}
    assert len(seeds) == 6


def test_little_noise_changes_nothing() -> None:
    errors = errors_at(PeerGrades(), 40.0, 0, 1)
    assert errors["one-layer TD"] == pytest.approx(errors["clean TD"], abs=1 / 26)
