"""Other truth discovery methods on the reports of one and of two layers.

One cell is one trial: its answers, its noise words, and the error of every method to the truth.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy.typing as npt

from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.policies import policy_of
from sottovoce.model import Policy, Reports
from sottovoce.planning.pipelines import AWARE
from sottovoce.planning.trials import best_constant, error_of
from sottovoce.seams import Release
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Source
from sottovoce_studies.p1.layers import (
    drawn,
    most_answers,
    noise_seed,
    one_layer,
    read_as_printed,
    same_guarantee,
    two_layer,
)

__all__ = ["LAYERS", "READERS", "clean_trial", "noisy_trial"]

READERS: Mapping[str, str] = MappingProxyType(
    {
        "MV": "majority-vote",
        "TD": "td",
        "CRH": "crh",
        "CATD": "catd",
        "Dawid-Skene": "dawid-skene",
        "one-coin": "one-coin",
        "latent-label": "latent-label",
        "aware": AWARE,
    }
)
"""Methods for labels; majority vote has no weights, and `aware` models the noise."""

LAYERS = ("one-layer", "two-layer", "equal")
"""`equal` is one layer at the true epsilon and delta of two."""


def noisy_trial(source: Source, epsilon: float, trial: int, seed: int) -> dict[str, float]:
    """The error of every method on the reports of each layer at a nominal epsilon.

    All have the same answers and noise words, and ties go to label 0 (`AS_PRINTED`).
    """
    answers, truths = drawn(source, trial, seed)
    noise = noise_seed(epsilon, trial, seed)
    domain, most = answers.domain, most_answers(answers)
    mechanisms: dict[str, Release] = {
        "one-layer": one_layer(domain, epsilon),
        "two-layer": two_layer(domain, epsilon),
        "equal": same_guarantee(domain, epsilon, most),
    }
    errors = {CONSTANT: best_constant(truths).error}
    for layer, mechanism in mechanisms.items():
        policy = policy_of(mechanism, domain, None)
        reports = perturb(answers, policy, SeededRandomness(noise))
        for reader, method in READERS.items():
            errors[f"{layer} {reader}"] = _error(reports, truths, method, policy)
    return errors


def clean_trial(source: Source, trial: int, seed: int) -> dict[str, float]:
    """The error of every method on the answers themselves, with ties broken as in `noisy_trial`."""
    answers, truths = drawn(source, trial, seed)
    return {reader: _error(answers, truths, method, None) for reader, method in READERS.items()}


def _error(reports: Reports, truths: npt.NDArray[Any], method: str, policy: Policy | None) -> float:
    return error_of(read_as_printed(reports, method, policy), truths)
