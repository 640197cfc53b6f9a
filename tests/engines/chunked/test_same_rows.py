"""A packed table holds the rows that reading the same file into memory gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.engines.chunked.packed_rows import (
    BUCKETED,
    COMPILED,
    PLAIN,
    packed,
    rows_of_packed,
    rows_of_reports,
)

import sottovoce
from sottovoce.engines.chunked.packed_table import Sizes
from sottovoce.model import Domain, Kind

WAYS = pytest.mark.parametrize(
    "sizes", [PLAIN, COMPILED, BUCKETED], ids=["plain", "fast", "buckets"]
)
REPEATS = pytest.mark.parametrize("repeats", ["first", "last", "keep"])


def written(folder: Path, select: str, rows: int = 400) -> Path:
    """A Parquet file of rows i = 0 … rows − 1, in which pairs repeat and contradict themselves."""
    path = folder / "answers.parquet"
    numbers = ", ".join(
        f"(hash(i, {salt}) % {size})::BIGINT AS {name}"
        for salt, (name, size) in enumerate([("w", 9), ("t", 31), ("a", 3)])
    )
    duckdb.execute(
        f"COPY (SELECT {select} FROM (SELECT i, {numbers} FROM range({rows}) AS r(i)) ORDER BY i) "
        f"TO '{path}'"
    )
    return path


def agree(path: Path, work: Path, sizes: Sizes, **options: Any) -> None:
    found, wanted = packed(path, work, sizes, **options), sottovoce.read(path, **options)
    assert found.manifest.domain == wanted.domain
    assert found.manifest.reading == wanted.reading
    assert found.manifest.simulated == wanted.simulated
    assert found.workers().dtype == wanted.workers.dtype
    assert found.names(0).dtype == wanted.tasks.dtype
    assert found.workers().tolist() == wanted.workers.tolist()
    assert rows_of_packed(found) == rows_of_reports(wanted)


@WAYS
@REPEATS
def test_of_texts(tmp_path: Path, sizes: Sizes, repeats: str) -> None:
    path = written(
        tmp_path, "'w' || w AS worker, 'tâche ' || t AS task, chr((97 + a)::INT) AS label"
    )
    agree(path, tmp_path / "work", sizes, repeats=repeats)


@WAYS
@REPEATS
def test_of_integers_and_numbers(tmp_path: Path, sizes: Sizes, repeats: str) -> None:
    path = written(tmp_path, "w AS worker, t - 9 AS task, (a + i) / 7 AS value")
    agree(path, tmp_path / "work", sizes, repeats=repeats)


@WAYS
@pytest.mark.parametrize(
    "kind",
    ["TINYINT", "SMALLINT", "UTINYINT", "UINTEGER", "BIGINT", "UBIGINT", "DOUBLE", "DATE", "UUID"],
)
def test_names_keep_their_type(tmp_path: Path, sizes: Sizes, kind: str) -> None:
    name = {
        "DATE": "DATE '2024-01-01' + t::INT",
        "UUID": "('0000000' || t || 'a0000000000000000000000000000000')[1:32]",
    }
    path = written(
        tmp_path, f"({name.get(kind, 't')})::{kind} AS task, (w % 2 = 1) AS worker, a AS answer"
    )
    agree(path, tmp_path / "work", sizes)


@WAYS
def test_large_unsigned_names(tmp_path: Path, sizes: Sizes) -> None:
    path = written(
        tmp_path,
        "w::UBIGINT + 18446744073709551000::UBIGINT AS worker, hash(t) AS task, a AS label",
    )
    agree(path, tmp_path / "work", sizes)


@WAYS
@pytest.mark.parametrize(
    "answer",
    ["a", "a::DOUBLE", "a / 2", "a = 1", "'label ' || a", "(a - 1)::TINYINT", "a::VARCHAR", "i"],
)
@pytest.mark.parametrize("column", ["answer", "label"])
def test_answers_of_every_type(tmp_path: Path, sizes: Sizes, answer: str, column: str) -> None:
    path = written(tmp_path, f"w AS worker, t AS task, {answer} AS {column}")
    agree(path, tmp_path / "work", sizes)


@WAYS
@pytest.mark.parametrize(
    "domain",
    [Kind.ORDINAL, Domain.categorical(["2", "x", "1", "0"]), Domain.numeric(0, 5), Kind.NUMERIC],
    ids=str,
)
def test_under_a_given_domain(tmp_path: Path, sizes: Sizes, domain: Any) -> None:
    path = written(tmp_path, "w AS worker, t AS task, a AS answer")
    agree(path, tmp_path / "work", sizes, domain=domain)


BAD = {
    "empty names": "CASE WHEN i % 7 = 0 THEN NULL WHEN i % 11 = 0 THEN '' ELSE 'w' || w END "
    "AS worker, "
    "CASE WHEN i % 5 = 0 THEN NULL ELSE t END AS task, a AS answer",
    "long names": "repeat('é', (995 + w)::INT) AS worker, repeat('x', (990 + t)::INT) AS task, "
    "a AS answer",
    "missing labels": "w AS worker, t AS task, nullif('l' || a, 'l1') AS label",
    "bad numbers": "w AS worker, t AS task, CASE i % 9 WHEN 0 THEN '' WHEN 1 THEN 'many' "
    "WHEN 2 THEN 'inf' WHEN 3 THEN NULL WHEN 4 THEN '1e300' ELSE (i / 10)::VARCHAR END AS value",
    "label of a bad row only": "nullif(w, 0) AS worker, t AS task, "
    "CASE WHEN w = 0 THEN 'odd' ELSE 'l' || a END AS label",
}  # fmt: skip


@WAYS
@REPEATS
@pytest.mark.parametrize("select", BAD.values(), ids=BAD)
def test_bad_rows_are_dropped_and_counted(
    tmp_path: Path, sizes: Sizes, repeats: str, select: str
) -> None:
    path = written(tmp_path, select)
    agree(path, tmp_path / "work", sizes, repeats=repeats, bad_rows="drop")


@WAYS
def test_labels_outside_a_domain_are_dropped_and_counted(tmp_path: Path, sizes: Sizes) -> None:
    path = written(tmp_path, "w AS worker, t AS task, a AS answer")
    domain = Domain.categorical([0, 2])
    agree(path, tmp_path / "work", sizes, domain=domain, bad_rows="drop")


def test_columns_may_be_mapped(tmp_path: Path) -> None:
    path = written(tmp_path, "w AS who, t AS what, a AS said, i AS label")
    columns = {"worker": "who", "task": "what", "answer": "said"}
    agree(path, tmp_path / "work", PLAIN, columns=columns)


def test_simulated_reports_are_known_by_their_stamp(tmp_path: Path) -> None:
    path = written(tmp_path, "w AS worker, t AS task, a AS simulated_report")
    agree(path, tmp_path / "work", PLAIN, reported=True)


@WAYS
def test_files_are_read_one_after_the_other(tmp_path: Path, sizes: Sizes) -> None:
    path = written(tmp_path, "w AS worker, t AS task, 'l' || a AS label")
    whole = sottovoce.read(path)
    for number in range(3):
        duckdb.execute(
            f"COPY (FROM '{path}' LIMIT 150 OFFSET {number * 150}) TO '{tmp_path}/{number}.parquet'"
        )
    files = [tmp_path / f"{number}.parquet" for number in range(3)]
    found = packed(files, tmp_path / "work", sizes)
    assert whole.reading is not None
    assert found.manifest.reading == replace(whole.reading, source="3 files")
    assert rows_of_packed(found) == rows_of_reports(whole)


def test_files_written_by_different_programs_are_one_table(tmp_path: Path) -> None:
    duckdb.execute(
        f"COPY (SELECT 1::TINYINT AS worker, 't' AS task, 5 AS label) TO '{tmp_path}/1.parquet'"
    )
    duckdb.execute(
        "COPY (SELECT 6 AS label, 't' AS task, 2::BIGINT << 40 AS worker) "
        f"TO '{tmp_path}/2.parquet'"
    )
    found = packed(tmp_path, tmp_path / "work")
    assert rows_of_packed(found) == [("t", 1, 5), ("t", 2 << 40, 6)]


def test_the_same_blocks_come_of_any_memory_and_chunk(tmp_path: Path) -> None:
    path = written(tmp_path, "w AS worker, 't' || t AS task, a AS label")
    one = packed(path, tmp_path / "one", BUCKETED)
    other = packed(path, tmp_path / "other", replace(BUCKETED, chunk=1000), memory=300 << 20)
    assert one.manifest == other.manifest
    for name in ("reports", "starts", "tasks"):
        both = [(tmp_path / work / "table" / name).read_bytes() for work in ("one", "other")]
        assert both[0] == both[1]


def test_codes_that_do_not_fit_into_4_bytes_have_8(tmp_path: Path) -> None:
    path = written(tmp_path, "i AS worker, t AS task, a AS label", rows=450_000)
    domain = Domain.categorical([str(label) for label in range(10_000)])
    found = packed(path, tmp_path / "work", domain=domain)
    assert found.manifest.wide
    assert sorted(row[1] for row in rows_of_packed(found)) == list(range(450_000))
