"""Tests of study `p1-other-methods`: its trials, and the verdict."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from sottovoce import TD
from sottovoce.api.infer import infer
from sottovoce.inference import METHODS
from sottovoce.model import Kind
from sottovoce.planning.trials import Spread
from sottovoce_studies.crowds import LabelCrowd
from sottovoce_studies.p1.layers import drawn
from sottovoce_studies.p1.method_trials import LAYERS, READERS, clean_trial, noisy_trial
from sottovoce_studies.p1.other_methods import OTHERS, Case, Seen, judge, ruling

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


def test_every_method_on_labels_is_among_the_readers() -> None:
    labels = {name for name, method in METHODS.items() if Kind.CATEGORICAL in method.takes}
    assert labels - set(READERS.values()) == {"constant"}


def test_a_trial_has_the_error_of_every_method_under_every_layer() -> None:
    errors = noisy(0)
    assert {f"{layer} {reader}" for layer in LAYERS for reader in READERS} < set(errors)
    assert all(0 <= error <= 1 for error in errors.values())


def test_the_error_without_noise_is_that_of_the_method_itself() -> None:
    answers, truths = drawn(CROWD, 0, 1)
    result = infer(answers, TD())
    tied = np.isclose(result.posterior.max(axis=1), 0.5)  # type: ignore[union-attr]
    assert not tied.any()
    assert clean_trial(CROWD, 0, 1)["TD"] == pytest.approx(np.mean(result.truths != truths))


def test_gains_with_every_method_hold() -> None:
    assert ruling([seen(method, *GAIN) for method in OTHERS])[0] == "holds"


def test_gains_with_most_methods_hold_in_shape_and_the_others_are_named() -> None:
    verdict, reason = ruling([seen("CRH", *LEVEL), seen("CATD", *GAIN), seen("one-coin", *GAIN)])
    assert verdict == "holds in shape"
    assert "CRH does not improve" in reason


def test_a_loss_with_one_method_fails() -> None:
    verdict, reason = ruling([seen("CRH", *LOSS), *(seen("CATD", *GAIN) for _ in range(4))])
    assert (verdict, "CRH" in reason) == ("fails", True)


def test_gains_with_half_of_the_methods_fail() -> None:
    assert ruling([seen("CRH", *LEVEL), seen("CATD", *GAIN)])[0] == "fails"


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
