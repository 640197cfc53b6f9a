"""A submission on its way into the database."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Intake"]


@dataclass(frozen=True, slots=True)
class Intake:
    """A submission that was checked, packed: what is left to ask is what only the database knows.

    `tasks` are places in the campaign's list of tasks (4 bytes each), `codes` the reports' codes.
    `most` is how many answers the policy promises for; `whole` says that a worker sends once.
    """

    campaign: int
    report_id: bytes
    worker: bytes
    invite: bytes
    day: int
    digest: bytes
    tasks: bytes
    codes: bytes
    most: int
    whole: bool

    @property
    def count(self) -> int:
        """How many reports."""
        return len(self.tasks) // 4
