"""Commands of two special kinds: with several epsilons, and with names from the registries.

Several epsilons stand after one option: `--epsilon 0.5 1 2`, `--epsilon 0.5,1,2`, or each its own.

A help text says `{mechanisms}` where the names of all mechanisms belong, and so for methods. They
are put in when help is printed: to load the registries whenever a command starts would make each of
them slower.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from sottovoce.errors import UsageError

OPTION = "--epsilon"

EpsilonsOption = Annotated[
    list[str] | None,
    typer.Option(
        OPTION,
        metavar="E1 E2 …",
        help="How much reports may betray, one or several: 0.5 1 2, or 0.5,1,2. Smaller is more "
        "private.",
        show_default=False,
    ),
]


class EpsilonsCommand(TyperCommand):
    """A command whose `--epsilon` takes the numbers behind it, as many as there are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(joined(args)))


def joined(words: Sequence[str]) -> Iterator[str]:
    """The words of a command line, with the numbers behind `--epsilon` as one word.

    >>> list(joined(["a.csv", "--epsilon", "0.5", "1", "--json"]))
    ['a.csv', '--epsilon', '0.5,1', '--json']
    """
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":  # behind it nothing is an option
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
    """The epsilons of an option, in order; what is none is refused.

    >>> epsilons(["2,0.5", "1"], ())
    (0.5, 1.0, 2.0)
    """
    if not given:
        return tuple(default)
    numbers = [_number(word.strip()) for text in given for word in text.strip(", ").split(",")]
    twice = next((number for number in numbers if numbers.count(number) > 1), None)
    if twice is not None:
        raise UsageError(f"epsilon {twice:g} is given twice: give each once")
    return tuple(sorted(numbers))


def _number(word: str) -> float:
    number = float(word) if _is_number(word) else math.nan
    if not 0 < number < math.inf:
        raise UsageError(f"an epsilon is a number above 0, not {word!r}: write {OPTION} 0.5 1 2")
    return number


def _is_number(word: str) -> bool:
    try:
        return all(math.isfinite(float(part)) for part in word.split(","))
    except ValueError:
        return False


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
