"""Common parts of aggregators: parameter validation, the iteration and its end, and the `Result`.

Results are built from posteriors for labels, or from means and their errors for numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import (
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.inference.steps.arithmetic import (
    COMPILED_FROM,
    TIE,
    columns_of,
    compiled,
    row_max,
    steady,
)
from sottovoce.inference.steps.votes import AnswerCounts
from sottovoce.model import Codes, Domain, FloatArray, Kind, Provenance, Result
from sottovoce.seams import Engine


class Settled(NamedTuple):
    """The end of an iteration: the weights, the number of rounds, and whether they converged."""

    weights: FloatArray
    rounds: int
    converged: bool

    def among(self, workers: Codes, count: int) -> Settled:
        """The same for a subset of the workers."""
        return self._replace(weights=self.weights[workers])


class Limits(Protocol):
    """The stopping parameters of an iterative method."""

    @property
    def max_rounds(self) -> int:
        """The maximum number of rounds."""
        ...

    @property
    def tolerance(self) -> float:
        """The largest change of a weight in the last round, relative to the largest weight."""
        ...


def settle(
    limits: Limits,
    update: Callable[[FloatArray], FloatArray],
    start: FloatArray,
    answered: FloatArray,
) -> Settled:
    """Update weights until none changes by more than `tolerance`, relative to the largest.

    A worker without answers gets the mean weight of the others, because there is no evidence about
    it. A tolerance of −∞ runs all rounds.
    """
    weights, active = start, answered > 0
    for rounds in range(1, limits.max_rounds + 1):
        updated = steady(update(weights))
        updated[~active] = updated[active].mean()
        largest, change = np.abs(updated).max(), np.abs(updated - weights).max()
        weights = updated
        if limits.tolerance >= 0 and change <= limits.tolerance * largest:
            return Settled(weights, rounds, converged=True)
    return Settled(weights, limits.max_rounds, converged=False)


LABELS = frozenset({Kind.CATEGORICAL, Kind.ORDINAL})
"""Labels, ordered or not."""
NUMBERS = frozenset({Kind.NUMERIC})
"""Numbers; ordinal labels are converted to numbers first."""
ANY = LABELS | NUMBERS


class Method(Protocol):
    """An aggregator as provenance records it: a name and a dataclass of parameters."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Any]]


def choose(scores: FloatArray, rng: np.random.Generator | None = None) -> Codes:
    """The label with the highest score of each row.

    Labels within 1e-9 of the top tie: the first of them is chosen, or with `rng` one at random.
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
    crowd: FloatArray | None = None,
    hyperparameters: tuple[float, ...] = (),
    prior: FloatArray | None = None,
    domain: Domain | None = None,
    warnings: tuple[str, ...] = (),
) -> Result:
    """The most probable labels as truths; confidence is their probability.

    `domain` is the domain of the truths if the reports are symbols of another domain.
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
        crowd=crowd,
        hyperparameters=hyperparameters,
        prior=prior,
        warnings=warnings,
    )


def number_result(
    method: Method,
    engine: Engine,
    truths: FloatArray,
    settled: Settled,
    *,
    standard_error: FloatArray,
    domain: Domain | None = None,
    log_scale: bool = False,
    warnings: tuple[str, ...] = (),
) -> Result:
    """Numbers as truths, each with its standard error.

    A task without answers gets the mean of the other truths, and their spread as its error.
    `domain` is the domain of the truths if the reports are symbols of another domain; the method
    has then placed every truth in it, and truths are not changed.
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
        log_scale=log_scale,
        warnings=warnings,
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


def check_parameters(method: Any) -> None:
    """Refuse values that do not match the declared types of a parameter dataclass.

    A `Literal` must be one of its values; integers and floats must be numbers; `max_rounds` is at
    least 1. A negative `tolerance` is allowed: it runs all rounds.
    """
    for name, kind in _hints(type(method)).items():
        value = getattr(method, name)
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                raise UsageError(f"{name} must be {' or '.join(get_args(kind))}, not {value!r}")
        elif kind is int and (isinstance(value, bool) or not isinstance(value, int)):
            raise UsageError(f"{name} must be a whole number, not {value!r}")
        elif kind is float and not _is_number(value):
            raise UsageError(f"{name} must be a number, not {value!r}")
        if name == "max_rounds" and value < 1:
            raise UsageError(f"max_rounds must be at least 1, not {value}")


def check_floor(floor: float) -> None:
    """Refuse a bound of probabilities, [floor, 1 − floor], that leaves no room."""
    if not 0 < floor < 0.5:
        raise UsageError(f"floor must lie between 0 and 1/2, not {floor}")


def check_known(known: Codes | None, engine: Engine, labels: int) -> None:
    """Refuse known truths that are not one label, or −1, for each task."""
    if known is None:
        return
    if known.shape != (engine.task_count,):
        raise UsageError(
            f"known must have one label (or -1) for each of the {engine.task_count:,} tasks, "
            f"not shape {known.shape}"
        )
    if not np.all((known >= -1) & (known < labels)):
        raise UsageError(f"known labels must be from -1 to {labels - 1}")


def settings_of(method: type[Any]) -> list[str]:
    """The parameters that can be serialised: choices, whole numbers and numbers."""
    kinds = _hints(method)
    return [
        name for name, kind in kinds.items() if kind in (int, float) or get_origin(kind) is Literal
    ]


def _hints(method: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(method)
    return {field.name: hints[field.name] for field in fields(method)}


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and not math.isnan(value)
