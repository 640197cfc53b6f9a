"""What is known about a dataset before its tables are read: one record of the index, checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from sottovoce.errors import DataError, SottovoceError
from sottovoce.model import Domain, Kind

__all__ = ["ANSWERS", "INDEX", "RAW", "TRUTH", "DatasetCard", "Record", "digest", "read_index"]

INDEX = "datasets.json"
ANSWERS, RAW, TRUTH = "answers.csv", "answers_raw.csv", "truth.csv"

Record: TypeAlias = dict[str, Any]
"""One dataset in the index, as JSON has it."""


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """A dataset of the cache: what it holds, where it comes from, what is odd about it.

    `answers` counts distinct (worker, task) pairs, `rows` those of the raw table. `files` maps
    each file's name to its SHA-256. Sizes that the index does not tell are None.
    """

    name: str
    kind: Kind
    domain: Domain
    folder: Path
    files: Mapping[str, str]
    workers: int | None = None
    tasks: int | None = None
    answers: int | None = None
    truths: int | None = None
    rows: int | None = None
    meaning: str = ""
    source: str = ""
    licence: str = ""
    paper: str = ""
    oddities: tuple[str, ...] = field(default=())

    @property
    def domain_text(self) -> str:
        """The domain in words, with the meaning of its labels where the index tells it."""
        return f"{self.domain}: {self.meaning}" if self.meaning else str(self.domain)

    @property
    def has_raw(self) -> bool:
        """Whether there is a table with the repeated rows of the source."""
        return RAW in self.files

    @property
    def has_gold(self) -> bool:
        """Whether the truth of some tasks is known."""
        return TRUTH in self.files

    @classmethod
    def of(cls, record: Record, cache: Path) -> DatasetCard:
        """Read one record of the index that lies in `cache`."""
        name = _simple(record["name"])
        files = {_simple(file): str(sha) for file, sha in record["sha256"].items()}
        if ANSWERS not in files:
            raise ValueError(f"{name} has no {ANSWERS}")
        sizes = {size: record.get(f"n_{size}") for size in ("workers", "tasks", "answers")}
        return cls(
            name,
            Kind(record["kind"]),
            _domain(Kind(record["kind"]), record["domain"]),
            cache / _simple(record.get("folder", name)),
            files,
            **sizes,
            truths=record.get("n_truths"),
            rows=record.get("n_source_rows"),
            meaning=_meaning(record["domain"]),
            source=_text(record.get("source")),
            licence=_text(record.get("licence")),
            paper=_text(record.get("paper")),
            oddities=tuple(record.get("oddities", ())),
        )

    def path(self, file: str) -> Path:
        """Where a file of the dataset lies, after its checksum was found right."""
        path, wanted = self.folder / file, self.files[file]
        try:
            found = digest(path)
        except OSError as error:
            raise DataError(
                f"cannot read this file of dataset {self.name}: {error.strerror}; "
                "add the dataset again with --force (force=True)",
                file=str(path),
            ) from None
        if found != wanted:
            raise DataError(
                f"SHA-256 is {found[:12]}… but the index says {wanted[:12]}…: the file changed; "
                f"add dataset {self.name} again with --force (force=True)",
                file=str(path),
            )
        return path


def read_index(cache: Path) -> list[tuple[Record, DatasetCard]]:
    """Every record of the folder's index with its card; none where there is no index."""
    path = cache / INDEX
    if not path.exists():
        return []
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        entries = [(record, DatasetCard.of(record, cache)) for record in records]
        names = [card.name for _, card in entries]
        if len(set(names)) < len(names):
            raise ValueError("two datasets have one name")
    except OSError as error:
        raise DataError(f"cannot read this index: {error.strerror}", file=str(path)) from None
    except KeyError as error:
        raise _broken(path, f"a dataset has no field {error}") from None
    except (ValueError, TypeError, AttributeError, SottovoceError) as error:
        raise _broken(path, str(error)) from None
    return entries


def digest(path: Path) -> str:
    """Compute the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _broken(path: Path, reason: str) -> DataError:
    return DataError(
        f"not an index of datasets ({reason}); restore it, "
        "or move it away and add the datasets again",
        file=str(path),
    )


def _simple(name: Any) -> str:
    """Refuse a name that would lead out of the folder."""
    if not isinstance(name, str) or not name or name.startswith(".") or set(name) & set("/\\:\0\n"):
        raise ValueError(f"{name!r} cannot be the name of a file or folder")
    return name


def _domain(kind: Kind, record: Record) -> Domain:
    if kind is Kind.NUMERIC:
        low, high = record.get("min"), record.get("max")
        return Domain.numeric(
            *(float("-inf") if low is None else low, float("inf") if high is None else high)
        )
    return Domain(kind, tuple(record["labels"]))


def _meaning(record: Record) -> str:
    meaning = record.get("meaning")
    if isinstance(meaning, dict):
        return ", ".join(f"{label} = {words}" for label, words in meaning.items())
    return _text(record.get("note"))


def _text(value: Any) -> str:
    """Flatten what the index says into one line."""
    if isinstance(value, dict):
        return ", ".join(f"{key} {words}" for key, words in value.items())
    return "" if value is None else str(value)
