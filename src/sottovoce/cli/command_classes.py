"""Classes of commands: plain ones, with several epsilons, and with names from the registries.

`--epsilon` can take several numbers: `--epsilon 0.5 1 2`, `--epsilon 0.5,1,2`, or repeated.

A help text contains `{mechanisms}` where the names of all mechanisms belong, and the same for
methods. They are filled in when help is printed: loading the registries at every start would slow
down every command.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from sottovoce.errors import UsageError

OPTION = "--epsilon"


def epsilons_option(default: Sequence[float]) -> Any:
    """`--epsilon` with one or several numbers."""
    numbers = " ".join(f"{epsilon:g}" for epsilon in default)
    return typer.Option(
        OPTION,
        metavar="EPSILON",
        help="Privacy loss, one or several: 0.5 1 2, or 0.5,1,2. Smaller is more private. "
        f"Default: {numbers}.",
        show_default=False,
    )


class PlainCommand(TyperCommand):
    """A command whose help shows flags without a type, and that accepts renamed options."""

    renamed: Mapping[str, str] = {}

    def get_params(self, ctx: Any) -> list[Any]:
        return flags_as_flags(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(current_spelling(args, self.renamed)))


def flags_as_flags(parameters: Sequence[Any]) -> list[Any]:
    """The parameters, with no type shown for flags: `--json`, not `--json <bool>`."""
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
    return list(parameters)


def current_spelling(words: Sequence[str], renamed: Mapping[str, str]) -> Iterator[str]:
    """The words of a command line with old option names replaced, each with a warning."""
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if name in renamed:
            new = renamed[name]
            warning = f"{name} is deprecated and will be removed in the next release: use {new}"
            typer.echo(f"sottovoce: warning: {warning}", err=True)
            word = f"{new}{equals}{value}"
        yield word
        if word == "--":  # nothing after it is an option
            yield from rest


class EpsilonsCommand(PlainCommand):
    """A command whose `--epsilon` takes all the numbers that follow it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(joined(args)))


def joined(words: Sequence[str]) -> Iterator[str]:
    """The words of a command line, with the numbers after `--epsilon` joined into one word.

    >>> list(joined(["a.csv", "--epsilon", "0.5", "1", "--json"]))
    ['a.csv', '--epsilon', '0.5,1', '--json']
    """
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":  # nothing after it is an option
            yield from (word, *rest)
            return
        if word == OPTION and rest:
            yield word
            word = rest.pop(0)
        elif not word.startswith(f"{OPTION}="):
            yield word
            continue
        while rest and _is_number(rest[0].strip(",")):
            word = f"{word.rstrip(',')},{rest.pop(0).lstrip(',')}"
        yield word


def epsilons(given: Sequence[str] | None, default: Sequence[float]) -> tuple[float, ...]:
    """The epsilons of an option in increasing order; anything else is an error.

    >>> epsilons(["2,0.5", "1"], ())
    (0.5, 1.0, 2.0)
    """
    if not given:
        return tuple(default)
    numbers = [_number(word.strip()) for text in given for word in text.strip(", ").split(",")]
    twice = next((number for number in numbers if numbers.count(number) > 1), None)
    if twice is not None:
        raise UsageError(f"{OPTION} {twice:g} is given twice: remove one")
    return tuple(sorted(numbers))


def _number(word: str) -> float:
    number = float(word) if _is_number(word) else math.nan
    if not 0 < number < math.inf:
        raise UsageError(f"{OPTION} takes numbers above 0, such as 0.5 1 2, not {word!r}")
    return number


def _is_number(word: str) -> bool:
    try:
        return all(math.isfinite(float(part)) for part in word.split(","))
    except ValueError:
        return False


class RegistryCommand(PlainCommand):
    """A command whose help lists registered mechanisms or methods.

    Names of mechanisms are too long for the column of an option: they are below all options.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            described: Any = parameter  # arguments and options both have a help text
            text = described.help or ""
            if "{mechanisms}" in text:
                text = text.replace("{mechanisms}", "the mechanisms below")
                self.epilog = with_names("Mechanisms: {mechanisms}.")
            described.help = with_names(text)
        super().format_help(ctx, formatter)


def with_names(text: str) -> str:
    """A help text with the names of all mechanisms and methods filled in.

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
