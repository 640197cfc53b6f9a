"""Real datasets, from a folder on this machine; nothing is fetched from a network."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from sottovoce.datasets.cards import ANSWERS, RAW, TRUTH, DatasetCard, read_index
from sottovoce.errors import DataError, UsageError
from sottovoce.files.user_folders import cache_folder
from sottovoce.model import Gold, Repeats, Reports
from sottovoce.stores import read_gold, read_reports

__all__ = ["data_folder", "describe", "list_datasets", "load"]


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
