"""Public names and the documented modules, with signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from typing import Any

from tests.frozen.recordings import Files, as_json, stable

__all__ = ["names"]

DEEP = (
    "sottovoce.crowdkit",
    "sottovoce.datasets",
    "sottovoce.errors",
    "sottovoce_studies.theorems",
    "sottovoce.testing",
    "sottovoce.testing.pytest",
)
"""Modules that the documentation imports from."""


class _Written(str):
    """An annotation as written, which a signature would put in quotes; without its module."""

    __slots__ = ()

    def __repr__(self) -> str:
        return re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])", "", str(self))


def _annotation(given: Any) -> Any:
    if given is inspect.Parameter.empty:
        return given
    return _Written(given if isinstance(given, str) else inspect.formatannotation(given))


def _signature(thing: Any) -> str:
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return "none"
    parameters = [
        each.replace(annotation=_annotation(each.annotation)) for each in found.parameters.values()
    ]
    returned = _annotation(found.return_annotation)
    return stable(str(found.replace(parameters=parameters, return_annotation=returned)))


def _member(attribute: inspect.Attribute) -> str:
    if attribute.kind == "property":
        return f"property {_signature(getattr(attribute.object, 'fget', None))}"
    if "method" in attribute.kind:
        function = getattr(attribute.object, "__func__", attribute.object)
        return f"{attribute.kind} {_signature(function)}"
    return f"data {type(attribute.object).__name__}"


def _described(thing: Any) -> Any:
    """The parts of a public name that users rely on."""
    if inspect.isclass(thing):
        members = {
            each.name: _member(each)
            for each in inspect.classify_class_attrs(thing)
            if not each.name.startswith("_")
            and each.defining_class.__module__.startswith("sottovoce")
        }
        if issubclass(thing, Enum):
            members |= {name: f"= {each.value!r}" for name, each in thing.__members__.items()}
        bases = [base.__name__ for base in thing.__bases__]
        described = {"class": _signature(thing), "bases": bases, "members": members}
    elif inspect.isroutine(thing):
        described = {"function": _signature(thing)}
    elif isinstance(thing, Mapping):
        described = {"mapping": {key: stable(str(value)) for key, value in thing.items()}}
    else:
        described = {"kind": type(thing).__name__, "value": stable(repr(thing))}
    return described


def names() -> Files:
    """Public names and the documented modules, with signatures."""
    modules = {path: import_module(path) for path in ("sottovoce", *DEEP)}
    return {
        "names.json": as_json(
            {
                path: {name: _described(getattr(module, name)) for name in module.__all__}
                for path, module in modules.items()
                if path != "sottovoce.errors"
            }
        ),
        "errors.json": as_json(
            {
                name: _described(getattr(modules["sottovoce.errors"], name))
                for name in modules["sottovoce.errors"].__all__
            }
        ),
    }
