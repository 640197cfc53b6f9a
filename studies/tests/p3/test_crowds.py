"""Tests of the stand-in for P3's floorplans: its sizes, errors and range."""

from __future__ import annotations

import numpy as np
import pytest

from sottovoce.errors import UsageError
from sottovoce_studies.p3.crh_weights import matrix
from sottovoce_studies.p3.crowds import Floorplan


def test_it_has_the_users_and_segments_of_the_paper() -> None:
    answers, lengths = Floorplan().draw(1)
    assert (len(answers.workers), len(answers.tasks), len(answers)) == (247, 129, 247 * 129)
    assert answers.domain.high == 50
    assert 4 <= lengths.min() < lengths.max() <= 40
    assert np.isfinite(matrix(answers)).all()


def test_a_walker_errs_by_the_same_share_on_every_segment() -> None:
    answers, lengths = Floorplan(workers=2000, miscount=0.0).draw(2)
    share = matrix(answers) / lengths
    assert share.mean(axis=1).std() == pytest.approx(0.05, abs=0.005)
    # The remaining error of a walker is the rounding of steps: at most half a step.
    apart = np.abs(share - share.mean(axis=1, keepdims=True)) * lengths
    assert apart.max() < 1.2


def test_without_errors_only_steps_are_rounded() -> None:
    answers, lengths = Floorplan(bias=0.0, miscount=0.0).draw(3)
    assert np.abs(matrix(answers) - lengths).max() <= 0.5 * 1.0


def test_the_same_seed_draws_the_same_walks() -> None:
    first, second, other = (Floorplan(workers=5, tasks=3).draw(seed)[0] for seed in (1, 1, 2))
    assert first.value.tolist() == second.value.tolist() != other.value.tolist()


def test_a_floorplan_without_walkers_is_refused() -> None:
    with pytest.raises(UsageError, match="needs walkers"):
        Floorplan(workers=0)
