"""Tests of study `layers-per-answer`: equal guarantees, the trials, and the verdict."""

from __future__ import annotations

import math

import pytest

from sottovoce.mechanisms.laws.hyper_weights import UniformWeights
from sottovoce.model import WORDS, Unit
from sottovoce.planning.trials import Spread
from sottovoce_studies.beyond.layer_duels import ANSWERS, Duel, ruling
from sottovoce_studies.beyond.layer_trials import (
    ALIKE,
    EXPERTS,
    FEW_ALIKE,
    FEW_MIXED,
    KINDS,
    MIXED,
    Guaranteed,
    errors_of,
    kept_by,
    layers_at,
    one_layer,
    published,
    sampled,
    two_layer,
)
from sottovoce_studies.beyond.layers_per_answer import STUDY, Wide
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.study import Outcome

TWO = published(1.0)
GAIN, LEVEL, LOSS = (-0.11, -0.1, -0.09), (-0.1, 0.1, 0.0), (0.09, 0.1, 0.11)


def duel(*apart: float) -> Duel:
    spread = Spread.of([0.3, 0.3])
    return Duel("pure", "TD", spread, spread, Spread.of(apart))


def low_of(mechanism: object) -> float:
    hyper = mechanism.hyper  # type: ignore[attr-defined]
    assert isinstance(hyper, UniformWeights)
    return hyper.low / WORDS


def test_what_two_layers_keep_has_the_known_values() -> None:
    kinds = ("pure", "per worker", "nominal epsilon")
    held = {kind: kept_by(TWO, kind, 1.0, 100) for kind in kinds}
    assert held["pure"].epsilon == pytest.approx(math.log(100), abs=1e-4)
    assert held["per worker"].epsilon == pytest.approx(67.19, abs=0.01)
    assert held["nominal epsilon"].delta == pytest.approx(0.2433, abs=1e-4)


@pytest.mark.parametrize("kind", ["pure", "small delta", "nominal epsilon"])
def test_one_layer_keeps_per_answer_what_two_do_and_no_less_noise_would(kind: str) -> None:
    held = kept_by(TWO, kind, 1.0, 100)
    flip = 1 - one_layer(held).keep_probability
    # Randomised response of two labels: delta = 1 - p (1 + e^epsilon).
    expected = (1 - held.delta) / (1 + math.exp(held.epsilon))
    assert flip == pytest.approx(expected, rel=1e-5)


def test_one_layer_keeps_per_worker_what_two_do() -> None:
    held = kept_by(TWO, "per worker", 1.0, 100)
    own = one_layer(held).guarantee(100, Unit.WORKER).epsilon
    assert own == pytest.approx(held.epsilon, rel=1e-5)
    spent = sampled(held).guarantee(100, Unit.WORKER).epsilon
    assert 0.97 * held.epsilon < spent <= held.epsilon


@pytest.mark.parametrize(
    ("held", "width"),
    [
        (Guaranteed(Unit.ANSWER, 1.0, 0.0, 20), 0.1),
        (Guaranteed(Unit.ANSWER, 1.0, 0.0, 20), 0.3),
        (Guaranteed(Unit.ANSWER, 1.0, 0.1, 20), 0.3),
        (Guaranteed(Unit.WORKER, 10.0, 0.0, 20), 0.1),
        (Guaranteed(Unit.WORKER, 10.0, 0.0, 20), 0.3),
    ],
)
def test_two_layers_of_a_width_keep_the_guarantee_and_hardly_more(
    held: Guaranteed, width: float
) -> None:
    mechanism = two_layer(held, width)
    assert mechanism is not None
    own = mechanism.guarantee(20, held.unit, held.delta).epsilon
    assert 0.9999 * held.epsilon < own <= held.epsilon * (1 + 1e-6)


def test_a_width_beyond_what_the_guarantee_allows_has_no_layers() -> None:
    # k -> infinity: the least noisy draw must be at most epsilon, so a >= 1 / (1 + e).
    held = Guaranteed(Unit.ANSWER, 1.0, 0.0, 10_000)
    assert two_layer(held, 0.47) is None
    widest = two_layer(held, 0.4)
    assert low_of(widest) == pytest.approx(1 / (1 + math.e), abs=1e-3)


def test_workers_give_as_many_answers_as_the_guarantees_are_for() -> None:
    for name, source in (ALIKE, MIXED, FEW_ALIKE, FEW_MIXED, EXPERTS):
        answers, _ = source.draw(1)
        assert len(answers) == ANSWERS[name] * len(answers.workers)


def test_a_trial_has_an_error_for_every_mechanism() -> None:
    mechanisms = tuple(layers_at(1.0, 20).items())
    errors = errors_of(LabelCrowd(20, 40, 20, 2, "heterogeneous"), mechanisms, 0, 1)
    assert {f"{kind} TD" for kind in (*KINDS, "nominal", "two-layer")} < set(errors)
    assert all(0 <= error <= 1 for error in errors.values())


def test_two_layers_that_mostly_err_less_and_never_more_hold() -> None:
    found = ruling([duel(*GAIN), duel(*GAIN), duel(*LEVEL)])
    seen = "the error of two layers is smaller in 2, larger in 0 of 3 cases"
    assert str(found) == f"holds: {seen}"


def test_one_defeat_leaves_the_claim_true_in_part() -> None:
    assert ruling([duel(*GAIN), duel(*GAIN), duel(*LOSS)]).verdict == "partly"


def test_two_layers_that_are_no_better_in_half_of_the_cases_fail() -> None:
    assert ruling([duel(*GAIN), duel(*LEVEL)]).verdict == "fails"


def errors(two: float) -> dict[str, float]:
    """A trial in which every one-layer mechanism errs with 0.2, as published or of a width."""
    made = {
        f"{name} {reader}": 0.2
        for name in ("nominal", *KINDS, "0", "0.2", "0.4")
        for reader in ("TD", "aware")
    }
    return {**made, "two-layer TD": two, "two-layer aware": two, "best constant": 0.5}


def judged(two: float) -> Outcome:
    """A quick run with made-up errors of two layers, slightly different in each trial."""
    work = STUDY.plan("quick", 1)
    return work.judge([errors(two + 0.001 * (place % 2)) for place in range(len(work.cells))])


@pytest.mark.parametrize(("two", "verdict"), [(0.1, "holds"), (0.2, "fails"), (0.3, "fails")])
def test_only_the_shape_of_the_claim_is_judged(two: float, verdict: str) -> None:
    assert judged(two).rulings.verdicts == ("not claimed", verdict, "not claimed")


def test_guarantees_per_worker_are_left_to_the_other_study() -> None:
    units = {row.get("equal") for row in judged(0.1).rows}
    assert units == {"answer", "nominal only", None}


def test_a_width_that_cannot_keep_the_guarantee_is_left_out() -> None:
    wide = Wide(*MIXED, 2, "epsilon 1 per answer", (0.2, 0.6))
    assert list(wide.mechanisms()) == ["0", "0.2"]
