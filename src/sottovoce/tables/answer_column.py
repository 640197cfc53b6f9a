"""The column of answers as label codes or numbers, under a given domain or a guessed one.

The command line writes a domain as text (`parse_domain`). Without a domain, the column decides
whether it holds numbers or labels (`guessed_kind`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Codes, Domain, FloatArray, Kind, Label
from sottovoce.model.domain import are_numbers
from sottovoce.model.reports import LARGEST
from sottovoce.tables.faults import LONGEST, Fault, Faults, shown
from sottovoce.tables.relation import Relation
from sottovoce.tables.vocabulary import (
    SqlCells,
    Vocabulary,
    cells_of,
    codes_of,
    fault_of,
    numbers_of,
    vocabulary_of,
)

DomainName: TypeAlias = Literal["categorical", "ordinal", "numeric"]
"""The name of a kind of domain."""
FEW_VALUES = 20
"""The most distinct whole numbers that are taken for labels."""
MOST_LABELS = 10_000
"""The most distinct labels that are accepted if labels were guessed."""


def guessed_kind(table: Relation, role: str) -> Kind:
    """Numbers or labels, by the column's name, else by its type and cells."""
    told = kind_by_name(table.columns[role])
    if told is not None:
        return told
    if table.types[role] == "BOOLEAN":
        return Kind.CATEGORICAL
    cells = cells_of(table, role)
    (distinct,) = table.one(f"SELECT approx_count_distinct({cells.sql}) FROM {table.relation}")
    many = distinct > 2 * MOST_LABELS  # then the estimate is sure enough
    counts = _profile(table, cells, grouped=not many)
    if counts.mixed:
        _refuse_mixture(table, role, counts, cells)
    return counts.kind


def kind_by_name(column: str) -> Kind | None:
    """The kind of cells that a column's name implies, if any."""
    usual = column.strip().casefold()
    if usual in ("label", "true_label"):
        return Kind.CATEGORICAL
    return Kind.NUMERIC if usual == "value" else None


@dataclass(frozen=True, slots=True)
class Profile:
    """How many cells are numbers, infinite ones, or texts; `distinct` counts finite numbers."""

    numbers: int
    infinite: int
    texts: int
    whole: bool
    distinct: int

    @property
    def mixed(self) -> bool:
        """Whether the kind of the cells is ambiguous."""
        return self.texts > 0 and self.numbers > 0

    @property
    def kind(self) -> Kind:
        """Labels if there are texts, or few whole numbers; else numbers."""
        if self.numbers == 0:
            return Kind.CATEGORICAL
        is_numeric = not self.whole or self.distinct > FEW_VALUES or self.infinite > 0
        return Kind.NUMERIC if is_numeric else Kind.CATEGORICAL

    def complaint(self, cell: object, *, private: bool = False) -> str:
        """The message for mixed cells, of which one is shown."""
        here = "here the rarer" if private else f"here {shown(cell)}"
        return (
            f"mixes numbers and text (numbers in {self.numbers:,} rows, text in {self.texts:,}; "
            f"{here}): pass domain=Kind.CATEGORICAL if they are labels, or fix the cells"
        )


def _profile(table: Relation, cells: SqlCells, *, grouped: bool) -> Profile:
    count, group = ("count(*)", "GROUP BY cell") if grouped else ("1", "")
    row = table.one(
        "SELECT coalesce(sum(rows) FILTER (isfinite(n)), 0), "
        "coalesce(sum(rows) FILTER (NOT isfinite(n)), 0), "
        f"coalesce(sum(rows) FILTER (n IS NULL AND {_present('cell', cells)}), 0), "
        "coalesce(bool_and(n = trunc(n)) FILTER (isfinite(n)), true), "
        "count(*) FILTER (isfinite(n)) FROM "
        f"(SELECT cell, TRY_CAST(cell AS DOUBLE) AS n, rows FROM (SELECT cell, {count} AS rows "
        f"FROM (SELECT {cells.sql} AS cell FROM {table.relation}) {group}))"
    )
    return Profile(int(row[0]), int(row[1]), int(row[2]), bool(row[3]), int(row[4]))


