"""Important workers, by P1's measure."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce.inference import importance, important


def test_a_decisive_worker_has_the_importance_of_the_specification() -> None:
    assert 1 / importance([0.1])[0] == pytest.approx(0.1355, abs=5e-5)


def test_always_wrong_tells_as_much_as_always_right() -> None:
    accuracy = np.linspace(0, 1, 21)
    assert importance(accuracy) == pytest.approx(importance(1 - accuracy))


def test_a_coin_flipper_has_importance_one() -> None:
    assert importance([0.5])[0] == pytest.approx(1)


def test_importance_grows_with_the_distance_from_one_half() -> None:
    assert (np.diff(importance(np.linspace(0.5, 0.98, 30))) > 0).all()


def test_nobody_is_more_important_than_ninety_eight_in_a_hundred() -> None:
    assert importance([1.0])[0] == importance([0.98])[0]


def test_the_important_have_a_share_of_the_greatest() -> None:
    assert important([0.95, 0.94, 0.5], 0.5).tolist() == [True, True, False]


def test_a_share_of_one_keeps_the_greatest_only() -> None:
    assert important([0.95, 0.9, 0.05], 1.0).tolist() == [True, False, True]


@pytest.mark.parametrize("share", [0.0, -0.5, 1.01, float("nan")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match=r"share must lie in \(0, 1\], not"):
        important([0.9], share)
