"""Batches of a query as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pytest

from sottovoce.engines.chunked.arrow import batches
from sottovoce.engines.chunked.name_index import Texts, cells_of
from sottovoce.errors import DataError


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        yield made


def columns_of(relation: Any) -> list[list[Any]]:
    """All cells as Python values, None if missing."""
    found: list[list[Any]] = []
    for batch in batches(relation, "the table"):
        found = found or [[] for _ in batch]
        for cells, column in zip(found, batch, strict=True):
            listed: list[Any]
            if isinstance(column.cells, Texts):
                listed = [cell.decode() for cell in cells_of(column.cells)]
            else:
                listed = column.cells.tolist()
            present = column.present
            cells += [c if present is None or present[i] else None for i, c in enumerate(listed)]
    return found


@pytest.mark.parametrize(
    "sql",
    [
        "(i % 100)::TINYINT",
        "i - 7",
        "hash(i)",
        "i / 3",
        "'wörk ' || i",
        "repeat('x', (i % 40)::INT)",
    ],
)
def test_cells_are_those_of_the_query(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    query = f"SELECT {sql} AS cell FROM range(300000) AS t(i)"
    assert columns_of(connection.sql(query))[0] == [
        row[0] for row in connection.execute(query).fetchall()
    ]


@pytest.mark.parametrize("sql", ["i::BIGINT", "i::DOUBLE", "i::VARCHAR"])
def test_what_is_missing_is_said_to_be(connection: duckdb.DuckDBPyConnection, sql: str) -> None:
    query = f"SELECT CASE WHEN i % 3 <> 1 THEN {sql} END AS cell FROM range(5000) AS t(i)"
    assert columns_of(connection.sql(query))[0] == [
        row[0] for row in connection.execute(query).fetchall()
    ]


def test_rows_of_several_files_come_in_the_files_order(
    connection: duckdb.DuckDBPyConnection, tmp_path: Any
) -> None:
    for number in range(3):
        connection.execute(
            f"COPY (SELECT {number} * 200000 + i AS row FROM range(200000) AS t(i)) "
            f"TO '{tmp_path}/{number}.parquet'"
        )
    (rows,) = columns_of(connection.sql(f"SELECT row FROM '{tmp_path}/*.parquet'"))
    np.testing.assert_array_equal(rows, np.arange(600_000))


def test_an_error_in_the_middle_is_one_line(connection: duckdb.DuckDBPyConnection) -> None:
    cell = "(CASE WHEN i = 900000 THEN error('broken') ELSE '1' END)::BIGINT"
    query = f"SELECT {cell} FROM range(1000000) AS t(i)"
    with pytest.raises((DataError, duckdb.Error), match="broken"):
        columns_of(connection.sql(query))


def test_no_rows_are_no_batches(connection: duckdb.DuckDBPyConnection) -> None:
    assert columns_of(connection.sql("SELECT 1::BIGINT AS one WHERE false")) == []
