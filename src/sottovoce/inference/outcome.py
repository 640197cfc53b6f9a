"""From posteriors or means to a `Result`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from sottovoce.inference.compiling import COMPILED_FROM, compiled
from sottovoce.inference.iterating import Settled
from sottovoce.inference.rounding import TIE
from sottovoce.inference.rows import columns_of, row_max
from sottovoce.inference.steps.counts import AnswerCounts
from sottovoce.model import Codes, Domain, FloatArray, Provenance, Result
from sottovoce.seams import Engine

__all__ = ["Method", "choose", "label_result", "number_result"]


class Method(Protocol):
    """An aggregator as provenance sees it: a name and a dataclass of parameters."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


def choose(scores: FloatArray, rng: np.random.Generator | None = None) -> Codes:
    """The label with the highest score of each row.

    Labels within 1e-9 of the top tie: the first of them is chosen, or with `rng` any, each as
    likely.
    """
    if rng is not None:
        top = row_max(scores)[:, np.newaxis]
        keys = np.where(scores >= top - TIE * np.abs(top), rng.random(scores.shape), -1.0)
        return np.asarray(np.argmax(keys, axis=1), np.int32)
    chosen = np.zeros(len(scores), np.int32)
    if len(scores) >= COMPILED_FROM:
        _choice_kernel()(scores, chosen)
        return chosen
    columns = columns_of(scores)
    top = columns.max(axis=0)
    bar = top - TIE * np.abs(top)
    for label in reversed(range(len(columns))):
        np.copyto(chosen, label, where=columns[label] >= bar)
    return chosen


@cache
def _choice_kernel() -> Callable[..., None]:
    @compiled
    def run(scores, chosen):  # type: ignore[no-untyped-def]
        for row in range(len(scores)):
            top = scores[row, 0]
            for label in range(1, scores.shape[1]):
                top = max(top, scores[row, label])
            bar = top - TIE * abs(top)
            label = 0
            while scores[row, label] < bar:
                label += 1
            chosen[row] = label

    return run


def label_result(
    method: Method,
    engine: Engine,
    posterior: FloatArray,
    settled: Settled,
    *,
    confusions: FloatArray | None = None,
    prior: FloatArray | None = None,
    domain: Domain | None = None,
) -> Result:
    """Truths are the most probable labels; confidence is their probability.

    `domain` is that of the truths where the reports are symbols and have another.
    """
    truths = choose(posterior)
    return Result(
        engine.tasks,
        engine.workers,
        domain or engine.domain,
        truths,
        settled.weights,
        _answers(engine),
        settled.rounds,
        settled.converged,
        _provenance(method),
        confidence=posterior[np.arange(len(truths)), truths],
        posterior=posterior,
        confusions=confusions,
        prior=prior,
    )


def number_result(
    method: Method,
    engine: Engine,
    truths: FloatArray,
    settled: Settled,
    *,
    standard_error: FloatArray,
    domain: Domain | None = None,
) -> Result:
    """Truths are numbers, each with its standard error.

    A task without answers gets the mean of the others' truths, and their spread as its error.
    `domain` is that of the truths where the reports are symbols and have another: the method then
    has placed every truth in it, and they are taken as they are.
    """
    answers = _answers(engine)
    if domain is None:
        domain = engine.domain
        if (answers == 0).any():
            truths, standard_error = _filled(truths, standard_error, answers > 0)
        # A mean of numbers in the range can leave it by a rounding error, never by more.
        truths = np.clip(truths, domain.low, domain.high)
    return Result(
        engine.tasks,
        engine.workers,
        domain,
        truths,
        settled.weights,
        answers,
        settled.rounds,
        settled.converged,
        _provenance(method),
        standard_error=standard_error,
    )


def _filled(
    truths: FloatArray, errors: FloatArray, answered: npt.NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    known = truths[answered]
    spread = np.sqrt(np.var(known) + np.mean(np.square(errors[answered])))
    return np.where(answered, truths, known.mean()), np.where(answered, errors, spread)


def _answers(engine: Engine) -> np.ndarray[Any, np.dtype[np.int64]]:
    return engine.map(AnswerCounts()).astype(np.int64)


def _provenance(method: Method) -> Provenance:
    # Array parameters (given weights, gold) are data, not settings.
    settings = {f.name: getattr(method, f.name) for f in fields(method)}
    plain = {k: v for k, v in settings.items() if isinstance(v, str | int | float | bool)}
    return Provenance(method.name, plain)
