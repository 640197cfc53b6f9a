"""Compute the requirements of clusters by number of answers, a table of docs/how-to/scaling.md.

    python benchmarks/sizing.py

writes it from the costs in docs/reference/benchmarks.md and from the engine's limits.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from sottovoce.engines.spark.engine import MOST_SHARED
from sottovoce.engines.spark.packed_blocks import REPORTS_PER_PARTITION
from sottovoce.engines.spark.sums import FAN, MOST_COLLECTED
from spark_tables import GROWTH

__all__ = ["CLUSTERS", "SECTION", "Cluster", "Costs", "costs_on", "table", "written"]

DOCS = Path(__file__).parent.parent / "docs"
SECTION = "Spark as answers grow"
ANSWERS_A_TASK, LABELS, NAME, ROUNDS = 10, 4, 16, 50
NETWORK = 1.25e9
"""Bytes per second that a machine sends or receives: 10 Gbit/s."""
_BLOCK = re.compile(r"<!-- table: sizing -->\n.*?<!-- end -->", re.DOTALL)


class Costs(NamedTuple):
    """Measured core seconds per answer, and the minimum seconds of a round."""

    packing: float
    shuffled: float
    narrow: float
    wide: float
    least: float


class Cluster(NamedTuple):
    """A number of answers and workers, on a number of machines with the same number of cores."""

    answers: int
    workers: int
    machines: int
    cores: int = 16

    @property
    def all_cores(self) -> int:
        return self.machines * self.cores

    @property
    def tasks(self) -> int:
        return self.answers // ANSWERS_A_TASK

    @property
    def partitions(self) -> int:
        return max(self.all_cores, -(-self.answers // REPORTS_PER_PARTITION))

    @property
    def blocks(self) -> int:
        """Bytes that a round reads: a report in 4, a task's start in 8."""
        return 4 * self.answers + 8 * self.tasks

    @property
    def sums(self) -> int:
        """Bytes of the confusion matrices: those of a broadcast, and of one partition's sums."""
        return 8 * (self.workers * LABELS**2 + 2 * LABELS)

    @property
    def wide(self) -> bool:
        return self.sums > MOST_SHARED

    @property
    def shuffled(self) -> int:
        """Bytes of sums that partitions send to each other in a round."""
        if self.wide:
            reports = self.answers / self.partitions
            seen = -self.workers * math.expm1(-reports / self.workers)
            return round(self.partitions * seen * (8 * LABELS**2 + 4))
        *merged, _ = self._levels()
        return sum(merged) * self.sums

    @property
    def collected(self) -> int:
        """Bytes of sums that the driver adds up."""
        return self.sums if self.wide else self._levels()[-1] * self.sums

    def _levels(self) -> list[int]:
        """The number of sums at each level of the tree; the last are the driver's."""
        levels = [self.partitions]
        while levels[-1] > FAN and levels[-1] * self.sums > MOST_COLLECTED:
            levels.append(-(-levels[-1] // FAN))
        return levels

    def computing(self, costs: Costs) -> float:
        """Seconds of a round for the answers themselves."""
        return self.answers * (costs.wide if self.wide else costs.narrow) / self.all_cores

    @property
    def moving(self) -> float:
        """Seconds of a round for sending parameters and then sums."""
        alone = self.sums + self.collected  # through the driver's network
        return (alone + 2 * self.shuffled / self.machines) / NETWORK

    def round(self, costs: Costs) -> float:
        return self.computing(costs) + self.moving + costs.least

    def packing(self, costs: Costs) -> float:
        return self.answers * costs.packing / self.all_cores

    def whole(self, costs: Costs) -> float:
        return self.packing(costs) + ROUNDS * self.round(costs)


CLUSTERS = (
    Cluster(10**8, 10**5, 1),
    Cluster(10**9, 10**5, 4),
    Cluster(10**10, 10**5, 32),
    Cluster(10**10, 10**7, 32),
)


def costs_on(page: str) -> Costs:
    """The costs on the page of benchmarks, for whole sums and for sums split by workers."""
    _, found, section = page.partition(f"\n## {SECTION}\n")
    if not found:
        raise LookupError(f"the page has no {SECTION!r}: run.py --only spark-growth measures it")
    lines = [line for line in section.partition("\n## ")[0].splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = [dict(zip(GROWTH, map(_number, row), strict=True)) for row in cells[2:]]
    narrow, wide = (
        [row for row in rows if Cluster(0, round(row["workers"]), 1).wide == cut]
        for cut in (False, True)
    )
    return Costs(
        narrow[-1]["core-ns per answer"] * 1e-9,
        narrow[-1]["shuffled per answer"],
        narrow[-1]["core-ns per answer and round"] * 1e-9,
        wide[-1]["core-ns per answer and round"] * 1e-9,
        narrow[0]["a round"],
    )


def table(costs: Costs) -> str:
    """The table in Markdown, with one column per cluster."""
    rows: list[tuple[str, Callable[[Cluster], str]]] = [
        ("answers", lambda c: _power(c.answers)),
        ("tasks", lambda c: _power(c.tasks)),
        ("workers", lambda c: _power(c.workers)),
        (f"machines of {CLUSTERS[0].cores} cores", lambda c: str(c.machines)),
        ("partitions", lambda c: str(c.partitions)),
        ("blocks in memory", lambda c: _bytes(c.blocks)),
        ("… on each machine", lambda c: _bytes(c.blocks / c.machines)),
        ("blocks on disks, with names", lambda c: _bytes(c.blocks + NAME * c.tasks)),
        ("shuffled by packing", lambda c: _bytes(costs.shuffled * c.answers)),
        ("packing", lambda c: _time(c.packing(costs))),
        ("parameters, to each machine", lambda c: _bytes(c.sums)),
        ("sums are", lambda c: "split by workers" if c.wide else "broadcast whole"),
        ("sums shuffled per round", lambda c: _bytes(c.shuffled)),
        ("sums collected per round", lambda c: _bytes(c.collected)),
        ("a round: computing", lambda c: _time(c.computing(costs))),
        ("a round: moving", lambda c: _time(c.moving)),
        ("a round: starting jobs", lambda _: _time(costs.least)),
        (f"packing and {ROUNDS} rounds", lambda c: _time(c.whole(costs))),
    ]  # fmt: skip
    cells = [[name, *map(say, CLUSTERS)] for name, say in rows]
    head, *body = cells
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def written(guide: str, page: str) -> str:
    """The guide with the table in its place."""
    block = f"<!-- table: sizing -->\n{table(costs_on(page))}\n<!-- end -->"
    return _BLOCK.sub(lambda _: block, guide)


def _number(cell: str) -> float:
    """The number in a cell, without its unit; 0 in an empty one."""
    if (power := re.fullmatch(r"10\^(\d+)", cell)) is not None:
        return 10.0 ** int(power[1])
    found = re.match(r"[\d,.]+", cell)
    return float(found[0].replace(",", "")) if found else 0.0


def _power(number: int) -> str:
    return f"10^{len(str(number)) - 1}"


def _bytes(number: float) -> str:
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f} B"


def _time(seconds: float) -> str:
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.2g} s"


if __name__ == "__main__":
    guide, page = (
        DOCS / "how-to" / "scaling.md",
        (DOCS / "reference" / "benchmarks.md").read_text(encoding="utf-8"),
    )
    guide.write_text(written(guide.read_text(encoding="utf-8"), page), encoding="utf-8")
