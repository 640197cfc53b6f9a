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


def fit_with_known(aggregator: Aggregator, engine: Engine, known: Gold, domain: Domain) -> Result:
    """The fit that knows these truths, of a domain, with confidence calibrated on them.

    A known task's posterior says nothing about confidence, so each fifth of the known tasks is
    also inferred with only the others known. Fewer than 10 known truths calibrate nothing.
    """
    _check_learns(aggregator)
    if engine.domain.is_numeric and not domain.is_numeric:  # a method for numbers, given labels
        known = replace(known, truths=domain.scale[known_codes(known, domain)])
        domain = engine.domain
    given = aligned(known, engine.tasks, domain)
    learning: Any = aggregator
    result: Result = replace(learning, known=given).fit(engine)
    rows = np.flatnonzero(_is_known(given))
    if len(rows) < FEWEST:
        reason = f"confidence not recalibrated: it takes {FEWEST} known truths"
        return clamped(result, given, reason)
    fold = folds(result.tasks[rows])
    parts = []
    for each in range(int(fold.max()) + 1):
        fewer = given.copy()
        fewer[rows[fold == each]] = np.nan if domain.is_numeric else -1
        parts.append((rows[fold == each], replace(learning, known=fewer).fit(engine)))
    return _calibrated(result, given, parts)


def learns(method: type[Any]) -> bool:
    """Whether a method learns from known truths: it has a field for them."""
    return is_dataclass(method) and any(field.name == "known" for field in fields(method))


def _check_learns(aggregator: Aggregator) -> None:
    if learns(type(aggregator)):
        return
    # Here, so that known truths of plain answers do not load SciPy.
    from sottovoce.inference.noise_aware.registry import AWARE_METHODS

    able = [name for name, method in {**METHODS, **AWARE_METHODS}.items() if learns(method)]
    name = getattr(aggregator, "name", type(aggregator).__name__)
    raise UsageError(
        f"{name} does not learn from known truths; these do: {', '.join(able)}. Choose one with "
        "method=, or drop known="
    )


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


def aligned(known: Gold, tasks: Names, domain: Domain) -> npt.NDArray[Any]:
    """The known truth of each task: codes with -1, or numbers with NaN, where there is none."""
    rows, found = positions(tasks, known.tasks)
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
    _refuse(known, codes < 0, f"is no label of the answers ({domain})")
    return codes


def _in_range(known: Gold, domain: Domain) -> FloatArray:
    numbers = known.truths.astype(np.float64)
    outside = ~((numbers >= domain.low) & (numbers <= domain.high))
    _refuse(known, outside, f"is outside the range of the answers ({domain})")
    return numbers


def _refuse(known: Gold, wrong: npt.NDArray[np.bool_], why: str) -> None:
    if wrong.any():
        task = str(known.tasks[int(np.argmax(wrong))])[:40]
        raise DataError(f"the known truth of task {task!r} {why}: fix it, or widen the domain")


def _is_known(given: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    return ~np.isnan(given) if given.dtype.kind == "f" else given >= 0


def _calibrated(
    result: Result, given: npt.NDArray[Any], parts: list[tuple[npt.NDArray[np.intp], Any]]
) -> Result:
    """The result, calibrated on fits that each left out some known tasks (their rows first)."""
    rows = np.concatenate([out for out, _ in parts])
    if result.posterior is None:
        found = np.concatenate([part.truths[out] for out, part in parts])
        error = np.concatenate([raised(part.standard_error)[out] for out, part in parts])
        away = np.abs(found - given[rows])
        if result.log_scale:  # errors are symmetric in the logarithm
            away = found * np.abs(np.log(np.maximum(given[rows], 1e-9 * found) / found))
        scores = np.sort(away / error)
        factor = error_factor(scores)
        assert result.standard_error is not None  # noqa: S101 - numbers have one
        wider = factor * raised(result.standard_error)
        result = replace(result, standard_error=wider, nonconformity=scores / factor)
        return clamped(result, given, f"standard errors multiplied by {factor:.3g}")
    fold = np.concatenate([np.full(len(out), i) for i, (out, _) in enumerate(parts)])
    posterior = np.concatenate([part.posterior[out] for out, part in parts])
    learnt = Recalibration.fitted(posterior, given[rows])
    scores = label_scores(posterior, given[rows], fold)
    result = replace(result, posterior=learnt(result.posterior), nonconformity=scores)
    return clamped(result, given, str(learnt))


def clamped(result: Result, given: npt.NDArray[Any], calibration: str) -> Result:
    """The result with the known truths as truths of their tasks, with confidence 1."""
    known = _is_known(given)
    truths: Any = np.where(known, given, result.truths).astype(result.truths.dtype)
    made = replace(result.provenance, known=int(known.sum()), calibration=calibration)
    result = replace(result, truths=truths, known=known, provenance=made)
    if result.standard_error is not None:
        return replace(result, standard_error=np.where(known, 0.0, result.standard_error))
    assert result.posterior is not None  # noqa: S101 - labels have one
    certain = np.eye(result.posterior.shape[1])[given]
    posterior = np.where(known[:, np.newaxis], certain, result.posterior)
    confidence = posterior[np.arange(len(posterior)), result.truths]
    return replace(result, posterior=posterior, confidence=confidence)
