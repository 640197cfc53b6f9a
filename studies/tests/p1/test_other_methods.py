"""Tests of study `p1-other-methods`: its trials, and the verdict."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from sottovoce.api.infer import infer
from sottovoce.inference import METHODS
from sottovoce.model import Kind
from sottovoce.planning.trials import Spread
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.p1.layers import AS_PRINTED, drawn
from sottovoce_studies.p1.method_trials import LAYERS, READERS, clean_trial, noisy_trial
from sottovoce_studies.p1.other_methods import OTHERS, Case, Seen, guarantee, judge, statements
from sottovoce_studies.rulings import ruling_on

CROWD = LabelCrowd(20, 40, 20, 2, "heterogeneous")


def seen(method: str, *apart: float) -> Seen:
    """A method with given differences of its errors under two layers and one, by trial."""
    spread = Spread.of([0.3, 0.3])
    layers = dict.fromkeys(LAYERS, spread)
    return Seen(Case("crowd", CROWD, 1.0, 2), method, 0.1, 0.5, layers, Spread.of(apart))


@cache
def noisy(trial: int) -> dict[str, float]:
    return noisy_trial(CROWD, 1.0, trial, 1)


GAIN, LEVEL, LOSS = (-0.11, -0.1, -0.09), (-0.1, 0.1, 0.0), (0.09, 0.1, 0.11)


def test_every_reader_is_a_method_for_labels() -> None:
    labels = {name for name, method in METHODS.items() if Kind.CATEGORICAL in method.takes}
    assert set(READERS.values()) - {"auto"} < labels


def test_a_trial_has_the_error_of_every_method_under_every_layer() -> None:
    errors = noisy(0)
    assert {f"{layer} {reader}" for layer in LAYERS for reader in READERS} < set(errors)
    assert all(0 <= error <= 1 for error in errors.values())


def test_the_error_without_noise_is_that_of_the_method_itself() -> None:
    answers, truths = drawn(CROWD, 0, 1)
    result = infer(answers, "td", parameters=AS_PRINTED.parameters)
    tied = np.isclose(result.posterior.max(axis=1), 0.5)  # type: ignore[union-attr]
    assert not tied.any()
    assert clean_trial(CROWD, 0, 1)["TD"] == pytest.approx(np.mean(result.truths != truths))


def verdict(*judged: Seen) -> str:
    return ruling_on(statements(judged)).verdict


def test_gains_with_every_method_hold() -> None:
    assert verdict(*(seen(method, *GAIN) for method in OTHERS)) == "holds"


def test_a_method_without_gain_is_named() -> None:
    ruling = ruling_on(statements([seen("CRH", *LEVEL), seen("CATD", *GAIN)]))
    assert ruling.verdict == "partly"
    assert "two layers better with CRH (better in 0, worse in 0 of 1)" in ruling.reason


def test_a_loss_in_one_case_outweighs_gains_in_the_others() -> None:
    assert verdict(seen("CRH", *LOSS), *(seen("CRH", *GAIN) for _ in range(4))) == "fails"


def test_gains_in_half_of_the_cases_are_not_most() -> None:
    assert verdict(seen("CRH", *LEVEL), seen("CRH", *GAIN)) == "fails"


def test_the_guarantee_fails_for_many_answers_and_holds_for_one() -> None:
    many, one = (
        guarantee([Case("x", LabelCrowd(20, 40, k, 2, "heterogeneous"), 1.0, 2)]) for k in (20, 1)
    )
    assert (many.verdict, one.verdict) == ("fails", "holds")
    assert many.reason.endswith("per answer for 20 answers, not 1")


def test_a_method_that_learns_nothing_without_noise_is_not_judged() -> None:
    blind = seen("CRH", *LOSS)
    assert blind.judged
    assert not Seen(blind.case, "CRH", 0.5, 0.5, blind.layers, blind.apart).judged
    assert not Seen(blind.case, "MV", 0.1, 0.5, blind.layers, blind.apart).judged


def test_a_dataset_that_is_absent_is_said() -> None:
    case = Case("crowd", CROWD, 1.0, 2)
    results: list[Any] = [noisy(t) for t in range(2)]
    results += [clean_trial(CROWD, t, 1) for t in range(2)]
    outcome = judge([case], results, ["Duchenne smiles"])
    assert "Duchenne smiles was skipped" in outcome.explanation
