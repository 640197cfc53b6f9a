"""What may leave the device."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.model import Label

__all__ = ["FORMAT", "Submission"]

FORMAT = "sottovoce-submission/1"


@dataclass(frozen=True, slots=True)
class Submission:
    """The reports of one worker under one policy, in the order of the tasks' names.

    There is nothing else in it: no answer, nothing the worker drew and keeps, no time, and not the
    order in which the worker answered. `worker` is the name under which the requester knows the
    worker.

    >>> Submission("f4a3", "ada", ("t1", "t2"), ("no", "yes")).text()
    '{"format":"sottovoce-submission/1","policy":"f4a3","reports":["no","yes"],"tasks":["t1","t2"],"worker":"ada"}'
    """

    policy_hash: str
    worker: str
    tasks: tuple[str, ...]
    reports: tuple[Label, ...]

    def __post_init__(self) -> None:
        if len(self.tasks) != len(self.reports):
            raise UsageError("a submission has one report for each task")
        if list(self.tasks) != sorted(set(self.tasks)):
            raise UsageError("the tasks of a submission are in order, each of them once")

    def __len__(self) -> int:
        return len(self.tasks)

    def as_json(self) -> dict[str, Any]:
        """The document to send."""
        return {
            "format": FORMAT,
            "policy": self.policy_hash,
            "worker": self.worker,
            "tasks": list(self.tasks),
            "reports": list(self.reports),
        }

    def text(self) -> str:
        """The canonical JSON: sorted, compact, ASCII; the same reports give the same bytes."""
        return json.dumps(
            self.as_json(),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=True,
            allow_nan=False,
        )
