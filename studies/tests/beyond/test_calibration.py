"""Tests of study `calibration`: the expected calibration error."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce_studies.beyond.calibration import reliability


def test_calibration_error_is_the_mean_distance_over_bins_of_equal_mass() -> None:
    confidence = np.repeat([0.6, 0.9], 10)
    right = np.array([1.0] * 5 + [0.0] * 5 + [1.0] * 10)
    found = reliability(confidence, right, bins=2)
    assert found.error == pytest.approx((0.1 + 0.1) / 2)
    assert found.right.tolist() == [0.5, 1.0]


def test_bins_need_truths() -> None:
    with pytest.raises(UsageError, match="15 bins need as many truths, not 3"):
        reliability(np.ones(3), np.ones(3))
