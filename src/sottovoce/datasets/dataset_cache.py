"""Real datasets from a folder on this machine, without network access.

A record of the index describes a dataset before its tables are read; a folder without one gets a
record from its tables. Datasets are checked and copied first, and appear in the cache when the
index is replaced.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from sottovoce.errors import DataError, OutputExists, SottovoceError, UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.files.user_folders import cache_folder
from sottovoce.model import Domain, Gold, Kind, Repeats, Reports
from sottovoce.tables import read_gold, read_reports
from sottovoce.tables.answer_column import sorted_labels

INDEX = "datasets.json"
ANSWERS, RAW, TRUTH = "answers.csv", "answers_raw.csv", "truth.csv"

Record: TypeAlias = dict[str, Any]
"""One dataset in the index, as JSON has it."""


@dataclass(frozen=True, slots=True)
class DatasetCard:
    """A cached dataset: its content, its source and its peculiarities.

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
                "add the dataset again with force=True",
                file=str(path),
            ) from None
        if found != wanted:
            raise DataError(
                f"SHA-256 is {found[:12]}… but the index says {wanted[:12]}…: the file changed; "
                f"add dataset {self.name} again with force=True",
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


def data_folder() -> Path:
    """Name the cache: `SOTTOVOCE_DATA`, or sottovoce/data in the user's cache folder."""
    if chosen := os.environ.get("SOTTOVOCE_DATA"):
        return Path(chosen).expanduser()
    return cache_folder() / "data"


def list_datasets() -> list[DatasetCard]:
    """Every dataset of the cache, by name; an empty list when there is none."""
    return sorted((card for _, card in read_index(data_folder())), key=lambda card: card.name)


def describe(name: str) -> DatasetCard:
    """Find a dataset's card by its name."""
    folder = data_folder()
    cards = {card.name: card for _, card in read_index(folder)}
    if name in cards:
        return cards[name]
    if not cards:
        raise DataError(
            f"no dataset {name!r}: {folder} holds none; add some with "
            "`sottovoce datasets add PATH`, or set SOTTOVOCE_DATA to a folder that has them"
        )
    near = difflib.get_close_matches(name.lower(), cards, n=1)
    way = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(cards))}"
    raise DataError(f"no dataset {name!r} in {folder}: {way}")


def load(
    name: str, *, raw: bool = False, repeats: Repeats = "first"
) -> tuple[Reports, Gold | None]:
    """Read a dataset's answers and its gold; None where no truth is known.

    With `raw`, the source's table with repeated (worker, task) rows, which `repeats` decides about.
    Checksums are compared with the index before anything is read.
    """
    card = describe(name)
    if raw and not card.has_raw:
        raise UsageError(f"dataset {name!r} has no raw table: its answers are all there is")
    answers = card.path(RAW if raw else ANSWERS)
    truth = card.path(TRUTH) if card.has_gold else None
    reports = read_reports(answers, domain=card.domain, repeats=repeats)
    return reports, read_gold(truth, domain=card.domain) if truth else None


def survey(folder: Path) -> tuple[Record, Path]:
    """Read a folder of one dataset; return its record and the folder's full path.

    The domain is what the answers look like: all numbers, or the labels that occur in any of the
    tables, raw answers and truths included.
    """
    folder = folder.resolve()
    if folder.name.startswith(".") or not folder.name:
        raise UsageError(f"a dataset is called like its folder, and {folder} is not a name")
    files = [file for file in (ANSWERS, RAW, TRUTH) if (folder / file).is_file()]
    reports = read_reports(folder / ANSWERS)
    domain = reports.domain
    record: Record = {
        "name": folder.name,
        "kind": str(domain.kind),
        "n_workers": len(reports.workers),
        "n_tasks": len(reports.tasks),
        "n_answers": len(reports),
        "source": f"added from {folder}",
        "sha256": {file: digest(folder / file) for file in files},
    }
    if RAW in files:
        raw = read_reports(folder / RAW, domain=domain.kind, repeats="keep")
        record["n_source_rows"] = len(raw)
        domain = _widened(domain, raw.domain.labels)
    if TRUTH in files:
        gold = read_gold(folder / TRUTH, domain=domain)
        record["n_truths"] = len(gold)
        domain = _widened(domain, gold.truths.tolist())
    record["domain"] = {} if domain.is_numeric else {"labels": list(domain.labels)}
    return record, folder


