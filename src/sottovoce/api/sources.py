"""Tables and known truths, from wherever they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sottovoce import datasets
from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Gold, Reports
from sottovoce.tables import read_gold, read_reports

__all__ = ["dataset_name", "gold", "read"]

_DATASET = "dataset:"


def read(source: Any, **options: Any) -> Reports:
    """A table of answers from a path, `-` (standard input), a frame or a mapping of columns.

    `dataset:NAME` is a dataset of the cache. Options are those of `sottovoce.tables.read_reports`:
    `columns`, `domain`, `repeats`, `bad_rows`, `format`, `private`, `reported`.
    """
    if isinstance(source, Reports):
        if options:
            raise UsageError("a table already read takes no reading options")
        return source
    if name := dataset_name(source):
        return _dataset(name, options)
    return read_reports(source, **options)


def gold(source: Any, domain: Domain, *, columns: Mapping[str, str] | None = None) -> Gold:
    """A table of known truths, or those of `dataset:NAME`; truths are read as the domain's."""
    if isinstance(source, Gold):
        return source
    if name := dataset_name(source):
        known = datasets.load(name)[1]
        if known is None:
            raise DataError(f"dataset {name!r} has no gold")
        return known
    return read_gold(source, domain=domain, columns=columns)


def dataset_name(source: Any) -> str | None:
    """The dataset of the cache that a source names, if it names one."""
    if isinstance(source, str) and source.startswith(_DATASET):
        return source.removeprefix(_DATASET)
    return None


def _dataset(name: str, options: Mapping[str, Any]) -> Reports:
    allowed = {key: value for key, value in options.items() if key == "repeats"}
    known = {*allowed, "private", "reported"}  # a dataset is public
    refused = sorted(key for key, value in options.items() if key not in known and value)
    if refused:
        option = f"--{refused[0].replace('_', '-')}"
        raise UsageError(f"a dataset of the cache says itself how to be read: drop {option}")
    # Repeats only occur in the rows as they were collected.
    return datasets.load(name, raw=bool(allowed), **allowed)[0]
