"""What a keyholder has done so far, read from its own logs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sottovoce.errors import SottovoceError
from sottovoce.keyholder.agreement import REFUSED, Agreement
from sottovoce.keyholder.log import Logged
from sottovoce.keyholder.seat import CONFIRMED, DEALT, OPENED

__all__ = ["Standing", "standings"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One campaign in a keyholder's folder; `problem` says why nothing more is known of it."""

    folder: Path
    agreement: Agreement | None
    facts: tuple[Logged, ...]
    problem: str | None = None

    @classmethod
    def of(cls, folder: Path) -> Self:
        """What is in a campaign's folder; its log is verified."""
        try:
            agreement = Agreement.read(folder)
            return cls(folder, agreement, tuple(agreement.log.facts()))
        except SottovoceError as error:
            return cls(folder, None, (), str(error))

    @property
    def dealt(self) -> Logged | None:
        """When noise was dealt."""
        return self._last(DEALT)

    @property
    def confirmed(self) -> Logged | None:
        """The last state that was confirmed: `number`, `count`."""
        return self._last(CONFIRMED)

    @property
    def opened(self) -> Logged | None:
        """When the share of the total was published."""
        return self._last(OPENED)

    @property
    def refusals(self) -> tuple[Logged, ...]:
        """Who broke the protocol, and how."""
        return tuple(logged for logged in self.facts if logged.fact["fact"] == REFUSED)

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        agreement = self.agreement
        if agreement is None:
            return {"folder": str(self.folder), "problem": self.problem}
        return {
            "campaign": agreement.session.campaign,
            "server": agreement.server,
            "session": agreement.session.id,
            "policy_hash": agreement.session.policy.hash,
            "seat": agreement.seat,
            "folder": str(self.folder),
            "facts": [{"at": logged.at, **logged.fact} for logged in self.facts],
            "problem": None,
        }

    def _last(self, name: str) -> Logged | None:
        return next((each for each in reversed(self.facts) if each.fact["fact"] == name), None)


def standings(home: Path) -> list[Standing]:
    """All campaigns that were agreed to in a keyholder's folder."""
    return [Standing.of(folder) for folder in Agreement.all(home)]
