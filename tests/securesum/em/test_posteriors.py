"""The public side of the EM."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.securesum.em.posteriors import is_settled, posterior_of, prior_of, quality, start


def test_the_start_is_the_share_of_votes() -> None:
    found = start(np.array([[2.0, 2.0, 0.0], [0.0, 0.0, 0.0]]))
    assert found.tolist() == [[0.5, 0.5, 0.0], [1 / 3] * 3]


def test_the_prior_is_a_mean_within_the_clip() -> None:
    assert prior_of(np.array([[1.0, 0.0], [1.0, 0.0]]), 100).tolist() == [0.99, 0.01]
    assert prior_of(np.array([[1.0, 0.0], [0.5, 0.5]]), 100).tolist() == [0.75, 0.25]


def test_posteriors_are_the_papers_mu() -> None:
    a, b, p = 0.02, 0.03, 0.25
    found = posterior_of(np.log([[b, a]]), np.array([1 - p, p]))
    assert found[0, 1] == pytest.approx(p * a / (p * a + (1 - p) * b))


def test_only_differences_of_likelihoods_matter_to_posteriors() -> None:
    logs, prior = np.array([[-700.0, -702.0], [-1.0, -9.0]]), np.array([0.3, 0.7])
    assert posterior_of(logs, prior) == pytest.approx(posterior_of(logs - logs[:, :1], prior))


def test_the_quality_is_the_papers_q() -> None:
    a, b, p, mu = 0.02, 0.03, 0.25, 0.4
    found = quality(np.log([[b, a]]), np.array([[1 - mu, mu]]), np.array([1 - p, p]))
    assert found == pytest.approx(mu * np.log(p * a) + (1 - mu) * np.log((1 - p) * b))


@pytest.mark.parametrize(
    ("value", "before", "settled"),
    [(-100.0, None, False), (-100.0, -100.5, True), (-100.0, -101.0, False), (0.0, 0.0, False)],
)
def test_the_first_round_never_settles(value: float, before: float | None, settled: bool) -> None:
    assert is_settled(value, before, tolerance=100) is settled
