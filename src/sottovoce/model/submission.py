"""Submission: the reports of one worker under one policy, as they are sent."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from sottovoce.errors import UsageError
from sottovoce.model.canonical_json import RepeatedField, canonical, unique_fields
from sottovoce.model.display import Display, Displayed, first_rows
from sottovoce.model.domain import Label

FORMAT = "sottovoce-submission/1"

_FIELDS = frozenset({"format", "policy", "worker", "tasks", "reports"})
_STAMP = "simulated"


@dataclass(frozen=True, slots=True, repr=False)
class Submission(Displayed):
    """The reports of one worker under one policy, in the order of the tasks' names.

    There is nothing else in it: no answer, nothing the worker drew and keeps, no time, and not the
    order in which the worker answered. `worker` is the name under which the requester knows the
    worker. `simulated` stamps reports whose noise came from a seed, and which protect nobody.

    >>> Submission("f4a3", "ada", ("t1", "t2"), ("no", "yes")).text()
    '{"format":"sottovoce-submission/1","policy":"f4a3","reports":["no","yes"],"tasks":["t1","t2"],"worker":"ada"}'
    """

    policy_hash: str
    worker: str
    tasks: tuple[str, ...]
    reports: tuple[Label, ...]
    simulated: bool = False

    def __post_init__(self) -> None:
        if len(self.tasks) != len(self.reports):
            raise UsageError("a submission has one report for each task")
        if list(self.tasks) != sorted(set(self.tasks)):
            raise UsageError("the tasks of a submission are in order, each of them once")

    def __len__(self) -> int:
        return len(self.tasks)

    def _display(self) -> Display:
        simulated = "; SIMULATED" if self.simulated else ""
        title = f"Submission: {len(self):,} reports of worker {self.worker!r}{simulated}"
        columns, rows = ("task", "report"), first_rows(self.tasks, self.reports)
        return Display(title, (("policy", self.policy_hash),), columns, rows, len(self))

    def as_json(self) -> dict[str, Any]:
        """The document to send."""
        document: dict[str, Any] = {
            "format": FORMAT,
            "policy": self.policy_hash,
            "worker": self.worker,
            "tasks": list(self.tasks),
            "reports": list(self.reports),
        }
        if self.simulated:
            document[_STAMP] = True
        return document

    def text(self) -> str:
        """The canonical JSON: sorted, compact, ASCII; the same reports give the same bytes."""
        return canonical(self.as_json())

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """The submission in these bytes. Errors name the field, and quote nothing of it."""
        try:
            document = _DECODER.decode(content.decode())
        except UsageError:
            raise
        except RepeatedField:
            raise UsageError("the submission has a field twice") from None
        except (ValueError, RecursionError):
            raise UsageError("the submission is not JSON") from None
        return cls._of_json(document)

    @classmethod
    def _of_json(cls, document: Any) -> Self:
        if not isinstance(document, dict):
            raise UsageError("the submission must be a JSON object")
        if missing := _FIELDS - document.keys():
            raise UsageError(f"the submission lacks {', '.join(sorted(missing))}")
        if document.keys() - _FIELDS - {_STAMP}:
            raise UsageError("the submission has a field that is not known")
        if document["format"] != FORMAT:
            raise UsageError(f"the submission's format is not {FORMAT!r}")
        stamp = document.get(_STAMP, False)
        if not isinstance(stamp, bool):
            raise UsageError("the submission's simulated must be true or false")
        tasks, reports = document["tasks"], document["reports"]
        for field, kinds in (("policy", str), ("worker", str), ("tasks", list), ("reports", list)):
            if not isinstance(document[field], kinds):
                words = "a text" if kinds is str else "a list"
                raise UsageError(f"the submission's {field} must be {words}")
        if not set(map(type, tasks)) <= {str}:
            raise UsageError("the submission's tasks must be texts")
        if not set(map(type, reports)) <= {str, int, float}:
            raise UsageError("the submission's reports must be texts or numbers")
        if math.inf in reports or -math.inf in reports:  # as 1e999 is read
            _refuse_constant("")
        return cls(document["policy"], document["worker"], tuple(tasks), tuple(reports), stamp)


def _refuse_constant(_: str) -> NoReturn:
    raise UsageError("the submission has a number that is not finite")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, object_pairs_hook=unique_fields)
