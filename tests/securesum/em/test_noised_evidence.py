"""Posteriors from several rounds of noised sums."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.model import FloatArray
from sottovoce.model.sum_rounds import Integers
from sottovoce.securesum.em.posteriors import guess, posterior_of_rounds


def votes(
    labels: int, gap: float, noise: float, *, tasks: int = 400, seed: int = 4
) -> tuple[FloatArray, Integers]:
    """Noised votes for each label, with the truth `gap` ahead, and the truths."""
    rng = np.random.default_rng(seed)
    truths = rng.integers(0, labels, tasks)
    return gap * np.eye(labels)[truths] + noise * rng.standard_normal((tasks, labels)), truths


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_posteriors_are_as_sure_as_they_are_right(labels: int) -> None:
    """With 4,000 tasks the two shares differ by less than 0.03: 4 deviations and the fit's own."""
    sums, truths = votes(labels, 2.0, 1.0, tasks=4000)
    found = posterior_of_rounds(sums[:, :, np.newaxis], np.array([1.0]), guess(sums))
    right = float(np.mean(found.argmax(axis=1) == truths))
    assert float(found.max(axis=1).mean()) == pytest.approx(right, abs=0.03)


@pytest.mark.parametrize("labels", [2, 3])
def test_a_round_more_tells_more(labels: int) -> None:
    first, truths = votes(labels, 1.5, 1.0)
    second = votes(labels, 4.0, 1.0)[0]
    noise = np.array([1.0, 1.0])
    alone = posterior_of_rounds(first[:, :, np.newaxis], noise[:1], guess(first))
    both = posterior_of_rounds(np.stack([first, second], axis=2), noise, alone)
    assert np.mean(both.argmax(axis=1) == truths) > np.mean(alone.argmax(axis=1) == truths)


def test_the_same_round_twice_tells_nothing_more() -> None:
    sums, _ = votes(2, 2.0, 1.0)
    once = posterior_of_rounds(sums[:, :, np.newaxis], np.array([0.01]), guess(sums))
    twice = posterior_of_rounds(np.stack([sums, sums], axis=2), np.array([0.01, 0.01]), guess(sums))
    assert np.abs(once - twice).max() < 0.1


def test_a_label_that_is_given_too_often_does_not_win_everywhere() -> None:
    sums, truths = votes(2, 4.0, 1.0)
    sums[:, 1] += 5.0
    found = posterior_of_rounds(sums[:, :, np.newaxis], np.array([1.0]), guess(sums))
    assert np.mean(found.argmax(axis=1) == truths) > 0.98


def test_noise_alone_makes_nobody_sure() -> None:
    sums, _ = votes(2, 0.0, 1.0)
    found = posterior_of_rounds(sums[:, :, np.newaxis], np.array([1.0]), guess(sums))
    assert float(found.max(axis=1).mean()) < 0.85


def test_sums_that_are_all_alike_say_nothing() -> None:
    sums = np.ones((5, 2))
    found = posterior_of_rounds(sums[:, :, np.newaxis], np.array([1.0]), guess(sums))
    assert found.tolist() == [[0.5, 0.5]] * 5
