"""Tests of MF's variants: the mechanism, its minimum, and gradient steps that lead there."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.codes import answer_cells
from sottovoce.model import Domain
from sottovoce_studies.p4.factorization import (
    DESCENTS,
    OPEN,
    VARIANTS,
    Factorization,
    descended,
    variant_named,
)
from sottovoce_studies.p4.sparse_trials import crowd

TEN = Domain.ordinal(range(10))
ANSWERS = crowd(30, 40, 0.5).draw(3)[0]


def test_reports_are_those_of_the_mechanism() -> None:
    variant = Factorization(2)
    found = variant.reports(answer_cells(ANSWERS, TEN).dense(), TEN, 1.0, "", 7)
    expected = perturb(ANSWERS, variant.policy(TEN, 1.0), SeededRandomness(7))
    assert found is not None
    np.testing.assert_allclose(found.value, expected.value)


def test_a_variant_without_a_minimum_is_refused_unless_ridged() -> None:
    cells = answer_cells(crowd(50, 20, 0.9).draw(1)[0], TEN).dense()
    assert Factorization(10).reports(cells, TEN, 1.0, "", 7) is None
    assert Factorization(10, 0.01).reports(cells, TEN, 1.0, "", 7) is not None


def test_profiles_of_one_sign_represent_a_truth_that_all_tasks_share() -> None:
    cells = answer_cells(ANSWERS, TEN).dense()
    same = cells.reporting(np.where(cells.code >= 0, 7, cells.code))
    one, both = (
        Factorization(2, profiles=profiles).reports(same, TEN, 1e9, "", 7)
        for profiles in ("0 to 1", "-1 to 1")
    )
    assert one is not None
    assert both is not None
    assert one.value == pytest.approx(7, abs=1e-6)
    assert np.abs(np.asarray(both.value, float) - 7).mean() > 3


def test_gradient_steps_lead_to_the_minimum() -> None:
    rng = np.random.default_rng(2)
    factors = rng.standard_normal((5, 3, 8))
    hessian, pull = factors @ factors.transpose(0, 2, 1), rng.standard_normal((5, 3))
    minimum = descended(hessian, pull, None)
    assert np.einsum("wij,wj->wi", hessian, minimum) == pytest.approx(pull)
    apart = [np.abs(descended(hessian, pull, steps) - minimum).max() for steps in (5, 50, 2_000)]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-9


def test_every_variant_has_its_own_name_and_choices() -> None:
    every = (*VARIANTS, *DESCENTS)
    assert len({each.name for each in every}) == len(every)
    assert all(each.values[point] in OPEN[point] for each in every for point in OPEN)
    assert variant_named("MF d 10, ridge 0.01, 200 steps") == Factorization(10, 0.01, steps=200)
