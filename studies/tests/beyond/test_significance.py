"""Tests of p values of paired differences, and of Holm's correction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from sottovoce_studies.beyond.significance import above, holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_step_by_step(p_values: list[float]) -> None:
    corrected = holm(p_values)
    for level in (0.01, 0.05, 0.2, 0.5):
        rejected: set[int] = set()
        for place in np.argsort(p_values, kind="stable").tolist():
            if p_values[place] * (len(p_values) - len(rejected)) > level:
                break
            rejected.add(place)
        assert rejected == set(np.flatnonzero(corrected <= level).tolist())


def test_the_p_value_is_that_of_a_one_sided_t_test() -> None:
    differences = np.random.default_rng(1).normal(0.02, 0.03, 40)
    expected = ttest_1samp(differences, 0.01, alternative="greater").pvalue
    assert above(differences.tolist(), 0.01) == pytest.approx(expected)


def test_a_single_trial_is_never_significant() -> None:
    assert above([0.5]) == 1.0


def test_equal_differences_are_significant_only_above_the_allowed_one() -> None:
    assert above([0.02] * 3, 0.01) == 0.0
    assert above([0.01] * 3, 0.01) == 1.0
