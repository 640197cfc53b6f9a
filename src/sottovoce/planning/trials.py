"""One trial: answers are perturbed, truths inferred from what is left, and both compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.api.inferring import infer
from sottovoce.api.perturbing import perturb
from sottovoce.api.sealed import infer_opened, sum_answers
from sottovoce.datasets import SeededRandomness
from sottovoce.inference.noise_aware.numbers import AwareNumbers
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Alphabet, FloatArray, Kind, Policy, Reports, Result
from sottovoce.planning.pairs import AWARE

__all__ = ["Trial", "error_of", "run_trial"]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What a trial showed: the mean error over tasks, and each task's confidence beside its error.

    The error of a label is 0 or 1, that of a number its distance from the truth.
    """

    error: float
    errors: FloatArray
    confidence: FloatArray | None


def run_trial(
    answers: Reports,
    truths: npt.NDArray[Any],
    policy: Policy | None,
    method: str,
    seed: int,
    settings: Mapping[str, Any] | None = None,
) -> Trial:
    """Perturb with seeded noise, infer, and compare with truths by task; NaN is an unknown truth.

    Without a policy the answers themselves are used. `settings` go to the method. Truths are label
    codes of the answers' domain, or numbers; numbers are compared as numbers even where answers
    are ordinal labels. Ties between labels are broken at random: with the first label, a vote would
    be as good as the luck of the labels' order.
    """
    options: dict[str, Any] = {"parameters": settings, "ties": "random", "seed": seed}
    numeric = truths.dtype.kind == "f" and answers.domain.kind is Kind.ORDINAL
    if policy is None:
        result = infer(answers, method, **options)
    elif policy.sealed:
        result = infer_opened(sum_answers(answers, policy, SeededRandomness(seed)), method)
    else:
        reports = perturb(answers, policy, SeededRandomness(seed))
        # Reports that are numbers off the grid have a method of their own.
        on_grid = mechanism_of(policy).alphabet is not Alphabet.NUMBERS
        if numeric and method == AWARE and on_grid:
            method = AwareNumbers.name
        # A simulation fits hundreds of times: compiling pays at any size.
        result = infer(reports, method, policy=policy, compiled=True, **options)
    return _compared(result, truths)


def error_of(result: Result, truths: npt.NDArray[Any]) -> float:
    """The share of wrong labels, or the mean distance of numbers, over tasks with a known truth."""
    return _compared(result, truths).error


def _compared(result: Result, truths: npt.NDArray[Any]) -> Trial:
    if truths.dtype.kind == "f":
        known = np.isfinite(truths)
        found = result.truths if result.domain.is_numeric else result.domain.scale[result.truths]
        errors = np.abs(found[known] - truths[known])
    else:
        known = truths >= 0
        errors = (result.truths[known] != truths[known]).astype(np.float64)
    confidence = None if result.confidence is None else result.confidence[known]
    return Trial(float(errors.mean()), errors, confidence)
