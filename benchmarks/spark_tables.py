"""The tables of the large engines, from `spark_rounds.py` and `chunked.py`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from measuring import child, tell
from spark_answers import WORKERS
from spark_watching import CORES

__all__ = ["GROWTH", "chunked", "chunked_large", "spark", "spark_growth"]

GROWTH = ["answers", "workers", "opening, packing", "core-ns per answer", "shuffled per answer",
          "a round", "core-ns per answer and round", "against 10^7", "shuffled", "broadcast",
          "collected", "Java", "Python"]  # fmt: skip
"""The columns of the growth on Spark; `sizing.py` reads this table."""
ROUNDS, FEW = 52, 5
"""Rounds of ours, and of the joins, which take seconds each."""


def spark(*, quick: bool) -> list[list[str]]:
    answers = 10**5 if quick else 10**7
    with _answers(answers) as (file, folder):
        ours = _rounds("timed", file, ROUNDS, folder / "spark")
        local = _rounds("local", file, ROUNDS, folder / "local")
        _rounds("local", file, FEW, folder / "few")  # the same number as the joins, for comparison
        tell(f"as joins, {answers:,} answers, {FEW} rounds")
        joins = child("spark_joins.py", str(file), str(FEW), str(folder / "joins"))
        same = _agreeing(folder / "spark", folder / "local", 1e-9)
        like = _agreeing(folder / "few", folder / "joins", 1e-6)
    round = ours["round"]
    return [
        ["answers", "what", "starting", "reading, packing", "a round", "compared with Spark",
         "largest difference"],
        [_size(answers), f"Spark, `local[{CORES}]`", _seconds(ours["start"]),
         _seconds(ours["open"] + ours["pack"]), _seconds(round), "", ""],
        *([_size(answers), f"in memory, {threads} thread{'s' * (threads > 1)}", "",
           _seconds(local["read"]), _seconds(seconds), f"Spark takes {round / seconds:.2f}x",
           f"{same:.0e}"]
          for threads, seconds in ((n, local["round"][str(n)]) for n in (1, CORES))),
        [_size(answers), f"joins, `local[{CORES}]`", "", _seconds(joins["pack"]),
         _seconds(joins["round"]), f"joins take {joins['round'] / round:.0f}x", f"{like:.0e}"],
    ]  # fmt: skip


def spark_growth(*, quick: bool) -> list[list[str]]:
    rows = [GROWTH]
    crowds = [(10**6, 10**4), (10**7, 10**4), (10**8, 10**4), (10**7, 10**6)]
    first = 0.0
    for answers, workers in [(10**5, 10**4), (10**6, 10**4)] if quick else crowds:
        with _answers(answers, workers) as (file, folder):
            seen = _rounds("spark", file, 22 if answers < 10**8 else 8, folder / "spark")
        each = seen["round"] * CORES / answers * 1e9
        first = first or (each if answers == 10**7 else 0.0)
        rows.append([
            _size(answers), _size(workers), _seconds(seen["open"] + seen["pack"]),
            f"{(seen['open'] + seen['pack']) * CORES / answers * 1e9:,.0f}",
            f"{seen['packing']['shuffled'] / answers:.1f} B", _seconds(seen["round"]),
            f"{each:.1f}", f"{each / first:.2f}x" if first and workers == WORKERS else "",
            *(f"{seen['moved'][what]:,.0f} B" for what in ("shuffled", "broadcast", "collected")),
            *(f"{seen['held'][who] / 2**30:.2f} GiB" for who in ("java", "python")),
        ])  # fmt: skip
    return rows


def chunked(*, quick: bool) -> list[list[str]]:
    return _chunked([10**6] if quick else [10**7])


def chunked_large(*, quick: bool) -> list[list[str]]:
    return _chunked([2 * 10**6] if quick else [3 * 10**8])


def _chunked(sizes: list[int]) -> list[list[str]]:
    rows = [["answers", "packing", "ns per answer", "a round", "ns per answer", "in memory",
             "ratio", "writing truths", "on disk", "peak memory", "of that, ours"]]  # fmt: skip
    for answers in sizes:
        tell(f"chunked, {answers:,} answers")
        seen = child("chunked.py", str(answers))
        local = seen.get("local_round")
        rows.append([
            _size(answers), _seconds(seen["packing"]), f"{seen['packing'] / answers * 1e9:.0f}",
            _seconds(seen["round"]), f"{seen['round'] / answers * 1e9:.1f}",
            "" if local is None else _seconds(local),
            "" if local is None else f"{seen['ratio']:.2f}x", _seconds(seen["telling"]),
            *(f"{seen[what] / 2**30:.2f} GiB" for what in ("packed", "peak", "above")),
        ])  # fmt: skip
    return rows


def _rounds(way: str, file: Path, rounds: int, folder: Path) -> dict[str, Any]:
    tell(f"{way}, {rounds} rounds on {file.stem} answers")
    seen: dict[str, Any] = child("spark_rounds.py", way, str(file), str(rounds), str(folder))
    return seen


def _agreeing(one: Path, other: Path, tolerance: float) -> float:
    """The largest difference of two results that agree within a tolerance, except for ties."""
    seen = child("spark_agreeing.py", str(one), str(other))
    assert seen["whole"], f"{one.name} and {other.name} have different tasks"
    assert not seen["apart"], f"{one.name} and {other.name} differ on {seen['apart']} tasks"
    difference = float(seen["difference"])
    assert difference <= tolerance, f"{one.name} and {other.name} differ by {difference}"
    return difference


@contextmanager
def _answers(count: int, workers: int = WORKERS) -> Iterator[tuple[Path, Path]]:
    """A file with a number of answers, and a folder to work in."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"{count}.parquet"
        tell(f"writing {count:,} answers of {workers:,} workers")
        child("spark_answers.py", str(file), str(count), "labels", str(workers))
        yield file, Path(name)


def _seconds(number: float) -> str:
    return f"{number:.1f} s" if number >= 10 else f"{number:.3f} s"


def _size(number: int) -> str:
    """A number as a multiple of a power of ten: 3x10^8."""
    first, zeros = str(number)[0], len(str(number)) - 1
    return f"10^{zeros}" if first == "1" else f"{first}x10^{zeros}"
