"""Verdicts: whether numbers, shape and guarantee of a claim hold, each with a reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Literal, TypeAlias, get_args

from sottovoce.errors import UsageError

__all__ = [
    "ASPECTS",
    "MEANINGS",
    "NOT_CLAIMED",
    "Recorded",
    "Ruling",
    "Rulings",
    "Statement",
    "Verdict",
    "explained",
    "ruling_on",
]

Verdict: TypeAlias = Literal["holds", "partly", "fails", "cannot be checked", "not claimed"]

MEANINGS: Mapping[Verdict, str] = MappingProxyType(
    {
        "holds": "true, under one choice of what the paper leaves open",
        "partly": "some of the statements or numbers hold and some do not; the reason says which",
        "fails": "false under every choice tried; the reason says where",
        "cannot be checked": "the data are not public or not in the cache, or nothing checkable is "
        "stated",
        "not claimed": "the paper says nothing about it here",
    }
)
"""The meaning of each verdict."""

ASPECTS: Mapping[str, str] = MappingProxyType(
    {
        "numbers": "do the printed numbers come out, at the paper's own epsilon",
        "shape": "are the text's statements about curves and orders true, at the paper's own "
        "epsilon",
        "guarantee": "is the stated privacy true, at the true epsilon of everything a worker "
        "sends, in the paper's unit",
    }
)
"""The question that each of the three verdicts of a study answers.

It is the same rule for all studies: the paper's epsilon decides what is run, the true epsilon
decides only the guarantee.
"""

Recorded: TypeAlias = tuple[Verdict, Verdict, Verdict]
"""The verdicts on numbers, shape and guarantee of the cited full run."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict and its reason, a few words; only `holds` and `not claimed` need none."""

    verdict: Verdict
    reason: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Verdict):
            raise UsageError(f"a verdict is one of {', '.join(get_args(Verdict))}")
        if not self.reason and self.verdict not in ("holds", "not claimed"):
            raise UsageError(f"a verdict {self.verdict!r} needs its reason")

    def __str__(self) -> str:
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict


NOT_CLAIMED = Ruling("not claimed")


@dataclass(frozen=True, slots=True)
class Rulings:
    """The three verdicts of a study.

    >>> rulings = Rulings(shape=Ruling("holds"), guarantee=Ruling("fails", "epsilon is 4.6, not 1"))
    >>> rulings.verdicts
    ('not claimed', 'holds', 'fails')
    >>> str(rulings)
    'shape holds; guarantee fails: epsilon is 4.6, not 1'
    """

    numbers: Ruling = NOT_CLAIMED
    shape: Ruling = NOT_CLAIMED
    guarantee: Ruling = NOT_CLAIMED

    @classmethod
    def unchecked(cls, reason: str) -> Rulings:
        """The rulings of a study that cannot be run."""
        return cls(*(Ruling("cannot be checked", reason) for _ in ASPECTS))

    @property
    def verdicts(self) -> Recorded:
        """The verdicts without their reasons."""
        return self.numbers.verdict, self.shape.verdict, self.guarantee.verdict

    def by_aspect(self) -> dict[str, Ruling]:
        """The rulings by the name of their aspect, in order."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __str__(self) -> str:
        claimed = {
            aspect: ruling
            for aspect, ruling in self.by_aspect().items()
            if ruling.verdict != "not claimed"
        }
        return "; ".join(f"{aspect} {ruling}" for aspect, ruling in claimed.items())


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a paper's text in a few words, whether it is true, and the number seen."""

    text: str
    true: bool
    seen: str = ""

    @property
    def ruling(self) -> Ruling:
        """The statement as a claim of its own."""
        return Ruling("holds" if self.true else "fails", self.seen or self.text)

    def __str__(self) -> str:
        return f"{self.text} ({self.seen})" if self.seen else self.text


def ruling_on(statements: Sequence[Statement]) -> Ruling:
    """The ruling on several statements; the reason names those that are false.

    >>> ruling_on([Statement("it falls", True), Statement("it never exceeds .5", False, "4.9")])
    Ruling(verdict='partly', reason='false: it never exceeds .5 (4.9)')
    """
    if not statements:
        return NOT_CLAIMED
    false = list(_false(statements))
    if not false:
        return Ruling("holds")
    verdict: Verdict = "fails" if len(false) == len(statements) else "partly"
    return Ruling(verdict, f"false: {'; '.join(false)}")


def explained(statements: Sequence[Statement], *more: str) -> str:
    """Sentences for an explanation: each statement with its verdict and the number seen.

    >>> explained([Statement("it never exceeds .5", False, "4.9")], "the rest is noise")
    'It never exceeds .5 (fails): 4.9. The rest is noise.'
    """
    parts = [f"{each.text} ({each.ruling.verdict}): {each.ruling.reason}" for each in statements]
    return " ".join(f"{part[0].upper()}{part[1:]}." for part in (*parts, *more))


def _false(statements: Sequence[Statement]) -> Iterator[str]:
    yield from (str(statement) for statement in statements if not statement.true)