def _present(sql: str, cells: SqlCells) -> str:
    return f"{sql} IS NOT NULL" + (f" AND {sql} <> ''" if cells.is_text else "")


def _refuse_mixture(table: Relation, role: str, counts: Profile, cells: SqlCells) -> None:
    rarer = "IS NULL" if counts.texts <= counts.numbers else "IS NOT NULL"
    odd = table.fetch(
        f"SELECT {_present(cells.sql, cells)} AND TRY_CAST({cells.sql} AS DOUBLE) {rarer} AS odd "
        f"FROM {table.relation}"
    )["odd"]
    position = int(np.argmax(odd))
    (cell,) = table.one(f"SELECT {role} FROM {table.relation} LIMIT 1 OFFSET {position}")
    raise DataError(
        counts.complaint(cell, private=table.private),
        file=table.name,
        row=table.row_of(position),
        column=table.columns[role],
    )


@dataclass(frozen=True, slots=True)
class Answers:
    """The column of answers, its domain and its faults."""

    values: Codes | FloatArray
    domain: Domain
    faults: Faults | None


@dataclass(frozen=True, slots=True)
class Labels:
    """The distinct cells of a column of labels, and the code or negative fault of each."""

    vocabulary: Vocabulary
    codes: Codes
    domain: Domain


def answers_of(table: Relation, wanted: Domain | Kind | None, role: str = "answer") -> Answers:
    """The answers under the given domain, or under an inferred one."""
    kind = wanted.kind if isinstance(wanted, Domain) else wanted
    guessed = kind is None
    if kind is None:
        kind = guessed_kind(table, role)
    if kind is Kind.NUMERIC:
        domain = wanted if isinstance(wanted, Domain) else Domain.numeric()
        return _numbers(table, domain, role)
    wanted = wanted if isinstance(wanted, Domain) else kind
    labels = labels_of(table, wanted, role, guessed=guessed)
    values = codes_of(table, labels.vocabulary, labels.codes)
    return Answers(values, labels.domain, fault_of(values))


def _numbers(table: Relation, domain: Domain, role: str) -> Answers:
    values, faults = numbers_of(table, role)
    outside = beyond(values, domain)
    if outside.any():
        faults = np.zeros(len(values), np.int8) if faults is None else faults
        faults = np.where(outside & (faults == 0), np.int8(Fault.OUTSIDE), faults)
    return Answers(values, domain, faults)


def beyond(values: FloatArray, domain: Domain) -> npt.NDArray[np.bool_]:
    """A mask of the numbers outside the domain's range, or too large to be added up."""
    with np.errstate(invalid="ignore"):
        return (values < max(domain.low, -LARGEST)) | (values > min(domain.high, LARGEST))


def labels_of(table: Relation, wanted: Domain | Kind, role: str, *, guessed: bool) -> Labels:
    """The labels of a column; refused if labels were guessed and there are too many."""
    vocabulary = vocabulary_of(table, cells_of(table, role))
    if guessed and len(vocabulary.cells) > MOST_LABELS:
        raise DataError(
            too_many_labels(len(vocabulary.cells)), file=table.name, column=table.columns[role]
        )
    domain, codes = label_codes(vocabulary.cells, vocabulary.missing, vocabulary.lengths, wanted)
    return Labels(vocabulary, codes, domain)


def too_many_labels(found: int) -> str:
    """The message for a column with too many guessed labels."""
    return (
        f"{found:,} distinct labels: pass domain=Kind.NUMERIC if they are numbers, "
        'columns={"answer": "…"} for another column, or domain=Kind.CATEGORICAL to take them'
    )


