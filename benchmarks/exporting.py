"""Compare exporting a campaign's reports as a folder of Parquet files and as one file.

    python exporting.py REPORTS

prints one JSON object: wall seconds, and peak memory above the start. A submission has 20 reports,
on 20 of 1,000 tasks.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import child, peak_above
from serving import serving
from sottovoce.server.campaigns.exports import export
from sottovoce.server.campaigns.partitioned_export import export_parts
from sottovoce.server.database import Database
from sottovoce.server.service import Service

WAYS = ("file", "folder")


def compared(reports: int) -> dict[str, Any]:
    """Both ways in turns, twice, each in a separate process; the better of two."""
    with serving() as campaign:
        campaign.fill(reports)
        place = (str(campaign.folder), campaign.id)
        runs = [{way: child("exporting.py", way, *place) for way in WAYS} for _ in range(2)]
    best = {way: min((run[way] for run in runs), key=lambda seen: seen["seconds"]) for way in WAYS}
    assert best["file"]["rows"] == best["folder"]["rows"] == reports
    return best


def one_file(data: Path, id: str) -> int:
    service = Service.on(Database.at(data))
    out = export(service, id, "reports.parquet")
    with (data / "reports.parquet").open("wb") as file:
        for piece in out.pieces:
            file.write(piece)
    out.close()
    service.close()
    return out.rows or 0


def parts(data: Path, id: str) -> int:
    database = Database.at(data)
    done = export_parts(database, id, data / "parts", force=True)
    database.close()
    return done.reports


def measured(work: Callable[[Path, str], int], data: Path, id: str) -> dict[str, Any]:
    seen: dict[str, Any] = {}

    def timed() -> None:
        start = time.perf_counter()
        seen["rows"] = work(data, id)
        seen["seconds"] = time.perf_counter() - start

    _, seen["above"] = peak_above(timed)
    return seen


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["file", data, id]:
            print(json.dumps(measured(one_file, Path(data), id)))
        case ["folder", data, id]:
            print(json.dumps(measured(parts, Path(data), id)))
        case [reports]:
            print(json.dumps(compared(int(reports))))
