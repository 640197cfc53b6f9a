"""What a worker has of a live session when it is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sottovoce.model import FloatArray
from sottovoce.securesum.star.worker import Ended

__all__ = ["LiveOutcome"]


@dataclass(frozen=True, slots=True, eq=False)
class LiveOutcome:
    """How it ended, after how many opened rounds, and how good this worker's answers are.

    `skill` has P(answer | truth) at [truth, answer], as the worker computes it from what was
    opened: for two labels β at [0, 0] and α at [1, 1]. It never leaves the device. None where
    nothing was opened.
    """

    session: str
    number: int
    ended: Ended
    rounds: int
    labels: tuple[str, ...]
    skill: FloatArray | None = field(repr=False)

    @property
    def is_done(self) -> bool:
        """Whether everything was added up that was to be."""
        return self.ended.state == "done"

    def as_json(self) -> dict[str, Any]:
        """The outcome for the worker's own eyes."""
        return {
            "session": self.session,
            "number": self.number,
            "state": self.ended.state,
            "reason": self.ended.reason,
            "culprits": list(self.ended.culprits),
            "rounds": self.rounds,
            "labels": list(self.labels),
            "skill": None if self.skill is None else self.skill.round(6).tolist(),
        }
