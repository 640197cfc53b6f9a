"""A method's parameters, checked when it is made."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from sottovoce.errors import UsageError

__all__ = ["check_parameters", "settings_of"]


def check_parameters(method: Any) -> None:
    """Refuse values that a dataclass of parameters does not declare.

    A `Literal` must be one of its values, a whole number and a number must be such; `max_rounds`
    is at least 1. A negative `tolerance` is allowed: it runs all rounds.
    """
    for name, kind in _hints(type(method)).items():
        value = getattr(method, name)
        if get_origin(kind) is Literal:
            if value not in get_args(kind):
                raise UsageError(f"{name} is {' or '.join(get_args(kind))}, not {value!r}")
        elif kind is int and (isinstance(value, bool) or not isinstance(value, int)):
            raise UsageError(f"{name} must be a whole number, not {value!r}")
        elif kind is float and not _is_number(value):
            raise UsageError(f"{name} must be a number, not {value!r}")
        if name == "max_rounds" and value < 1:
            raise UsageError(f"max_rounds must be at least 1, not {value}")


def settings_of(method: type[Any]) -> list[str]:
    """The parameters that can be written down: choices, whole numbers and numbers."""
    kinds = _hints(method)
    return [name for name, kind in kinds.items() if kind in (int, float) or _is_choice(kind)]


def _hints(method: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(method)
    return {field.name: hints[field.name] for field in fields(method)}


def _is_choice(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _is_number(value: Any) -> bool:
    is_real = isinstance(value, int | float) and not isinstance(value, bool)
    return is_real and not math.isnan(value)
