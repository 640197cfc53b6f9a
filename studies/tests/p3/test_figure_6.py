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
    sizes = {"crh": 0.1, "mean": 0.2, "median": 0.3}
    errors = {
        f"{name} {when}": sizes[name] for name in METHODS for when in ("original", "perturbed")
    }
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


def test_the_stand_in_is_no_evidence_for_the_users_of_the_paper() -> None:
    outcome = judge(found(), [])
    assert outcome.rulings.verdicts == ("not claimed", "cannot be checked", "not claimed")
    assert "on a stand-in weights on original data agree" in outcome.rulings.shape.reason
    verdicts = {name: ruling.verdict for name, ruling in outcome.claims.items()}
    assert verdicts == {
        "P3-V.B-2": "cannot be checked",
        "P3-V.B-3": "holds",
        "P3-V.B-4": "cannot be checked",
    }
    assert len(outcome.charts) == 3


@pytest.mark.parametrize(
    ("change", "why", "claim"),
    [
        ({"correlation_perturbed": 0.5}, "weights on perturbed data agree", "P3-V.B-2"),
        ({"correlation_original": 0.5}, "weights on original data agree", "P3-V.B-2"),
        ({"lowered": 0.6}, "users with large noise lose weight (60%", "P3-V.B-4"),
        ({"lowered_others": 0.95}, "others lose weight less often (95%)", "P3-V.B-4"),
        ({"crh_perturbed": 0.25}, "can be better than mean and median", "P3-V.B-3"),
    ],
)
def test_what_is_false_on_the_stand_in_is_told(
    change: dict[str, float], why: str, claim: str
) -> None:
    outcome = judge(found(**change), [])
    assert "on a stand-in false: " in outcome.rulings.shape.reason
    assert why in outcome.rulings.shape.reason
    assert outcome.claims[claim].verdict != "holds"


def test_the_noise_that_meets_most_statements_is_told() -> None:
    seen = found()
    seen[NOISES[0]] = found(lowered=0.1)[NOISES[0]]
    outcome = judge(seen, [])
    assert "false" not in outcome.rulings.shape.reason
    assert outcome.claims["P3-V.B-3"].reason.endswith("on a stand-in (mean noise: 5)")
    assert [choice.met for choice in outcome.choices] == [3, 5]


def test_ours_is_shown_where_it_was_read() -> None:
    own = [row.get("ours") for row in judge(found(), [0.05, 0.07]).rows]
    assert [value for value in own if value is not None] == [pytest.approx(0.06)]
