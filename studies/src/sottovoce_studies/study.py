"""What a study is: a claim, what is computed for it, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from sottovoce.errors import UsageError
from sottovoce.figures import Chart, Table
from sottovoce.planning.trial_runner import Progress
from sottovoce_studies.cells import Cell, Results, run_cells

__all__ = ["Outcome", "Row", "Size", "Study", "Value", "Verdict", "Work"]

Size: TypeAlias = Literal["quick", "full"]
Verdict: TypeAlias = Literal["holds", "holds in shape", "fails", "cannot be checked"]
"""`holds in shape`: what the text says of the curves is so, but the printed numbers are others."""

Value: TypeAlias = str | int | float | None
Row: TypeAlias = Mapping[str, Value]
"""A row of a study's table by column; None is an empty cell. `part` says which table it is of."""

PART = "part"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run showed: rows, a verdict with its reason, what was seen; charts, more tables.

    The reason is a few words that stand behind the verdict, `fails: …`; only what holds needs
    none. The explanation is whole sentences with the numbers that matter.
    """

    rows: tuple[Row, ...]
    verdict: Verdict
    reason: str
    explanation: str
    charts: tuple[Chart, ...] = ()
    details: tuple[Table, ...] = ()

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Verdict):
            raise UsageError(f"a verdict is one of {', '.join(get_args(Verdict))}")
        if not self.reason and self.verdict != "holds":
            raise UsageError(f"a verdict {self.verdict!r} needs its reason")

    @property
    def ruling(self) -> str:
        """The verdict and its reason, in a line."""
        return f"{self.verdict}: {self.reason}" if self.reason else self.verdict

    def columns(self) -> list[str]:
        """The columns of all rows, in the order in which they first occur."""
        return list(dict.fromkeys(column for row in self.rows for column in row))

    def tables(self) -> tuple[Table, ...]:
        """The rows as one table for each part, without columns that are empty in it."""
        parts = dict.fromkeys(str(row[PART]) for row in self.rows)
        return tuple(self._table(part) for part in parts)

    def _table(self, part: str) -> Table:
        rows = [row for row in self.rows if row[PART] == part]
        # In the order of its own rows: another part may have named some columns before.
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
    """What a study computes at one size, and what it makes of the results, cell by cell."""

    cells: Sequence[Cell]
    judge: Callable[[Sequence[Any]], Outcome]


@dataclass(frozen=True, slots=True)
class Study:
    """A claim with its source, the seed it is cited with, and the work that checks it.

    `items` are the tables, figures and theorems of the papers that it is about, as the catalogue
    names them; a study beyond the papers has none. `setting` says on what answers, with which
    choices of ours where the paper is silent, and how ties are broken. `quick` says what the quick
    size leaves out. `recorded` is the verdict of the full run that is cited, and of a quick run.
    """

    name: str
    claim: str
    source: str
    setting: str
    plan: Callable[[Size, int], Work] = field(repr=False)
    quick: str
    recorded: Verdict
    items: tuple[str, ...] = ()
    seed: int = 1

    def run(
        self,
        size: Size = "quick",
        seed: int | None = None,
        *,
        jobs: int = 1,
        progress: Progress | None = None,
        kept: Results | None = None,
    ) -> Outcome:
        """Compute every cell that is not kept, and judge. The outcome does not depend on `jobs`."""
        if size not in get_args(Size):
            raise UsageError(f"a study has the sizes quick and full, not {size!r}")
        work = self.plan(size, self.seed if seed is None else seed)
        results = run_cells(work.cells, jobs=jobs, progress=progress, kept=kept)
        return work.judge(results)


def _text(value: Value) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
