"""Words from the operating system."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.randomness import BLOCK
from sottovoce.worker import SystemRandomness


@pytest.mark.parametrize("count", [0, 1, 1000, BLOCK // 8 + 1])
def test_there_are_as_many_words_as_asked_for(count: int) -> None:
    words = SystemRandomness().words(count)
    assert words.dtype == np.uint64
    assert words.shape == (count,)


def test_words_do_not_come_again() -> None:
    words = [SystemRandomness().words(5000) for _ in range(2)]
    assert len(np.unique(words)) == 10_000


@pytest.mark.statistical
def test_every_bit_is_as_often_set_as_not() -> None:
    words = SystemRandomness().words(100_000)
    for bit in range(64):
        share = np.mean(words >> np.uint64(bit) & np.uint64(1))
        assert share == pytest.approx(0.5, abs=0.0110)  # 7 sigma, for 64 bits


def test_nobody_seeds_it() -> None:
    with pytest.raises(TypeError):
        SystemRandomness(7)  # type: ignore[call-arg]
    assert not SystemRandomness().simulated
