"""Transcripts: the view of a server that follows the protocol of a private EM, in a file."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sottovoce.errors import DataError, UsageError
from sottovoce.model.canonical_json import canonical
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce.securesum.em.terms import EMTerms

FAMILY = "sottovoce-transcript/"
FORMAT = f"{FAMILY}1"

_TOTAL = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """The terms, the number of workers, the totals of every round, and the assignments of tasks.

    It contains no key, no answer and no contribution. Assignments are None if the server does not
    know them; a party that assigns and pays for tasks does. A task that a worker answers
    repeatedly is listed as often.

    >>> from sottovoce.securesum.em.terms import Mode
    >>> terms = EMTerms(("q1", "q2"), ("no", "yes"), Mode.AS_PUBLISHED, scale=100)
    >>> seen = Transcript(terms, 3, (OpenedSum(np.array([1, 2, 3, 0]), 3),))
    >>> Transcript.parse(seen.text()).opened[0].totals.tolist()
    [1, 2, 3, 0]
    """

    terms: EMTerms
    workers: int
    opened: tuple[OpenedSum, ...]
    assignments: Mapping[str, Sequence[str]] | None = None

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise UsageError("a transcript needs at least one worker")
        for number, each in enumerate(self.opened):
            if not 1 <= each.workers <= self.workers:
                raise UsageError(f"round {number} adds up {each.workers} of {self.workers} workers")
            if each.totals.dtype != np.int64 or each.totals.ndim != 1 or (each.totals < 0).any():
                raise UsageError(f"round {number} has totals that are not integers from 0")
        known, most = set(self.terms.tasks), self.terms.repeats
        for tasks in (self.assignments or {}).values():
            if not known.issuperset(tasks) or max(Counter(tasks).values(), default=0) > most:
                times = "once" if most == 1 else f"at most {most} times"
                raise UsageError(
                    f"a worker's tasks must be tasks of the terms, each of them {times}"
                )

    def text(self) -> str:
        """The file: canonical JSON, one line."""
        document = {
            "assignments": None
            if self.assignments is None
            else {worker: list(tasks) for worker, tasks in self.assignments.items()},
            "em": self.terms.as_json(),
            "format": FORMAT,
            "rounds": [
                {"totals": [str(total) for total in each.totals.tolist()], "workers": each.workers}
                for each in self.opened
            ],
            "workers": self.workers,
        }
        return canonical(document) + "\n"

    @classmethod
    def parse(cls, text: str, file: str | None = None) -> Self:
        """The transcript in a file; raises an error of one line for anything else."""
        document = _document(text, file)
        try:
            assigned = document["assignments"]
            found = cls(
                EMTerms.of_json(document["em"]),
                _integer(document["workers"]),
                tuple(_round(each) for each in document["rounds"]),
                None
                if assigned is None
                else {worker: tuple(tasks) for worker, tasks in assigned.items()},
            )
            whole = canonical(json.loads(found.text())) == canonical(document)
        except UsageError as error:
            raise DataError(f"not a valid transcript: {error}", file=file) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            whole = False
        if not whole:
            raise DataError("a transcript with missing or wrong parts: write it again", file=file)
        return found


def _document(text: str, file: str | None) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except ValueError:
        cut = f'"format":"{FAMILY}' in text
        raise DataError(
            "a transcript that was cut off: write it again" if cut else "not a transcript: no JSON",
            file=file,
        ) from None
    written = document.get("format") if isinstance(document, dict) else None
    if not isinstance(written, str) or not written.startswith(FAMILY):
        raise DataError(f"not a transcript: it does not say that its format is {FORMAT}", file=file)
    if written != FORMAT:
        raise DataError(f"a transcript of format {written[:60]!r}: this reads {FORMAT}", file=file)
    return dict(document)


def _round(document: Any) -> OpenedSum:
    texts = document["totals"]
    if not all(_TOTAL.fullmatch(each) for each in texts):
        raise ValueError("a total is not an integer from 0")
    return OpenedSum(
        np.array([int(each) for each in texts], np.int64), _integer(document["workers"])
    )


def _integer(value: Any) -> int:
    if type(value) is not int:
        raise TypeError("not an integer")
    return value