def label_codes(
    distinct: Iterable[Any],
    missing: npt.NDArray[np.bool_],
    lengths: npt.NDArray[np.int64],
    wanted: Domain | Kind,
) -> tuple[Domain, Codes]:
    """The given or inferred domain of distinct cells, and the code of each (negative: a fault)."""
    cells = [_scalar(cell) for cell in distinct]
    usable = ~missing & (lengths <= LONGEST)
    if isinstance(wanted, Domain):
        domain = wanted
    else:
        found = [
            cell for cell, good in zip(cells, usable, strict=True) if good and cell is not None
        ]
        check_order(wanted, found)
        domain = Domain(wanted, tuple(sorted_labels(found)) or ("",))
    places = {_key(label): code for code, label in enumerate(domain.labels)}
    codes = np.array([places.get(_key(cell), -Fault.UNKNOWN) for cell in cells], np.int32)
    codes[lengths > LONGEST] = -Fault.LONG
    codes[missing | np.array([cell is None for cell in cells], np.bool_)] = -Fault.EMPTY
    return domain, codes


def check_order(kind: Kind, labels: Iterable[Label]) -> None:
    """Refuse ordinal labels whose order is not known, because they are not numbers."""
    if kind is Kind.ORDINAL and not are_numbers(labels):
        raise UsageError(
            "the order of these labels is not known; list them from low to high: "
            "domain=Domain.ordinal([...])"
        )


def stated_domain(given: Domain | Kind | DomainName | None) -> Domain | Kind | None:
    """The domain or kind that `domain=` states; a kind may be given by its name.

    >>> stated_domain("numeric")
    <Kind.NUMERIC: 'numeric'>
    """
    if given is None or isinstance(given, Domain):
        return given
    if isinstance(given, str) and given in list(Kind):
        return Kind(given)
    raise UsageError(
        f"domain= takes a Domain, a Kind or one of {', '.join(Kind)}, not {shown(given)}"
    )


def sorted_labels(labels: list[Label]) -> list[Label]:
    """By number where all are numbers, else as text."""
    try:
        return sorted(labels, key=lambda label: (float(label), str(label)))
    except ValueError:
        return sorted(labels, key=str)


def _scalar(cell: Any) -> Label | None:
    """A Python label; whole floats become integers, since pandas turns integers into floats."""
    value: Label = cell.item() if isinstance(cell, np.generic) else cell
    if isinstance(value, float):
        if np.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return value


def _key(label: Label | None) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def parse_domain(text: str) -> Domain | Kind:
    """A domain as the command line writes it.

    >>> parse_domain("numeric:0..10")
    Domain(kind=<Kind.NUMERIC: 'numeric'>, labels=(), low=0.0, high=10.0, step=None)
    >>> parse_domain("numeric:0..10/0.5").step
    0.5
    >>> parse_domain("ordinal:G,P,R,X").labels
    ('G', 'P', 'R', 'X')
    >>> parse_domain("categorical")
    <Kind.CATEGORICAL: 'categorical'>
    """
    name, colon, rest = text.partition(":")
    try:
        kind = Kind(name.strip().lower())
    except ValueError:
        raise UsageError(
            f"no domain {text!r}: write categorical, ordinal, numeric, numeric:0..10, "
            "ordinal:low,mid,high or categorical:yes,no"
        ) from None
    if not colon:
        return kind
    if kind is Kind.NUMERIC:
        return _parse_range(text, rest)
    labels = [label.strip() for label in rest.split(",")]
    if not all(labels):
        raise UsageError(f"the domain {text!r} has an empty label: write {kind}:first,second")
    return Domain(kind, tuple(labels))


def _parse_range(text: str, rest: str) -> Domain:
    span, slash, step = rest.partition("/")
    low, dots, high = span.partition("..")
    try:
        numbers = [float(low), float(high), *([float(step)] if slash else [])]
    except ValueError:
        numbers = [math.nan]
    if not dots or any(map(math.isnan, numbers)):
        raise UsageError(
            f"the domain {text!r} has no range: write numeric:0..10, or numeric:0..10/0.5 with a "
            "step"
        )
    return Domain.numeric(*numbers)
