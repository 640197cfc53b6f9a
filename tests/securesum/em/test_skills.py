"""A worker's own side of the EM."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.securesum.em.weights import log_terms, skill

POSTERIOR = np.array([[0.2, 0.8], [0.6, 0.4], [1.0, 0.0]])


def test_a_skill_is_the_papers_alpha_and_beta() -> None:
    task, label = np.array([0, 1]), np.array([1, 0])
    found = skill(POSTERIOR, task, label, 10**6)
    assert found[1, 1] == pytest.approx(0.8 / (0.8 + 0.4))  # alpha
    assert found[0, 0] == pytest.approx(0.6 / (0.2 + 0.6))  # beta


def test_answers_that_are_given_twice_count_twice() -> None:
    once = skill(POSTERIOR, np.array([0, 1]), np.array([1, 0]), 10**6)
    twice = skill(POSTERIOR, np.array([0, 1, 1]), np.array([1, 0, 0]), 10**6)
    assert once[1, 1] == pytest.approx(0.8 / 1.2)
    assert twice[1, 1] == pytest.approx(0.8 / 1.6)


def test_a_worker_without_answers_guesses() -> None:
    none = np.empty(0, np.int64)
    assert skill(np.full((4, 3), 1 / 3), none, none, 1000) == pytest.approx(np.full((3, 3), 1 / 3))


def test_a_truth_without_mass_is_as_likely_to_be_answered_in_any_way() -> None:
    found = skill(POSTERIOR, np.array([2]), np.array([0]), 10**6)
    assert found[1].tolist() == [0.5, 0.5]


def test_probabilities_stay_within_the_clip() -> None:
    found = skill(POSTERIOR, np.array([2]), np.array([0]), 1000)
    assert found[0] == pytest.approx([0.999, 0.001], abs=1e-15)


def test_rows_are_probabilities_with_more_than_two_labels() -> None:
    rng = np.random.default_rng(1)
    posterior = rng.dirichlet([1, 1, 1], 20)
    found = skill(posterior, np.arange(20), rng.integers(0, 3, 20), 10**9)
    assert found.sum(axis=1) == pytest.approx(np.ones(3), abs=1e-8)


def test_terms_are_zero_where_nothing_was_answered() -> None:
    chances = np.array([[0.9, 0.1], [0.3, 0.7]])
    found = log_terms(chances, np.array([1, 1]), np.array([0, 1]), tasks=3)
    assert found[0].tolist() == found[2].tolist() == [0.0, 0.0]
    assert found[1] == pytest.approx([np.log(0.9 * 0.1), np.log(0.3 * 0.7)])
