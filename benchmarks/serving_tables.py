"""The tables of the service on PostgreSQL, and of exports to folders."""

from __future__ import annotations

import statistics

from measuring import child, tell

__all__ = ["exporting", "serving_postgresql"]

PARTS = ("server_cpu", "inference_cpu", "database_cpu", "load_cpu")


def serving_postgresql(*, quick: bool) -> list[list[str]]:
    count, runs = (2_000, 1) if quick else (20_000, 5)
    tell(f"serving on PostgreSQL and SQLite, {count:,} submissions at a time")
    seen = child("serving_postgresql.py", str(count), str(runs))
    rows = [["run", "submissions per second: SQLite", f"PostgreSQL, {seen['processes']} processes",
             "ratio", "CPU each, SQLite: server + inference",
             "CPU each, PostgreSQL: servers + inference + database", "load"]]  # fmt: skip
    for run, pair in enumerate(seen["rows"], 1):
        lite, grown = pair["sqlite"], pair["postgresql"]
        rows.append([
            str(run), f"{lite['rate']:,.0f}", f"{grown['rate']:,.0f}",
            f"{grown['rate'] / lite['rate']:.2f}x", _microseconds(lite, PARTS[:2]),
            _microseconds(grown, PARTS[:3]), _microseconds(grown, PARTS[3:]),
        ])  # fmt: skip
    ratios = [pair["postgresql"]["rate"] / pair["sqlite"]["rate"] for pair in seen["rows"]]
    rows.append(["median", "", "", f"{statistics.median(ratios):.2f}x", "", "", ""])
    return rows


def exporting(*, quick: bool) -> list[list[str]]:
    reports = 2 * 10**5 if quick else 5 * 10**6
    tell(f"exporting {reports:,} reports")
    seen = child("exporting.py", str(reports))
    rows = [["reports", "what", "time", "reports per second", "memory above the start"]]
    words = {
        "file": "`reports.parquet`, one file",
        "folder": "`sottovoce db export-reports`, a folder",
    }
    for way, found in seen.items():
        rows.append([
            f"{reports:,}", words[way], f"{found['seconds']:.1f} s",
            f"{reports / found['seconds']:,.0f}", f"{found['above'] / 2**20:.0f} MiB",
        ])  # fmt: skip
    return rows


def _microseconds(seen: dict[str, float], parts: tuple[str, ...]) -> str:
    return " + ".join(f"{1e6 * seen[part]:.0f}" for part in parts) + " µs"
