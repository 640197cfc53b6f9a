"""What answers are, and what a pilot says of them, from the options of `sottovoce plan`."""

from __future__ import annotations

from dataclasses import replace

import sottovoce
from sottovoce.cli import screen
from sottovoce.cli.options import pairs
from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Kind, Reports
from sottovoce.planning.pilot import Pilot, read_pilot
from sottovoce.tables import parse_domain

__all__ = ["domain_of", "pilot_of"]

MOST_LABELS = 1 << 20


def domain_of(
    labels: int | None, span: tuple[float, float] | None, domain: str | None
) -> Domain | None:
    """What answers are, as at most one of three options says."""
    options = {"--labels": labels, "--range": span, "--domain": domain}
    given = [name for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"say once what answers are: drop one of {' and '.join(given)}")
    if labels is not None:
        if not 2 <= labels <= MOST_LABELS:
            raise UsageError(f"--labels must be from 2 to {MOST_LABELS:,}, not {labels:,}")
        return Domain.categorical(range(labels))
    if span is not None:
        return Domain.numeric(*span)
    return None if domain is None else _parsed(domain)


def pilot_of(
    source: str,
    gold: str | None,
    stated: Domain | None,
    columns: str | None,
    gold_columns: str | None,
    *,
    counted: bool,
) -> Pilot:
    """What a pilot's table shows; with `counted` only the number of labels was stated."""
    known = gold or (source if source.startswith("dataset:") else None)
    with screen.reading(source):
        table = _read(source, Kind.CATEGORICAL if counted else stated, columns)
    screen.notes_of(table.reading)
    if counted and stated is not None:
        table = _with_labels(table, stated.size)
    truths = known and sottovoce.gold(
        known, table.domain, columns=pairs(gold_columns, "--gold-columns")
    )
    return read_pilot(table, truths or None)


def _read(source: str, stated: Domain | Kind | None, columns: str | None) -> Reports:
    """The answers; a dataset of the cache knows its labels, but not the range that is public."""
    named = pairs(columns, "--columns")
    options = {"columns": named} if named else {}
    if not source.startswith("dataset:"):
        return sottovoce.read(source, **options, **({"domain": stated} if stated else {}))
    table = sottovoce.read(source, **options)
    if not isinstance(stated, Domain):
        return table
    if not stated.is_numeric:
        raise UsageError("a dataset of the cache says itself what its labels are: drop --domain")
    return replace(table.as_numbers(), domain=stated)  # refuses numbers outside the range


def _with_labels(table: Reports, labels: int) -> Reports:
    """The table with so many labels, of which some may not have occurred."""
    if table.domain.is_numeric:
        raise DataError("the pilot's answers are numbers: say --range LOW HIGH, or --domain")
    found = table.domain.labels
    if len(found) > labels:
        raise DataError(
            f"the pilot has {len(found):,} labels and --labels says {labels:,}: "
            "leave --labels out, or clean the table"
        )
    others = (f"label {number}" for number in range(len(found) + 1, labels + 1))
    return replace(table, domain=Domain(table.domain.kind, (*found, *others)))


def _parsed(text: str) -> Domain:
    parsed = parse_domain(text)
    if isinstance(parsed, Kind):
        raise UsageError(f"--domain {text} needs its labels or range: numeric:0..10")
    return parsed
