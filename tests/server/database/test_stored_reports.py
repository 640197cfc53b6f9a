"""Packed reports come back as they went in, whichever way they are read."""

from __future__ import annotations

import secrets

import numpy as np
import pytest
from sqlalchemy import insert

from sottovoce.server.database import Database
from sottovoce.server.database.postgresql import add_partition
from sottovoce.server.database.schema import campaigns, reports
from sottovoce.server.database.stored_reports import (
    AT_ONCE,
    PackedReports,
    count_reports,
    factorized,
    packed_after,
    packed_by_worker,
    worker_names,
)

KIND = np.dtype("<i4")
Rows = list[tuple[int, str, list[int], list[int]]]


@pytest.fixture
def filled(database: Database) -> tuple[Database, Rows]:
    """Two campaigns, 40 submissions of 1 to 4 reports each, by 12 workers."""
    rng = np.random.default_rng(3)
    workers = [secrets.token_bytes(16) for _ in range(10)]
    workers += [b"\0" * 16, b"\xff" * 15 + b"\0"]
    rows: Rows = []
    with database.writing() as connection:
        for number in (1, 2):
            connection.execute(
                insert(campaigns).values(
                    number=number, id=f"camp{number}", state="open", terms="{}", created_on=1
                )
            )
            add_partition(connection, number)
        for place in range(80):
            count, worker = int(rng.integers(1, 5)), workers[int(rng.integers(0, 12))]
            tasks, codes = rng.integers(0, 100, (2, count)).tolist()
            rows.append((1 + place % 2, worker.hex(), tasks, codes))
            connection.execute(
                insert(reports).values(
                    sequence=place + 1,
                    campaign=1 + place % 2,
                    report_id=secrets.token_bytes(16),
                    worker=worker,
                    day=1,
                    digest=b"",
                    tasks=np.array(tasks, "<u4").tobytes(),
                    codes=np.array(codes, "<i4").tobytes(),
                )
            )
    return database, rows


def submissions(packed: list[PackedReports]) -> list[tuple[str, list[int], list[int]]]:
    found = []
    for part in packed:
        ends = np.cumsum(part.count)
        for name, start, end in zip(
            worker_names(part.pseudonyms), ends - part.count, ends, strict=True
        ):
            found.append((name, part.task[start:end].tolist(), part.code[start:end].tolist()))
    return found


@pytest.mark.parametrize("after", [0, 1, 40, 79, 80])
@pytest.mark.parametrize("block", [1, AT_ONCE // 3])
def test_only_what_came_after_is_read(
    filled: tuple[Database, Rows], after: int, block: int
) -> None:
    database, rows = filled
    with database.reading() as connection:
        packed = list(packed_after(connection, 2, after, KIND, block=block))
        assert count_reports(connection, 2, after) == sum(map(len, packed))
    expected = [row[1:] for place, row in enumerate(rows, 1) if row[0] == 2 and place > after]
    assert sorted(submissions(packed)) == sorted(expected)
    assert max([part.sequence for part in packed], default=80) == 80


@pytest.mark.parametrize("block", [1, AT_ONCE // 3, AT_ONCE])
def test_a_worker_is_whole_and_in_order(filled: tuple[Database, Rows], block: int) -> None:
    database, rows = filled
    with database.reading() as connection:
        packed = list(packed_by_worker(connection, 1, KIND, block=block))
    found = submissions(packed)
    assert sorted(found) == sorted(row[1:] for row in rows if row[0] == 1)
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    owners = [set(worker_names(part.pseudonyms)) for part in packed]
    assert sum(map(len, owners)) == len(set().union(*owners))


def test_pseudonyms_are_factorized_as_bytes_sort() -> None:
    given = [b"\xff" * 16, b"\0" * 16, b"\0" * 15 + b"\1", b"\x7f" * 16, b"\0" * 16]
    codes, distinct = factorized(b"".join(given))
    assert codes.tolist() == [3, 0, 1, 2, 0]
    assert worker_names(distinct) == sorted({each.hex() for each in given})
