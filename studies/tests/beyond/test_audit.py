"""Tests of study `audit`: its cases, its confidence, and its verdict."""

from __future__ import annotations

from typing import Any

import pytest

from sottovoce.mechanisms.policies import Target
from sottovoce.mechanisms.registry import RELEASES
from sottovoce.model import Domain, Unit
from sottovoce_studies.beyond.audit import (
    DOUBT,
    QUICK_PUBLISHED,
    STUDY,
    Seen,
    cases,
    judge,
    overstated,
)
from sottovoce_studies.beyond.audit_trials import Audited, audited, published_cases, sound_cases

COIN = Domain.categorical("ab")
QUICK = ("randomized-response", "laplace", "duchi", "sealed-sum")
"""Mechanisms that are calibrated quickly."""


def seen(form: Any, claimed: float, stated: float | None, bound: float) -> Seen:
    case = Audited("x", "two-layer", COIN, Target(1.0, answers=5), form)
    return case, {"claimed": claimed, "stated": stated, "bound": bound, "event": "e"}


def test_every_mechanism_of_the_product_is_audited_in_both_units() -> None:
    sound = [case for case in cases("full") if case.form == "sound"]
    for name in RELEASES:
        assert {case.target.unit for case in sound if case.mechanism == name} == set(Unit)


def test_all_audits_together_are_wrong_less_than_once_in_a_thousand_runs() -> None:
    for size in ("quick", "full"):
        cells = STUDY.plan(size, 1).cells
        assert sum(1 - cell.arguments[2] for cell in cells) == pytest.approx(DOUBT)
    assert DOUBT < 1e-3


def test_every_audit_has_different_noise() -> None:
    seeds = [cell.arguments[3] for cell in STUDY.plan("full", 1).cells]
    assert len(set(seeds)) == len(seeds)


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in RELEASES],
)
def test_a_sound_case_states_what_it_was_calibrated_to(name: str) -> None:
    for case in sound_cases(name, 1.0):
        found = audited(case, 16, 0.9, 1)
        assert found["claimed"] == 1.0
        assert 1.0 - 1e-3 < found["stated"] <= 1.0


def test_what_the_papers_overstate_is_known() -> None:
    found = {
        case.name: (case, audited(case, 16, 0.9, 1))
        for case in published_cases(1.0)
        if case.name in QUICK_PUBLISHED
    }
    assert all(map(overstated, found.values()))
    assert found["P1 two-layer"][1]["stated"] == pytest.approx(2.9957, abs=1e-3)  # ln 20
    assert found["P4 LP, values 0, 20"][1]["stated"] == pytest.approx(10, abs=1e-3)
    assert found["P4 MF"][1]["stated"] is None


@pytest.mark.slow
def test_what_the_papers_do_not_overstate_is_known_too() -> None:
    found = [(case, audited(case, 16, 0.9, 1)) for case in published_cases(1.0)]
    kept = {case.name for case, result in found if not overstated((case, result))}
    assert kept == {"P3 Gaussian", "P4 LP, values 0 … 9"}


def test_bounds_within_what_is_stated_and_claims_refuted_hold() -> None:
    found = [seen("sound", 1.0, 1.0, 0.9), seen("as published", 1.0, 3.0, 1.5)]
    assert judge(found, 100).rulings.guarantee.verdict == "holds"


def test_a_bound_above_what_is_stated_fails() -> None:
    outcome = judge([seen("sound", 1.0, 1.0, 1.1)], 100)
    assert str(outcome.rulings.guarantee) == "fails: x exceeds its stated guarantee"
    assert judge([seen("as published", 1.0, 3.0, 3.1)], 100).rulings.guarantee.verdict == "fails"


@pytest.mark.parametrize("stated", [3.0, None])
def test_an_overstated_claim_that_is_not_refuted_fails(stated: float | None) -> None:
    outcome = judge([seen("as published", 1.0, stated, 0.9)], 100)
    assert str(outcome.rulings.guarantee) == "fails: the audit does not refute the claim of x"


def test_one_refutation_exposes_a_mechanism() -> None:
    found = [seen("as published", 1.0, 3.0, 0.9), seen("as published", 2.0, 3.0, 2.5)]
    outcome = judge(found, 100)
    assert outcome.rulings.guarantee.verdict == "holds"
    assert "1 of 2 overstated claims" in outcome.explanation


def test_a_claim_that_is_kept_needs_no_refutation() -> None:
    assert judge([seen("as published", 1.0, 0.9, 0.5)], 100).rulings.guarantee.verdict == "holds"


def test_charts_have_the_line_that_must_not_be_crossed() -> None:
    found = [seen("sound", 1.0, 1.0, 0.9), seen("as published", 1.0, 3.0, 1.5)]
    worker = Audited("x", "two-layer", COIN, Target(1.0, Unit.WORKER, answers=5))
    sound, published = judge([*found, (worker, found[0][1])], 100).charts
    assert [series.name for series in sound.series] == ["per answer", "per worker", "stated"]
    assert [series.name for series in published.series] == ["x", "claimed"]
    assert sound.series[-1].x == sound.series[-1].y
