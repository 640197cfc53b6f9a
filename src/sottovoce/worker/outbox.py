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
    """How far reports have come."""

    DRAWN = "drawn"
    """On the disk; whether the ledger has booked them is not known."""
    BOOKED = "booked"
    """Booked; whether the server has them is not known."""
    REFUSED = "refused"
    """The server said no, and why."""
    SENT = "sent"
    """The server has them; what is left here is their identifier."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """The reports of one submission. No answer is in it.

    `content` are the bytes to send, `tasks` what was answered: of a sample, not all is sent.
    """

    report_id: str
    stage: Stage
    reports: int
    content: bytes = field(default=b"", repr=False)
    tasks: tuple[str, ...] = field(default=(), repr=False)
    refused: str | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it was not acknowledged."""
        return self.stage is not Stage.SENT

    def at(self, stage: Stage, refused: str | None = None) -> Self:
        """The same, further on; after the acknowledgement nothing but the identifier is kept."""
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
        )


class Outbox:
    """A folder with one file for each submission to a campaign. Hold the campaign to write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "outbox"

    def put(self, parcel: Parcel) -> None:
        """Keep a parcel, or how far it has come; durable when this returns."""
        private_folder(self._folder)
        write_durably(self._path(parcel.report_id), json.dumps(parcel.as_json()).encode())

    def tidy(self) -> None:
        """Remove what a crash has left half-written."""
        with translated_errors(self._folder):
            remove_unfinished(self._folder)

    def discard(self, report_id: str) -> None:
        """Throw a parcel away."""
        with translated_errors(self._folder):
            self._path(report_id).unlink(missing_ok=True)
            flush(self._folder)

    def parcels(self) -> Sequence[Parcel]:
        """Everything that is kept, by identifier."""
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
            "this is not what was written: restore it from a copy, or remove it, and the reports "
            "in it with it",
            file=str(file),
        ) from None
