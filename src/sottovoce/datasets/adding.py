"""Datasets enter the cache: checked first, copied aside, and there once the index says so."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from sottovoce.datasets.cache import data_folder
from sottovoce.datasets.cards import (
    ANSWERS,
    INDEX,
    RAW,
    TRUTH,
    DatasetCard,
    Record,
    digest,
    read_index,
)
from sottovoce.datasets.surveying import survey
from sottovoce.errors import DataError, OutputExists, UsageError
from sottovoce.files.atomic_output import new_file
from sottovoce.stores import read_gold, read_reports

__all__ = ["add"]


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
