"""The law of P1's Δ under two layers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sottovoce.errors import UsageError
from sottovoce_studies.theorems import DeltaLaw

laws = st.builds(DeltaLaw, st.floats(0.05, 1.0), st.integers(1, 12))


def integrated(law: DeltaLaw, power: int, depth: float = 0.0) -> float:
    """∫ Δ^power f(Δ) dΔ from 0 to bⁿ exp(−depth), over ln Δ: f is unbounded at 0."""

    def slice_of(x: float) -> float:
        delta = law.greatest * math.exp(-x)
        return float(law.pdf(delta)) * delta ** (power + 1)

    return float(
        sum(quad(slice_of, depth + a, depth + a + 10, epsabs=1e-14)[0] for a in range(0, 90, 10))
    )


def test_the_law_has_its_reference_values() -> None:
    law = DeltaLaw(0.8, 3)
    assert float(law.pdf(0.05)) == pytest.approx(5.28484, abs=5e-6)
    assert float(law.cdf(0.05)) == pytest.approx(0.589076, abs=5e-7)
    assert law.mean == pytest.approx(0.064)


@settings(max_examples=30)
@given(laws)
def test_the_density_integrates_to_one(law: DeltaLaw) -> None:
    assert integrated(law, 0) == pytest.approx(1, abs=1e-9)


@settings(max_examples=30)
@given(laws)
def test_the_mean_is_that_of_the_density_and_equals_one_layers(law: DeltaLaw) -> None:
    assert integrated(law, 1) == pytest.approx(law.one_layer, rel=1e-8)


@settings(max_examples=30)
@given(laws, st.floats(0.0, 8.0))
def test_the_distribution_is_the_integral_of_the_density(law: DeltaLaw, depth: float) -> None:
    below = law.greatest * math.exp(-depth)
    assert float(law.cdf(below)) == pytest.approx(integrated(law, 0, depth), abs=1e-9)


@given(laws, st.floats(0.001, 0.999))
def test_a_quantile_undoes_the_distribution(law: DeltaLaw, share: float) -> None:
    assert float(law.cdf(law.quantile(share))) == pytest.approx(share, rel=1e-9)


@given(laws.filter(lambda law: law.n > 1))
def test_with_two_workers_or_more_the_median_is_below_the_mean(law: DeltaLaw) -> None:
    assert law.median < law.mean


@pytest.mark.statistical  # 6.5 standard errors: once in 1e10
def test_products_of_uniform_draws_follow_the_law() -> None:
    law, draws = DeltaLaw(0.7, 4), 200_000
    products = np.random.default_rng(3).uniform(0, 0.7, (4, draws)).prod(axis=0)
    for share in (0.1, 0.5, 0.9):
        seen = float((products <= law.quantile(share)).mean())
        assert abs(seen - share) < 6.5 * math.sqrt(share * (1 - share) / draws)


def test_outside_its_support_there_is_nothing() -> None:
    law = DeltaLaw(0.5, 2)
    assert law.pdf([-1.0, 0.0, 0.26]).tolist() == [0, 0, 0]
    assert law.cdf([-1.0, 0.0, 0.26]).tolist() == [0, 0, 1]


def test_a_density_beyond_the_floats_is_asked_for_in_vain() -> None:
    assert float(DeltaLaw(1e-5, 100).pdf(0.5)) == 0


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match=r"share must lie in \[0, 1\], not 1.5"):
        DeltaLaw(0.5, 2).quantile(1.5)


@pytest.mark.parametrize(("b", "n"), [(0.0, 3), (1.1, 3), (0.5, 0)])
def test_a_law_of_nothing_is_refused(b: float, n: int) -> None:
    with pytest.raises(UsageError, match="must"):
        DeltaLaw(b, n)
