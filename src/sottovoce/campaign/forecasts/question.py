"""A campaign that does not exist yet, as somebody thinks of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Kind, ShowDraw, Unit
from sottovoce.planning.scenario import Assumption

__all__ = ["Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, how private it shall be, and how many would answer.

    A worker is given up to `target.answers` tasks. Without a mechanism it is the one that a draft
    would get.

    >>> question = Question(Domain.categorical(["no", "yes"]), Target(1.0, answers=9), 20, 50)
    >>> Question.parse(question.text()) == question
    True
    """

    domain: Domain
    target: Target
    tasks: int
    workers: int
    ability: Assumption = "mixed"
    mechanism: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def block(self) -> int:
        """How many tasks a worker is given."""
        return min(self.tasks, self.target.answers)

    def text(self) -> str:
        """One line of JSON: the same for the same question."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The question in such a line."""
        fields = json.loads(text)
        domain, target = fields.pop("domain"), fields.pop("target")
        return cls(
            Domain(**{
                **domain, "kind": Kind(domain["kind"]), "labels": tuple(domain["labels"]),
            }),
            Target(**{
                **target, "unit": Unit(target["unit"]), "show_draw": ShowDraw(target["show_draw"]),
            }),
            **fields,
        )  # fmt: skip
