"""The model of a study: a claim, the cells to compute, and the rule for its verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from sottovoce.errors import UsageError
from sottovoce.figures import Chart, Table
from sottovoce.planning.trial_runner import Progress
from sottovoce_studies.cells import Cell, Results, run_cells
from sottovoce_studies.choices import Choice, choice_rows
from sottovoce_studies.rulings import Recorded, Ruling, Rulings

__all__ = ["Outcome", "Row", "Size", "Study", "Value", "Work"]

Size: TypeAlias = Literal["quick", "full"]

Value: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Value]
"""A row of a study's table by column; None is an empty cell. `part` names the table."""

PART = "part"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a run: rows, three verdicts with their reasons, an explanation, charts.

    The explanation is full sentences with the important numbers. `claims` has a ruling for every
    claim of the papers' text that the study judges, by its name in the catalogue of claims;
    `choices` has every setting tried of what the paper leaves open.
    """

    results: tuple[Row, ...]
    rulings: Rulings
    explanation: str
    charts: tuple[Chart, ...] = ()
    details: tuple[Table, ...] = ()
    claims: Mapping[str, Ruling] = field(default_factory=dict)
    choices: tuple[Choice, ...] = ()

    @property
    def rows(self) -> tuple[Row, ...]:
        """The results, then the choices tried."""
        return (*self.results, *choice_rows(self.choices))

    def columns(self) -> list[str]:
        """The columns of all rows, in order of first appearance."""
        return list(dict.fromkeys(column for row in self.rows for column in row))

    def tables(self) -> tuple[Table, ...]:
        """One table per part, without its empty columns."""
        parts = dict.fromkeys(str(row[PART]) for row in self.rows)
        return tuple(self._table(part) for part in parts)

    def _table(self, part: str) -> Table:
        rows = [row for row in self.rows if row[PART] == part]
        # In the order of this part's rows, because another part may have named some columns before.
        own = dict.fromkeys(column for row in rows for column in row)
        columns = [
            column
            for column in own
            if column != PART and any(row.get(column) is not None for row in rows)
        ]
        cells = tuple(tuple(_text(row.get(column)) for column in columns) for row in rows)
        return Table(tuple(columns), cells, part)


@dataclass(frozen=True, slots=True)
class Work:
    """The cells of a study at one size, and the function that judges their results."""

    cells: Sequence[Cell]
    judge: Callable[[Sequence[Any]], Outcome]


@dataclass(frozen=True, slots=True)
class Study:
    """A claim with its source, the seed it is cited with, and the work that checks it.

    `items` are the tables, figures and theorems of the papers that it checks, by their names in the
    catalogue; a study beyond the papers has none. `setting` describes the answers, and how ties are
    broken. `open` has what the paper leaves open, with the choices tried. `quick` says what the
    quick size leaves out. `recorded` are the verdicts of the cited full run, and of a quick run
    unless `quick_recorded` has others, because what is left out decides.
    """

    name: str
    claim: str
    source: str
    setting: str
    plan: Callable[[Size, int], Work] = field(repr=False)
    quick: str
    recorded: Recorded
    items: tuple[str, ...] = ()
    open: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    seed: int = 1
    quick_recorded: Recorded | None = None

    def run(
        self,
        size: Size = "quick",
        seed: int | None = None,
        *,
        jobs: int = 1,
        progress: Progress | None = None,
        kept: Results | None = None,
    ) -> Outcome:
        """Compute every cell that is not cached, and judge; `jobs` does not change the outcome."""
        if size not in get_args(Size):
            raise UsageError(f"a study has the sizes quick and full, not {size!r}")
        work = self.plan(size, self.seed if seed is None else seed)
        results = run_cells(work.cells, jobs=jobs, progress=progress, kept=kept)
        return work.judge(results)


def _text(value: Value) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
