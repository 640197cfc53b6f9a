"""Help that names every mechanism and method there is, from their registries.

A help text says `{mechanisms}` where their names belong. They are put in when help is printed: to
load the registries whenever a command starts would make each of them slower.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from typer.core import TyperCommand

__all__ = ["RegistryCommand", "with_names"]


class RegistryCommand(TyperCommand):
    """A command whose help names what is registered."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            described: Any = parameter  # arguments and options both have a help text
            described.help = with_names(described.help or "")
        super().format_help(ctx, formatter)


def with_names(text: str) -> str:
    """A help text with the names of all mechanisms and methods put in.

    >>> with_names("With --policy: {aware_methods}.")
    'With --policy: aware-labels, aware-ordinal, aware-numbers or aware-factorization.'
    """
    if "{" not in text:
        return text
    from sottovoce.inference.noise_aware.registry import AWARE_METHODS
    from sottovoce.inference.registry import METHODS, default_method
    from sottovoce.mechanisms.registry import MECHANISMS
    from sottovoce.model import Domain

    names = {
        "{mechanisms}": ", ".join(MECHANISMS),
        "{methods}": _either(METHODS),
        "{label_method}": default_method(Domain.categorical("ab")),
        "{number_method}": default_method(Domain.numeric()),
        "{aware_methods}": _either(AWARE_METHODS),
    }
    for place, those in names.items():
        text = text.replace(place, those)
    return text


def _either(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"
