"""One trial: answers are perturbed, truths inferred from the reports, and both compared.

Also the summary of trials (mean, standard error, band), known truths for a table of answers, and
the best constant for all tasks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sottovoce.api.infer import infer
from sottovoce.api.infer_opened import infer_opened, sum_answers
from sottovoce.api.perturb import perturb
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.inference.noise_aware.numbers import AwareNumbers
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import (
    Alphabet,
    Domain,
    FloatArray,
    Gold,
    Kind,
    Names,
    Policy,
    Reports,
    Result,
    label_text,
)
from sottovoce.planning.pipelines import AWARE

BAND = 0.9
"""The share of trials in a band, or the probability of one further trial in it."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean of trials, its standard error, and the middle 90 % of them.

    >>> Spread.of([1.0, 2.0, 3.0]).mean
    2.0
    """

    trials: int
    mean: float
    standard_error: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """The standard error of a single trial is unknown: NaN."""
        if not len(values):
            raise UsageError("a mean needs at least one trial")
        numbers = np.asarray(values, np.float64)
        count = len(numbers)
        error = float(numbers.std(ddof=1) / math.sqrt(count)) if count > 1 else math.nan
        low, high = np.quantile(numbers, [(1 - BAND) / 2, (1 + BAND) / 2])
        return cls(count, float(numbers.mean()), error, float(low), float(high))

    def flipped(self) -> Spread:
        """The same of 1 - value: accuracies instead of errors."""
        return Spread(self.trials, 1 - self.mean, self.standard_error, 1 - self.high, 1 - self.low)


def trial_seed(seed: int, *place: int) -> int:
    """The seed of one trial of a run: different for every position, the same in every run.

    >>> trial_seed(7, 0, 1) == trial_seed(7, 0, 1) != trial_seed(7, 0, 2)
    True
    """
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise UsageError(f"a seed is a whole number from 0 up, not {seed!r}")
    state = np.random.SeedSequence(seed, spawn_key=place).generate_state(1, np.uint64)
    return int(state[0])


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The result of a trial: the mean error over tasks, and each task's confidence and error.

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
    codes of the answers' domain, or numbers; numbers are compared as numbers even if answers are
    ordinal labels. Ties between labels are broken at random: with the first label, a vote would
    depend on the order of the labels.
    """
    options: dict[str, Any] = {"parameters": settings, "ties": "random", "seed": seed}
    numeric = truths.dtype.kind == "f" and answers.domain.kind is Kind.ORDINAL
    if policy is None:
        result = infer(answers, method, **options)
    elif policy.sealed:
        result = infer_opened(sum_answers(answers, policy, SeededRandomness(seed)), method)
    else:
        reports = perturb(answers, policy, SeededRandomness(seed))
        # Reports that are numbers off the grid have a separate method.
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


def truths_by_task(answers: Reports, gold: Gold, *, as_numbers: bool = False) -> npt.NDArray[Any]:
    """The truth of each task of a table: a label code (-1 where unknown), or a number (NaN).

    A label outside the domain gets a code that no result has, so that it counts as wrong. With
    `as_numbers`, ordinal labels become their numbers.
    """
    rows, found = _rows_of(answers.tasks, gold.tasks)
    if not found.any():
        raise DataError("no gold task has an answer: compare the task names")
    if answers.domain.is_numeric:
        return _placed(gold.truths[found].astype(np.float64), rows[found], answers, np.nan)
    codes = _placed(_codes(gold.truths[found], answers.domain), rows[found], answers, -1)
    if not as_numbers:
        return codes
    scale = answers.domain.scale
    known = (codes >= 0) & (codes < len(scale))
    if not known.any():
        raise DataError("no truth in the gold table is one of the answers' labels")
    return np.where(known, scale[np.where(known, codes, 0)], np.nan)


@dataclass(frozen=True, slots=True)
class BestConstant:
    """The best constant answer for all tasks against the truths, and its mean error."""

    value: float
    error: float


def best_constant(truths: npt.NDArray[Any]) -> BestConstant:
    """The most frequent truth of labels (a code), the median of numbers: no constant does better.

    It knows the truths, so a method that does worse has learnt nothing about the tasks.

    >>> best_constant(np.array([1, 1, 0, -1])).error
    0.33333333333333337
    """
    if truths.dtype.kind == "f":
        known = truths[np.isfinite(truths)]
        middle = float(np.median(known))
        return BestConstant(middle, float(np.abs(known - middle).mean()))
    counts = np.bincount(truths[truths >= 0])
    return BestConstant(int(counts.argmax()), float(1 - counts.max() / counts.sum()))


def _rows_of(tasks: Names, wanted: Names) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.bool_]]:
    """The position of each wanted task; compared as text unless both are integers."""
    if not (tasks.dtype.kind in "iu" and wanted.dtype.kind in "iu"):
        tasks, wanted = tasks.astype(str), wanted.astype(str)
    order = np.argsort(tasks)
    at = np.minimum(np.searchsorted(tasks, wanted, sorter=order), len(tasks) - 1)
    return order[at], np.asarray(tasks[order[at]] == wanted)


def _codes(labels: npt.NDArray[Any], domain: Domain) -> npt.NDArray[np.int64]:
    texts = {
        text: code
        for code, label in enumerate(domain.labels)
        for text in (str(label), label_text(label))
    }
    return np.array([texts.get(str(label), domain.size) for label in labels.tolist()], np.int64)


def _placed(
    values: npt.NDArray[Any], rows: npt.NDArray[np.intp], answers: Reports, unknown: float
) -> npt.NDArray[Any]:
    placed = np.full(len(answers.tasks), unknown, values.dtype)
    placed[rows] = values
    return placed
