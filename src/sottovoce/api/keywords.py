"""Keywords that several functions share: how to read a table, and parameters of methods.

Functions declare them with `Unpack` (PEP 692) for type checkers. `spelled_out` puts each keyword
into the signature that `help` and completion in a notebook show.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict, TypeVar, cast, get_type_hints

from sottovoce.errors import UsageError
from sottovoce.inference import METHODS
from sottovoce.inference.aggregator import settings_of
from sottovoce.model import Domain, Kind, Repeats
from sottovoce.seams import Aggregator
from sottovoce.tables.answer_column import DomainName
from sottovoce.tables.readers import BadRows

F = TypeVar("F", bound=Callable[..., Any])


class ReadingOptions(TypedDict, total=False):
    """How to read a table; see `read`."""

    columns: Mapping[str, str] | None
    domain: Domain | Kind | DomainName | None
    repeats: Repeats
    bad_rows: BadRows
    format: str | None


class MethodParameters(TypedDict, total=False):
    """The parameters of all methods; each method takes some of them."""

    max_rounds: int
    tolerance: float
    weight: Literal["sound", "as_published"]
    divide_by: Literal["answered", "tasks"]
    round_ties: Literal["shared", "first"]
    scaling: Literal["variance", "deviation"]
    alpha: float
    beta: float
    precision: Literal["float64", "float32"]
    bound: Literal["answers", "tasks"]
    floor: float
    rate: float
    training: Literal["variational", "em"]
    habit_prior: float
    steps: int
    prior_right: float
    prior_wrong: float
    strength: float
    pull: float
    model: Literal["auto", "one-coin", "confusion"]
    participation: float
    points: int
    beyond: float


class InferKeywords(ReadingOptions, MethodParameters, total=False):
    """How to read a table, and the method's parameters."""


_DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(ReadingOptions.__annotations__),
    "repeats": "first",
    "bad_rows": "error",
}
"""Defaults to show. A method's parameter shows `...`: its default depends on the method."""


def spelled_out(keywords: type[Any]) -> Callable[[F], F]:
    """Replace the last parameter of a function's signature, `**keywords`, by each of them.

    >>> @spelled_out(ReadingOptions)
    ... def rows(source, **reading): ...
    >>> list(inspect.signature(rows).parameters)
    ['source', 'columns', 'domain', 'repeats', 'bad_rows', 'format']
    """
    added = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_DEFAULTS.get(name, ...),
            annotation=annotation,
        )
        for name, annotation in get_type_hints(keywords).items()
    ]

    def decorated(function: F) -> F:
        plain = inspect.signature(function)
        shown = [*list(plain.parameters.values())[:-1], *added]
        cast(Any, function).__signature__ = plain.replace(parameters=shown)
        return function

    return decorated


def check_reading(reading: Mapping[str, Any]) -> None:
    """Refuse a keyword that reading a table does not take."""
    known = ReadingOptions.__annotations__
    for name in reading:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
            raise UsageError(f"no keyword {name!r} for reading a table: {hint}")


def split_keywords(
    function: Callable[..., Any],
    method: str | Aggregator,
    parameters: Mapping[str, Any] | None,
    keywords: Mapping[str, Any],
) -> tuple[ReadingOptions, dict[str, Any]]:
    """The keywords of `infer` or `infer_into` that say how to read, and the method's parameters."""
    _check_method(method)
    if parameters is not None and not isinstance(parameters, Mapping):
        raise UsageError('parameters= takes a mapping, such as {"max_rounds": 3}')
    known = _parameters_of(method) if keywords else []
    reading = {key: keywords[key] for key in keywords if key in ReadingOptions.__annotations__}
    given = {key: keywords[key] for key in keywords if key not in reading}
    for name in given:
        if name not in known:
            raise UsageError(_unknown(name, function, method, known))
        if parameters and name in parameters:
            raise UsageError(f"{name} is given twice: as a keyword and in parameters=")
    return cast(ReadingOptions, reading), {**(parameters or {}), **given}


def _check_method(method: object) -> None:
    """Refuse a method that is neither a name nor an aggregator."""
    fits = hasattr(method, "takes") and hasattr(method, "fit")
    if isinstance(method, str) or (fits and not isinstance(method, type)):
        return
    found = f"the class {method.__name__}" if isinstance(method, type) else type(method).__name__
    raise UsageError(
        f"a method is a name or an object with name, takes and fit(engine), not {found}"
    )


def _parameters_of(method: str | Aggregator) -> list[str]:
    """The parameters that a method takes; those of all methods where it is not known yet."""
    if not isinstance(method, str):
        return []
    if method in METHODS:
        return settings_of(METHODS[method])
    # Here, so that inference without a policy does not load SciPy.
    from sottovoce.inference.noise_aware.registry import AWARE_METHODS

    aware = AWARE_METHODS.get(method)
    return list(MethodParameters.__annotations__) if aware is None else settings_of(aware)


def _unknown(
    name: str, function: Callable[..., Any], method: str | Aggregator, known: list[str]
) -> str:
    spelled = InferKeywords.__annotations__
    own = [each for each in inspect.signature(function).parameters if each not in spelled]
    who = method if isinstance(method, str) and method != "auto" else "the method"
    takes = ", ".join(known) or "no parameters"
    if not isinstance(method, str):
        who, takes = "an aggregator", "no parameters here, since it has its own"
    reading = ReadingOptions.__annotations__
    near = difflib.get_close_matches(name, [*known, *reading, *own], 1)
    hint = f": did you mean {near[0]}?" if near else ";"
    start = f"{function.__name__} has no keyword {name!r}{hint}"
    if near and near[0] in own:
        return start
    return f"{start} {who} takes {takes}; reading a table takes {', '.join(reading)}"
