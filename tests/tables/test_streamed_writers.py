"""Tables leave piece by piece, and can be read again exactly."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sottovoce.tables.writers import csv_pieces, json_rows, jsonl_pieces, parquet_pieces

ODD = ["plain", "a, b", 'say "x"', "two\nlines", "a\rb", "\ttab", " left", "right ", "NULL", "null",
       "=1+1", "+1+1", "-x", "@SUM(A1)", "-", "é", "木", "\\", "'", "%s", "\r", "0x1",
       "nan"]  # fmt: skip
NUMBERS = ["-1", "+1.5", "-1e-5", "1", "007"]


def read_csv(pieces: list[bytes]) -> list[list[str]]:
    return list(csv.reader(io.StringIO(b"".join(pieces).decode(), newline="")))


def test_raw_csv_is_exact() -> None:
    chunks: list[Any] = [[ODD, list(range(len(ODD)))], [NUMBERS, [0.1, -2.0, 1e-300, 1e300, None]]]
    rows = read_csv(list(csv_pieces(["task", "report"], chunks, raw=True)))
    assert rows[0] == ["task", "report"]
    assert [row[0] for row in rows[1:]] == ODD + NUMBERS
    assert [row[1] for row in rows[-5:]] == ["0.1", "-2.0", "1e-300", "1e+300", ""]


def test_no_cell_of_a_csv_is_a_formula() -> None:
    words = {"report": [*ODD, *NUMBERS]}
    chunk: Any = [[*ODD, *NUMBERS], list(range(len(words["report"])))]
    for row in read_csv(list(csv_pieces(["task", "report"], [chunk], words)))[1:]:
        assert row[0] == row[1]
        assert row[0] in NUMBERS or row[0][0] not in "=+-@\t\r"
        assert row[0].removeprefix("'") in [word.removeprefix("'") for word in [*ODD, *NUMBERS]]


def test_jsonl_is_exact() -> None:
    chunk: Any = [ODD, [0.1] * len(ODD), list(range(len(ODD)))]
    pieces = jsonl_pieces(["task", "report", "word"], [chunk], {"word": ODD})
    rows = [json.loads(line) for line in b"".join(pieces).decode().split("\n")[:-1]]
    assert rows == [{"task": each, "report": 0.1, "word": each} for each in ODD]


def test_parquet_is_exact_and_leaves_no_file(tmp_path: Path) -> None:
    kinds = {"task": "VARCHAR", "report": "DOUBLE", "count": "BIGINT", "word": "VARCHAR"}
    numbers = [0.1, -1e-300, 1e300, 3.0, None] * 5
    chunk: Any = [ODD, numbers[: len(ODD)], list(range(len(ODD))), list(range(len(ODD)))]
    pieces = parquet_pieces(kinds, [chunk, chunk], {"word": ODD}, folder=tmp_path)
    content = b"".join(pieces)
    assert not list(tmp_path.iterdir())
    path = tmp_path / "table.parquet"
    path.write_bytes(content)
    rows = duckdb.execute(f"SELECT * FROM '{path}'").fetchall()
    assert rows == list(zip(*chunk[:3], ODD, strict=True)) * 2


def test_a_parquet_file_that_nobody_waits_for_is_removed(tmp_path: Path) -> None:
    pieces = parquet_pieces({"task": "VARCHAR"}, [[["a"]], [["b"]]], folder=tmp_path)
    next(pieces)
    assert list(tmp_path.iterdir())
    pieces.close()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("rows", [0, 2])
def test_a_table_without_rows_has_its_header(rows: int) -> None:
    chunks: Any = [[["a"] * rows]] if rows else []
    assert b"".join(csv_pieces(["task"], chunks)) == b"task\n" + b"a\n" * rows
    assert b"".join(jsonl_pieces(["task"], chunks)) == b'{"task":"a"}\n' * rows


def test_rows_are_json() -> None:
    columns: dict[str, Any] = {"task": ODD, "truth": [1] * len(ODD)}
    assert json.loads(json_rows(columns)) == [{"task": each, "truth": 1} for each in ODD]
    assert json_rows({}) == json_rows({"task": []}) == "[]"