def _widened(domain: Domain, seen: Iterable[object]) -> Domain:
    """Add the labels that are missing; a range of numbers stays as it is."""
    if domain.is_numeric:
        return domain
    labels = {str(label) for label in (*domain.labels, *seen)}
    return Domain(domain.kind, tuple(sorted_labels(list(labels))))


def add(path: str | PathLike[str], *, force: bool = False) -> list[str]:
    """Copy datasets into the cache and return their names.

    `path` is a folder like the cache itself, with a datasets.json, or a folder of one dataset: an
    answers.csv, perhaps a truth.csv and an answers_raw.csv, named like the dataset. Its kind is
    then what its answers look like.

    Every table is read before anything is copied. Copies are made in new folders and the index,
    which alone says what the cache holds, is replaced last and at once: an interrupt leaves the
    cache as it was. Without `force` a dataset that is already there is refused, and all with it.
    """
    entries, cache = _found(Path(path)), data_folder()
    before = read_index(cache)
    names = [card.name for _, card in entries]
    replaced = [card for _, card in before if card.name in names]
    if replaced and not force:
        raise OutputExists(f"dataset {replaced[0].name!r} in {cache}")
    for _, card in entries:
        _check(card)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        _enter(entries, [record for record, card in before if card.name not in names], cache)
    except OSError as error:
        raise UsageError(f"cannot add datasets to {cache}: {error.strerror}") from None
    for card in replaced:
        shutil.rmtree(card.folder, ignore_errors=True)
    return names


def _found(source: Path) -> list[tuple[Record, DatasetCard]]:
    if (source / INDEX).is_file():
        if entries := read_index(source):
            return entries
        raise DataError("this index lists no dataset", file=str(source / INDEX))
    if (source / ANSWERS).is_file():
        record, folder = survey(source)
        return [(record, DatasetCard.of({**record, "folder": folder.name}, folder.parent))]
    raise DataError(
        f"{source} has neither {INDEX} nor {ANSWERS}: name a folder like the cache, or one with "
        f"{ANSWERS} (worker, task, answer) and perhaps {TRUTH} (task, truth)"
    )


def _check(card: DatasetCard) -> None:
    """Read every table once, after its checksum."""
    for file in card.files:
        path = card.path(file)
        if file == TRUTH:
            read_gold(path, domain=card.domain)
        elif file in (ANSWERS, RAW):
            read_reports(path, domain=card.domain, repeats="keep")


def _enter(
    entries: Iterable[tuple[Record, DatasetCard]], others: list[Record], cache: Path
) -> None:
    """Copy each dataset to a folder of its own, then let the index name them."""
    created: list[Path] = []
    try:
        records = [_copied(record, card, cache, created) for record, card in entries]
        with new_file(cache / INDEX, force=True) as index:
            index.write_text(json.dumps([*others, *records], indent=1), encoding="utf-8")
    except BaseException:
        named = {card.folder for _, card in read_index(cache)}  # all of them if it was that late
        for folder in created:
            if folder not in named:
                shutil.rmtree(folder, ignore_errors=True)
        raise


def _copied(record: Record, card: DatasetCard, cache: Path, created: list[Path]) -> Record:
    """Copy a dataset under a name that is free, and say so in its record."""
    aside = Path(tempfile.mkdtemp(prefix=f".{card.name}-", dir=cache))
    created.append(aside)
    for file, wanted in card.files.items():
        shutil.copyfile(card.folder / file, aside / file)
        if digest(aside / file) != wanted:
            raise DataError("the file changed while it was copied", file=str(card.folder / file))
    home = cache / card.name
    if home.exists():  # of the dataset that is being replaced, until the index changes
        home = cache / aside.name.removeprefix(".")
    created.append(home)
    aside.rename(home)
    return {**record, "folder": home.name}
