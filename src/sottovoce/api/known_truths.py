"""Known truths: a fit that learns from them, and confidence that is calibrated on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.inference import METHODS
from sottovoce.inference.calibration import (
    FEWEST,
    Recalibration,
    error_factor,
    folds,
    label_scores,
    raised,
)
from sottovoce.inference.evaluation import positions
from sottovoce.mechanisms.codes import names_of
from sottovoce.model import Domain, FloatArray, Gold, Names, Result, Task, label_text
from sottovoce.seams import Aggregator, Engine


class CannotLearn(UsageError):  # noqa: N818 - reads as the fact it states
    """The method does not learn from known truths."""


def fit_with_known(aggregator: Aggregator, engine: Engine, known: Gold, domain: Domain) -> Result:
    """The fit that knows these truths, of a domain, with confidence calibrated on them.

    A known task's posterior says nothing about confidence, so each fifth of the known tasks is
    also inferred with only the others known. Fewer than 10 known truths calibrate nothing.
    """
    if not learns(type(aggregator)):
        raise _cannot_learn(aggregator)
    if engine.domain.is_numeric and not domain.is_numeric:  # a method for numbers, given labels
        known, domain = (
            replace(known, truths=domain.scale[known_codes(known, domain)]),
            engine.domain,
        )
    given = aligned(known, engine.tasks, domain)
    result = _fit(aggregator, engine, given)
    rows = np.flatnonzero(_is_known(given))
    if len(rows) < FEWEST:
        reason = f"confidence not recalibrated: it takes {FEWEST} known truths"
        return clamped(result, given, reason)
    fold = folds(result.tasks[rows])
    parts = []
    for each in range(int(fold.max()) + 1):
        fewer = given.copy()
        fewer[rows[fold == each]] = _unknown(given)
        parts.append((rows[fold == each], _fit(aggregator, engine, fewer)))
    return _calibrated(result, given, parts)


def learns(method: type[Any]) -> bool:
    """Whether a method learns from known truths: it has a field for them."""
    return is_dataclass(method) and any(field.name == "known" for field in fields(method))


def _cannot_learn(aggregator: Aggregator) -> CannotLearn:
    from sottovoce.inference.noise_aware.registry import AWARE_METHODS

    able = [name for name, method in {**METHODS, **AWARE_METHODS}.items() if learns(method)]
    name = getattr(aggregator, "name", type(aggregator).__name__)
    return CannotLearn(
        f"{name} does not learn from known truths; these do: {', '.join(able)}. Choose one with "
        "method=, or drop known="
    )


def _fit(aggregator: Aggregator, engine: Engine, known: npt.NDArray[Any]) -> Result:
    made: Any = aggregator
    return replace(made, known=known).fit(engine)  # type: ignore[no-any-return]


def known_gold(tasks: Sequence[Task], domain: Domain) -> Gold:
    """The known truths of a campaign's tasks, which are texts."""
    truths: npt.NDArray[Any] = names_of([task.known or "" for task in tasks])
    if domain.is_numeric:
        truths = np.array([_number(task) for task in tasks])
    return Gold(names_of([task.name for task in tasks]), truths)


def _number(task: Task) -> float:
    try:
        return float(task.known or "")
    except ValueError:
        raise DataError(f"the known truth of task {task.name[:40]!r} must be a number") from None


def check_truths(known: Gold, domain: Domain) -> None:
    """Refuse known truths that are no answers of the domain."""
    aligned(known, known.tasks, domain)


def aligned(known: Gold, tasks: Names, domain: Domain) -> npt.NDArray[Any]:
    """The known truth of each task: codes with -1, or numbers with NaN, where there is none."""
    rows, found = positions(tasks, known)
    if not found.any():
        raise DataError("no known task has an answer: compare the task names")
    if domain.is_numeric:
        numbers = np.full(len(tasks), np.nan)
        numbers[rows[found]] = _in_range(known, domain)[found]
        return numbers
    codes = np.full(len(tasks), -1, np.int32)
    codes[rows[found]] = known_codes(known, domain)[found]
    return codes


def known_codes(known: Gold, domain: Domain) -> npt.NDArray[np.int32]:
    """Known labels as codes; refuses a label that is none of the domain's."""
    code = {text(label): i for text in (label_text, str) for i, label in enumerate(domain.labels)}
    codes = np.array([code.get(str(truth), -1) for truth in known.truths], np.int32)
    if (codes < 0).any():
        at = int(np.argmin(codes))
        raise DataError(
            f"the known truth of task {_short(known.tasks[at])} is no label of the answers "
            f"({domain}): fix it, or give the answers a domain that has it"
        )
    return codes


def _short(task: object) -> str:
    return repr(str(task)[:40])


def _in_range(known: Gold, domain: Domain) -> FloatArray:
    numbers = known.truths.astype(np.float64)
    outside = ~((numbers >= domain.low) & (numbers <= domain.high))
    if outside.any():
        at = int(np.argmax(outside))
        raise DataError(
            f"the known truth of task {_short(known.tasks[at])} is outside the range of the "
            f"answers ({domain}): fix it, or give the answers a wider domain"
        )
    return numbers


def _is_known(given: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return ~np.isnan(given) if given.dtype.kind == "f" else given >= 0


def _unknown(given: npt.NDArray[Any]) -> float:
    return np.nan if given.dtype.kind == "f" else -1


def _calibrated(
    result: Result, given: npt.NDArray[Any], parts: list[tuple[npt.NDArray[np.intp], Result]]
) -> Result:
    """The result, calibrated on fits that each left out some known tasks (their rows first)."""
    rows = np.concatenate([out for out, _ in parts])
    if result.posterior is None:
        found = np.concatenate([part.truths[out] for out, part in parts])
        error = np.concatenate([raised(_errors(part))[out] for out, part in parts])
        scores = np.sort(np.abs(found - given[rows]) / error)
        factor = error_factor(scores)
        wider = factor * raised(_errors(result))
        result = replace(result, standard_error=wider, nonconformity=scores / factor)
        return clamped(result, given, f"standard errors multiplied by {factor:.3g}")
    fold = np.concatenate([np.full(len(out), i) for i, (out, _) in enumerate(parts)])
    posterior = np.concatenate([_posterior(part)[out] for out, part in parts])
    learnt = Recalibration.fitted(posterior, given[rows])
    recalibrated = replace(
        result,
        posterior=learnt(result.posterior),
        nonconformity=label_scores(posterior, given[rows], fold),
    )
    return clamped(recalibrated, given, str(learnt))


def _posterior(result: Result) -> FloatArray:
    assert result.posterior is not None  # noqa: S101 - labels have one
    return result.posterior


def _errors(result: Result) -> FloatArray:
    assert result.standard_error is not None  # noqa: S101 - numbers have one
    return result.standard_error


def clamped(result: Result, given: npt.NDArray[Any], calibration: str) -> Result:
    """The result with the known truths as truths of their tasks, with confidence 1."""
    known = _is_known(given)
    truths: Any = np.where(known, given, result.truths).astype(result.truths.dtype)
    made = replace(result.provenance, known=int(known.sum()), calibration=calibration)
    result = replace(result, truths=truths, known=known, provenance=made)
    if result.standard_error is not None:
        return replace(result, standard_error=np.where(known, 0.0, result.standard_error))
    posterior = _posterior(result).copy()
    posterior[known] = 0.0
    posterior[known, given[known]] = 1.0
    confidence = posterior[np.arange(len(posterior)), result.truths]
    return replace(result, posterior=posterior, confidence=confidence)
