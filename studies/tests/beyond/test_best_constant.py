"""Tests of study `best-constant`: which pipelines beat the constant, and the verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sottovoce.datasets import SparseCrowd
from sottovoce.model import Kind, Reports
from sottovoce.planning.pipelines import Pipeline
from sottovoce_studies.beyond import published_guarantees as published
from sottovoce_studies.beyond.best_constant import EPSILONS, QUICK, STUDY, Arm, Scene, judge
from sottovoce_studies.beyond.constant_trials import (
    MF,
    OWN,
    ScoredDataset,
    arenas,
    clean,
    true_epsilon,
)
from sottovoce_studies.contests import CONSTANT, Contest, trial_of
from sottovoce_studies.crowds import LabelCrowd, Simulated

CROWD = LabelCrowd(12, 10, 6, 2, "homogeneous")


@dataclass(slots=True)
class Watched:
    """A crowd that records the seeds it was drawn with."""

    seeds: list[int] = field(default_factory=list)

    def draw(self, seed: int) -> tuple[Reports, npt.NDArray[Any]]:
        self.seeds.append(seed)
        return CROWD.draw(seed)


def _arm(name: str, *above: float) -> Arm:
    """An arm with given excesses over a constant of 1 at increasing epsilons, within 0.01."""
    trials = {
        float(epsilon): [{name: 1 + gap + part, CONSTANT: 1.0} for part in (-0.01, 0.0, 0.01)]
        for epsilon, gap in enumerate(above, 1)
    }
    return Arm.of(name, name, trials)


CLEAN = _arm("clean", -0.1).gaps[0]


def _scene(mf: Arm, ours: Arm | None) -> Scene:
    return Scene("P4", OWN, "MAE", 1.0, CLEAN, (mf,), ours)


def test_an_arm_beats_the_constant_from_where_it_goes_on_beating_it() -> None:
    assert _arm("a", 0.5, -0.5, -0.6).start == 2
    assert _arm("a", -0.5, 0.5, -0.6).start == 3
    assert _arm("a", -0.5, -0.5, 0.1).start is None


def test_a_difference_within_two_standard_errors_is_neither_better_nor_worse() -> None:
    gap = _arm("a", 0.005).gaps[0]
    assert not gap.beats
    assert not gap.worse


def test_differences_are_taken_trial_by_trial() -> None:
    trials = [{"a": 1.0, CONSTANT: 2.0}, {"a": 5.0, CONSTANT: 6.0}]
    gap = Arm.of("a", "a", {1.0: trials}).gaps[0]
    assert (gap.apart.mean, gap.apart.standard_error) == (-1.0, 0.0)
    assert gap.beats


def test_the_claim_holds_when_theirs_are_worse_and_ours_is_about_the_constant() -> None:
    outcome = judge([_scene(_arm("MF", 3.0, 0.1), _arm("ours", 0.05, -0.5))])
    assert outcome.rulings.verdicts == ("not claimed", "holds", "not claimed")


def test_a_factorization_that_beats_the_constant_once_refutes_the_claim() -> None:
    outcome = judge([_scene(_arm("MF", 3.0, -0.1, 0.1), _arm("ours", 0.05, 0.0, -0.5))])
    assert outcome.rulings.shape.verdict == "partly"
    assert "MF beats the constant at epsilon 2" in outcome.rulings.shape.reason


def test_a_pipeline_that_beats_the_constant_at_the_least_epsilon_refutes_the_claim() -> None:
    other = Scene("P1", "there", "error rate", 1.0, CLEAN, (_arm("RR", -0.2, -0.5),), None)
    outcome = judge([other, _scene(_arm("MF", 3.0, 0.1), _arm("ours", 0.05, -0.5))])
    assert outcome.rulings.shape.verdict == "partly"
    assert "RR on there" in outcome.rulings.shape.reason


def test_ours_far_above_the_constant_refutes_the_claim() -> None:
    outcome = judge([_scene(_arm("MF", 3.0, 0.1), _arm("ours", 0.3, -0.5))])
    assert outcome.rulings.shape.verdict == "partly"
    assert "ours is 1.3" in outcome.rulings.shape.reason


def test_the_claim_fails_where_no_part_of_it_holds() -> None:
    outcome = judge([_scene(_arm("MF", -0.2, -0.5), _arm("ours", 0.3, -0.5))])
    assert outcome.rulings.shape.verdict == "fails"
    assert "3 of 3 parts are false" in outcome.rulings.shape.reason


def test_without_ours_the_claim_cannot_be_checked() -> None:
    outcome = judge([_scene(_arm("MF", 3.0, 0.1), None)], ["Duchenne"])
    assert outcome.rulings.shape.verdict == "cannot be checked"
    assert "Duchenne" in outcome.explanation


def test_clean_answers_are_those_of_the_contest() -> None:
    watched = Watched()
    clean(watched, "majority-vote", 3, 7)
    pair = Pipeline("vote", "randomized-response", "majority-vote")
    trial_of(Contest(watched, 1.0, (pair,)), pair, 3, 7)
    first, second = watched.seeds
    assert first == second


def test_next_to_no_noise_is_as_good_as_clean_answers() -> None:
    pair = Pipeline("vote", "randomized-response", "td")
    noisy = trial_of(Contest(CROWD, 30.0, (pair,)), pair, 0, 7).error
    assert noisy == pytest.approx(clean(CROWD, "td", 0, 7)["clean"])


def test_the_true_epsilon_is_that_of_the_busiest_worker() -> None:
    pair = Pipeline("two", "two-layer", "td", published=True)
    known = published.two_layer(2, 1.0, CROWD.answers)["answer"]
    assert true_epsilon(CROWD, pair, 1.0, False)["epsilon"] == pytest.approx(known)


def test_a_factorization_has_no_true_epsilon() -> None:
    own = next(arena for arena in arenas() if arena.name == OWN)
    [pair] = [pair for pair in own.theirs if pair.name == MF]
    source = Simulated(SparseCrowd(workers=5, tasks=4, sparsity=0.5, kind=Kind.ORDINAL))
    assert true_epsilon(source, pair, 1.0, True) == {"epsilon": None}


def test_truths_of_ordinal_labels_are_numbers(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    web = ScoredDataset.of("wsd")
    assert web is not None
    answers, truths = web.draw(1)
    assert list(answers.domain.scale) == [0, 1, 2, 3, 4]
    assert (len(answers.workers), len(answers.tasks)) == (34, 177)  # P4 Table II
    assert (truths == 0).sum() == 129


def test_tasks_without_a_known_truth_have_no_score(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    adult = ScoredDataset.of("adult2")
    assert adult is not None
    assert np.isfinite(adult.draw(1)[1]).sum() == 333


def test_without_datasets_only_drawn_crowds_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert {arena.group for arena in arenas() if arena.source is not None} == {"P1", "P3", "P4"}
    cells = STUDY.plan("quick", 1).cells
    sources = [
        each.source for each in (cell.arguments[0] for cell in cells) if isinstance(each, Contest)
    ]
    assert len(sources) == QUICK[OWN][0] * len(EPSILONS["quick"])
    assert all(isinstance(source, Simulated) for source in sources)


def test_every_paper_with_noise_has_its_own_settings() -> None:
    names = {arena.name for arena in arenas()}
    assert set(QUICK) <= names
    assert {"P1", "P3", "P4", "other data"} == {arena.group for arena in arenas()}
