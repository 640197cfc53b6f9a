"""Reports between drawing and acknowledgement: the same bytes however often they are sent."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from sottovoce.errors import DataError
from sottovoce.files.atomic_output import flush, remove_unfinished
from sottovoce.files.private_files import private_folder, translated_errors, write_durably

FORMAT = "sottovoce-outbox/1"
_NAME = re.compile(r"[0-9a-f]{32}\.json", re.ASCII)


class Stage(StrEnum):
    """The stage of a parcel's delivery."""

    DRAWN = "drawn"
    """On disk; may or may not be booked in the ledger."""
    BOOKED = "booked"
    """Booked; the server may or may not have them."""
    REFUSED = "refused"
    """Refused by the server, with its reason."""
    SENT = "sent"
    """Acknowledged; only the identifier is kept."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """The reports of one submission. It contains no answers.

    `content` are the bytes to send, `tasks` the answered tasks, of which a sample may be sent.
    `cut_short` means that it is sent with the statement that the budget does not cover all tasks.
    """

    report_id: str
    stage: Stage
    reports: int
    content: bytes = field(default=b"", repr=False)
    tasks: tuple[str, ...] = field(default=(), repr=False)
    refused: str | None = None
    cut_short: bool = False

    @property
    def is_waiting(self) -> bool:
        """Whether it is not acknowledged yet."""
        return self.stage is not Stage.SENT

    def at(self, stage: Stage, refused: str | None = None) -> Self:
        """The parcel at a later stage; after the acknowledgement only the identifier is kept."""
        if stage is Stage.SENT:
            return replace(self, stage=stage, content=b"", tasks=(), refused=None)
        return replace(self, stage=stage, refused=refused)

    def as_json(self) -> dict[str, Any]:
        """The parcel in a file."""
        return {
            "format": FORMAT,
            "stage": str(self.stage),
            "reports": self.reports,
            "content": self.content.decode("ascii"),
            "tasks": list(self.tasks),
            "refused": self.refused,
            "cut_short": self.cut_short,
        }

    @classmethod
    def of_json(cls, report_id: str, document: Any) -> Self:
        """The parcel that `as_json` wrote."""
        if document["format"] != FORMAT:
            raise ValueError
        return cls(
            report_id,
            Stage(document["stage"]),
            int(document["reports"]),
            document["content"].encode("ascii"),
            tuple(document["tasks"]),
            document["refused"],
            bool(document.get("cut_short", False)),
        )


class Outbox:
    """A folder with one file per submission to a campaign. Lock the campaign to write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "outbox"

    def put(self, parcel: Parcel) -> None:
        """Store a parcel and its stage; durable when this returns."""
        private_folder(self._folder)
        write_durably(self._path(parcel.report_id), json.dumps(parcel.as_json()).encode())

    def tidy(self) -> None:
        """Remove incomplete files after a crash."""
        with translated_errors(self._folder):
            remove_unfinished(self._folder)

    def discard(self, report_id: str) -> None:
        """Delete a parcel."""
        with translated_errors(self._folder):
            self._path(report_id).unlink(missing_ok=True)
            flush(self._folder)

    def parcels(self) -> Sequence[Parcel]:
        """All parcels, by identifier."""
        if not self._folder.is_dir():
            return []
        with translated_errors(self._folder):
            files = sorted(file for file in self._folder.iterdir() if _NAME.fullmatch(file.name))
            contents = [(file, file.read_bytes()) for file in files]
        return [_parsed(file, content) for file, content in contents]

    def find(self, report_id: str) -> Parcel | None:
        """The parcel with this identifier."""
        return next((each for each in self.parcels() if each.report_id == report_id), None)

    def _path(self, report_id: str) -> Path:
        return self._folder / f"{report_id}.json"


def _parsed(file: Path, content: bytes) -> Parcel:
    try:
        return Parcel.of_json(file.stem, json.loads(content))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(
            "this file was changed or damaged; restore it from a copy, or delete it together "
            "with its reports",
            file=str(file),
        ) from None
