"""Tests of study `layers-per-worker`: equal epsilons, the choice of mechanisms, the verdict."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sottovoce.mechanisms.laws.hyper_weights import LevelWeights
from sottovoce.mechanisms.sampling import Sampled
from sottovoce.model import WORDS, Unit
from sottovoce_studies.beyond.layer_trials import (
    ALL,
    BOTH,
    FORMS,
    LEVELS,
    READERS,
    SAMPLE,
    UNIFORM,
    Grid,
    Guaranteed,
    calibrated_trials,
    candidates,
    two_levels,
)
from sottovoce_studies.beyond.layers_per_worker import GRIDS, SETTINGS, STUDY, Setting, judge
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.study import Outcome

SMALL = Grid((0.46, 1.0), (0.2, 0.4), (0.1, 0.2))
CROWD = LabelCrowd(30, 40, 20, 2, "able")


@pytest.mark.parametrize("epsilon", [4.0, 10.0])
def test_every_candidate_keeps_the_epsilon_per_worker(epsilon: float) -> None:
    for form, layers in candidates(epsilon, 20, GRIDS["full"]).items():
        assert layers, form
        assert all(
            layer.guarantee(20, Unit.WORKER).epsilon <= epsilon * (1 + 1e-6)
            for layer in layers.values()
        )


def test_two_levels_have_the_epsilon_of_their_formula() -> None:
    k, rare, epsilon = 30, 0.1, 12.0
    law = two_levels(Guaranteed(Unit.WORKER, epsilon, 0.0, k), rare).hyper
    assert isinstance(law, LevelWeights)
    p = law.others[0] / WORDS
    none, all_flipped = ((1 - rare) * (1 - p) ** k, (1 - rare) * p**k)
    known = math.log((none + rare / 2**k) / (all_flipped + rare / 2**k))
    assert known == pytest.approx(epsilon, abs=1e-4)
    assert known < math.log1p((1 - rare) / rare * (2 * (1 - p)) ** k)


def test_shared_noise_flips_less_than_independent_noise_with_the_same_epsilon_per_worker() -> None:
    one = 1 / (1 + math.exp(50 / 100))
    law = two_levels(Guaranteed(Unit.WORKER, 50.0, 0.0, 100), 0.1).hyper
    assert law.mean / WORDS < one - 0.1


def test_a_worker_sends_all_answers_or_a_sample() -> None:
    found = candidates(10.0, 20, SMALL)
    assert list(found[ALL]) == ["20 of 20 answers"]
    assert list(found[SAMPLE]) == ["5 of 20 answers", "10 of 20 answers"]
    for form in (UNIFORM, LEVELS):
        sent = {
            layer.answers if isinstance(layer, Sampled) else 20 for layer in found[form].values()
        }
        assert sent == {5, 10, 20}


def test_mechanisms_are_chosen_on_other_answers_than_they_are_judged_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seeds: list[list[int]] = [[], []]
    draw = LabelCrowd.draw

    def watched(self: LabelCrowd, seed: int) -> Any:
        seeds[len(seeds[0]) >= 3].append(seed)
        return draw(self, seed)

    monkeypatch.setattr(LabelCrowd, "draw", watched)
    calibrated_trials(CROWD, 10.0, 20, SMALL, (3, 2), 1)
    assert (len(seeds[0]), len(seeds[1])) == (3, 2)
    assert not set(seeds[0]) & set(seeds[1])


def test_the_best_of_each_form_is_judged() -> None:
    found = calibrated_trials(CROWD, 10.0, 20, SMALL, (2, 2), 1)
    assert list(found["chosen"]) == list(FORMS)
    assert found["tried"] == sum(map(len, candidates(10.0, 20, SMALL).values()))
    assert {f"{form} {reader}" for form in FORMS for reader in READERS} < set(found["errors"][0])


def test_an_answer_may_have_as_little_privacy_as_all_together() -> None:
    found = calibrated_trials(CROWD, 10.0, 20, SMALL, (1, 1), 1)
    assert found["per answer"][ALL] == pytest.approx(0.5, abs=1e-4)
    assert 1 < found["per answer"][UNIFORM] <= found["per answer"][LEVELS] <= 10


def test_one_form_of_shared_noise_is_as_private_per_answer_as_a_sample_of_one_layer() -> None:
    found = calibrated_trials(CROWD, 10.0, 20, SMALL, (2, 1), 1)
    assert found["per answer"][BOTH] <= found["per answer"][SAMPLE]


def judged(**changed: float) -> Outcome:
    """Two settings in which shared noise errs with 0.1 and independent with 0.2, unless changed."""
    errors = {ALL: 0.2, SAMPLE: 0.2, UNIFORM: 0.1, LEVELS: 0.1, BOTH: 0.1} | changed
    trials = [
        {
            **{f"{form} {reader}": error for form, error in errors.items() for reader in READERS},
            **{f"{form} TD": errors[form] + turn for form in (UNIFORM, LEVELS, BOTH)},
            "best constant": 0.5,
        }
        for turn in (-0.001, 0.001)
    ]
    made = {
        "chosen": dict.fromkeys(FORMS, "x"),
        "per answer": dict.fromkeys(FORMS, 1.0),
        "tried": 4,
        "errors": trials,
    }
    return judge([(setting, made) for setting in SETTINGS[:2]])


def test_shared_noise_that_errs_less_holds() -> None:
    assert judged().rulings.verdicts == ("not claimed", "holds", "not claimed")
    assert "smaller in 12, larger in 0 of 12 cases" in judged().rulings.shape.reason


def test_a_rival_that_errs_less_leaves_it_true_in_part() -> None:
    outcome = judged(**{UNIFORM: 0.25, ALL: 0.3})
    assert outcome.rulings.shape.verdict == "partly"
    assert f"Not smaller beyond two standard errors, {UNIFORM} against {SAMPLE}: 40 %" in (
        outcome.explanation
    )


def test_shared_noise_that_errs_more_in_most_cases_fails() -> None:
    assert judged(**{UNIFORM: 0.3, LEVELS: 0.2, BOTH: 0.2}).rulings.shape.verdict == "fails"


def test_settings_name_their_crowd_and_differ() -> None:
    assert len({str(setting) for setting in SETTINGS}) == len(SETTINGS) == 8
    assert str(Setting("x", CROWD, 4.0)) == "x, epsilon 4"
    assert len(STUDY.plan("quick", 1).cells) == sum(setting.quick for setting in SETTINGS)
