"""Tests of study `p3-figure-6`: the verdict."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce_studies.p3.crh_weights import METHODS, SHOWN
from sottovoce_studies.p3.figure_6 import NOISES, judge


def found(**changes: float) -> dict[float, list[dict[str, Any]]]:
    """The same trial at every noise, which supports the claim except for given changes."""
    columns = (
        "noise",
        "estimated original",
        "true original",
        "estimated perturbed",
        "true perturbed",
    )
    errors = {f"{name} {when}": 0.1 for name in METHODS for when in ("original", "perturbed")}
    trial: dict[str, Any] = {
        "noise": 1.0,
        "constant": 9.0,
        "lowered": 0.9,
        "lowered others": 0.4,
        **errors,
        "correlation original": 0.99,
        "correlation perturbed": 0.98,
        "users": {name: [1.0 + place for place in range(SHOWN)] for name in columns},
    }
    return {
        noise: [trial | {k.replace("_", " "): v for k, v in changes.items()}] for noise in NOISES
    }


def test_it_holds_in_shape_where_weights_follow_and_noise_lowers_them() -> None:
    outcome = judge(found(), [])
    assert outcome.verdict == "holds in shape"
    assert len(outcome.charts) == 3


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"correlation_perturbed": 0.5}, "a correlation on perturbed data is 0.50"),
        ({"correlation_original": 0.5}, "a correlation on original data is 0.50"),
        ({"lowered": 0.6}, "only 60% of the noisiest users lose weight"),
        ({"lowered_others": 0.95}, "other users lose weight as often"),
    ],
)
def test_it_fails_where_weights_do_not(change: dict[str, float], why: str) -> None:
    outcome = judge(found(**change), [])
    assert outcome.verdict == "fails"
    assert why in outcome.reason


def test_ours_is_shown_where_it_was_read() -> None:
    own = [row.get("ours") for row in judge(found(), [0.05, 0.07]).rows]
    assert [value for value in own if value is not None] == [pytest.approx(0.06)]
