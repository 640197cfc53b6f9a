"""Signal: whether answers to the same task agree more than chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sottovoce.model.display import Display, Displayed

ABOVE_CHANCE = 2.0
"""From this z on answers carry a signal: pure noise stays below it in 98 of 100 tables."""
SURE = 7.0
"""A signal whose expected z is this large is missed about once in 100 tables."""
RIGHT = 0.1
"""How far above chance workers are right in the crowd that `detectable` is for."""


@dataclass(frozen=True, slots=True, repr=False)
class Signal(Displayed):
    """The agreement of answers beyond chance, given how often each worker gives each label.

    `z` is in standard deviations: about 0 if answers do not depend on the task. `tasks` have two or
    more reports, `pairs` of reports to the same task are compared. `detectable` is the expected z
    on these pairs if every worker were right 0.1 more often than by chance.

    >>> Signal(z=0.4, tasks=100, pairs=4500, detectable=2.7).verdict
    'none'
    """

    z: float
    tasks: int
    pairs: int
    detectable: float

    @property
    def verdict(self) -> Literal["some", "none"]:
        """`none` if the answers agree no more than answers that ignore the task may."""
        return "some" if self.z >= ABOVE_CHANCE else "none"

    @property
    def conclusive(self) -> bool:
        """Whether workers who are right 0.1 above chance would have shown in 99 of 100 tables."""
        return self.detectable >= SURE

    def warning(self) -> str | None:
        """A sentence for the user if there is no signal, and what to do; None otherwise."""
        if self.verdict == "some":
            return None
        if not self.tasks:
            return "no task has two answers: nothing shows whether the answers carry a signal"
        if self.conclusive:
            return (
                f"the answers carry no signal: they agree no more than chance (z = {self.z:.1f}); "
                "do not rely on the truths, and check the question and the columns"
            )
        return (
            f"the answers agree no more than chance (z = {self.z:.1f}), and there are too few to "
            "tell whether they carry a signal: collect more answers per task"
        )

    def _display(self) -> Display:
        facts = (
            ("z", f"{self.z:.2f}, {self.detectable:.2f} if workers were right 0.1 above chance"),
            ("compared", f"{self.pairs:,} pairs of answers to {self.tasks:,} tasks"),
        )
        told = self.warning() or "the answers agree more than chance"
        return Display(f"Signal: {self.verdict}", (*facts, ("verdict", told)))
