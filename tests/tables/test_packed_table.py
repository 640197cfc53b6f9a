"""A packed table is the same table, in one file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sottovoce.api.input_output import pack
from sottovoce.errors import DataError, OutputExists, UsageError
from sottovoce.model import Domain, Kind, Reports
from sottovoce.tables import packed_table as packed_form
from sottovoce.tables import read_reports

TABLES: dict[str, dict[str, list[Any]]] = {
    "labels": {"worker": ["w", "v", "w"], "task": ["a", "a", "é\n"], "answer": ["no", "yes", "no"]},
    "integers": {"worker": [3, 1, 3], "task": [9, 9, 2**40], "answer": [0, 1, 0]},
    "booleans": {"worker": [3, 1, 3], "task": ["a", "a", "b"], "answer": [True, False, True]},
    "numbers": {"worker": ["w", "v", "w"], "task": ["a", "a", "b"], "value": [0.5, -1.0, 1e149]},
}


def same(a: Reports, b: Reports) -> None:
    for name in ("worker", "task", "value", "workers", "tasks"):
        left, right = getattr(a, name), getattr(b, name)
        assert left.dtype == right.dtype, name
        assert left.tolist() == right.tolist(), name
    assert a.domain == b.domain
    assert list(map(type, a.domain.labels)) == list(map(type, b.domain.labels))


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "packed.parquet"
    pack(TABLES["labels"], path)
    return path


@pytest.mark.parametrize("name", list(TABLES))
def test_a_packed_table_reads_as_the_original(tmp_path: Path, name: str) -> None:
    path = tmp_path / "packed.parquet"
    reports = pack(TABLES[name], path)
    same(reports, read_reports(TABLES[name]))
    same(read_reports(path), reports)
    reread = read_reports(path).reading
    assert reread is not None
    assert reread.rows == 3
    pack(path, tmp_path / "again.parquet")
    same(read_reports(tmp_path / "again.parquet"), reports)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["again.parquet", "packed.parquet"]


def test_many_names_labels_and_a_range_survive_packing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = np.arange(300)
    table = {"worker": ids, "task": ids, "label": np.array([f"label {i}" for i in ids])}
    table["task"] = np.array([f"task {i}" for i in ids])
    monkeypatch.setattr(packed_form, "_TOGETHER", 7)
    reports = pack(table, tmp_path / "a.parquet")
    same(read_reports(tmp_path / "a.parquet"), reports)
    domain = Domain.numeric(0, 10)
    pack({"worker": ids, "task": ids, "value": ids % 10}, tmp_path / "b.parquet", domain=domain)
    assert read_reports(tmp_path / "b.parquet").domain == domain


def test_repeats_are_settled_once(tmp_path: Path) -> None:
    table = {"worker": ["w", "w", "v"], "task": ["t", "t", "t"], "answer": ["a", "b", "a"]}
    assert len(pack(table, tmp_path / "first.parquet")) == 2
    again = read_reports(tmp_path / "first.parquet", repeats="error")
    assert len(again) == 2
    pack(table, tmp_path / "keep.parquet", repeats="keep")
    kept = read_reports(tmp_path / "keep.parquet", repeats="last")
    assert kept.reading is not None
    assert (len(kept), kept.reading.repeated, kept.reading.contradicting) == (2, 1, 1)
    with pytest.raises(DataError, match="row 2: worker 'w' answers task 't' again"):
        read_reports(tmp_path / "keep.parquet", repeats="error")


def test_a_packed_table_takes_another_domain_of_its_kind(packed: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the order of these labels is not known"):
        read_reports(packed, domain=Kind.ORDINAL)
    ordered = Domain.ordinal(["no", "yes"])
    assert read_reports(packed, domain=ordered).domain == ordered
    table = read_reports(packed, domain=Domain.categorical(["yes", "maybe", "no"]))
    assert table.value.tolist() == [2, 0, 2]
    with pytest.raises(DataError, match=r"'no' is not one of the labels of categorical {yes}"):
        read_reports(packed, domain=Domain.categorical(["yes"]))
    with pytest.raises(
        UsageError, match=r"is packed as categorical {no, yes}: pack it with domain=Kind.NUMERIC"
    ):
        read_reports(packed, domain=Kind.NUMERIC)
    with pytest.raises(UsageError, match="is packed, so its columns cannot be mapped"):
        read_reports(packed, columns={"worker": "w"})
    numbers = tmp_path / "numbers.parquet"
    pack(TABLES["numbers"], numbers)
    with pytest.raises(DataError, match=r"leave the range 0..1"):
        read_reports(numbers, domain=Domain.numeric(0, 1))


def rewritten(path: Path, **changes: Any) -> None:
    """The same packed file with other words about itself."""
    table = pq.read_table(path)
    manifest = json.loads(table.schema.metadata[b"sottovoce"]) | changes
    pq.write_table(table.replace_schema_metadata({"sottovoce": json.dumps(manifest)}), path)


def test_a_packed_table_of_a_newer_version_is_refused(packed: Path) -> None:
    rewritten(packed, version=2)
    with pytest.raises(
        DataError, match="packed in version 2 of the format and this release reads up to 1: upgrade"
    ):
        read_reports(packed)


def test_a_damaged_packed_table_is_refused(packed: Path) -> None:
    rewritten(packed, labels=["only one"])
    with pytest.raises(DataError, match=r"is a damaged packed table .*: pack it again") as caught:
        read_reports(packed)
    assert "\n" not in str(caught.value)


def test_packing_writes_only_where_asked(packed: Path, tmp_path: Path) -> None:
    before = packed.read_bytes()
    with pytest.raises(OutputExists):
        pack(TABLES["numbers"], packed)
    with pytest.raises(UsageError, match=r"packed.csv must end in .parquet"):
        pack(TABLES["labels"], tmp_path / "packed.csv")
    with pytest.raises(DataError):
        pack({"worker": [], "task": [], "answer": []}, tmp_path / "empty.parquet")
    assert packed.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["packed.parquet"]
    pack(TABLES["numbers"], packed, force=True)
    assert read_reports(packed).domain.is_numeric


def test_parquet_with_foreign_metadata_is_an_ordinary_table(tmp_path: Path) -> None:
    table = pa.table(TABLES["labels"]).replace_schema_metadata({"other": "1"})
    pq.write_table(table, tmp_path / "a.parquet")
    reports = read_reports(tmp_path / "a.parquet")
    same(replace(reports, reading=None), read_reports(TABLES["labels"]))


def test_names_that_no_row_uses_are_not_packed(tmp_path: Path) -> None:
    idle = Reports.of(
        [1, 1], [0, 2], [0, 1], domain=Domain.categorical("ab"),
        workers=np.arange(5), tasks=np.arange(9),
    )  # fmt: skip
    pack(idle, tmp_path / "idle.parquet")
    back = read_reports(tmp_path / "idle.parquet")
    assert (len(back), back.workers.tolist(), back.tasks.tolist()) == (2, [1], [0, 2])
