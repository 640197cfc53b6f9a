"""Written tables are read back as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Kind
from sottovoce.tables import read_reports, write_columns

ENDINGS = ["csv", "tsv", "jsonl", "parquet", "csv.gz"]
awkward = st.one_of(
    st.sampled_from(
        ["007", "7", " a", "a ", " ", '"', '""', ",", "a,b", "a\tb", "a\nb", "\r\n", "\\", "'",
         "é", "日本", "🦊", "NULL", "null", "nan", "inf", "true", "1e5", "#x",
         '"a"b', "{", "\ufeff", "1_0"]
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=8),
)  # fmt: skip
tables = st.lists(st.tuples(awkward, awkward, awkward), min_size=1, max_size=8)


def objects(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize("ending", ENDINGS)
@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(rows=tables)
def test_awkward_names_survive_every_format(
    tmp_path: Path, ending: str, rows: list[tuple[str, str, str]]
) -> None:
    path = tmp_path / f"table.{ending}"
    columns = {
        name: objects(list(column))
        for name, column in zip(("worker", "task", "answer"), zip(*rows, strict=True), strict=True)
    }
    write_columns(columns, path, force=True)
    table = read_reports(path, domain=Kind.CATEGORICAL, repeats="keep")
    labels = objects(list(table.domain.labels))
    read = (table.workers[table.worker], table.tasks[table.task], labels[table.value])
    assert list(zip(*(column.tolist() for column in read), strict=True)) == rows


@pytest.mark.parametrize("ending", ENDINGS)
@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(numbers=st.lists(st.floats(-1e150, 1e150), min_size=1, max_size=9))
def test_numbers_survive_every_format_to_the_last_bit(
    tmp_path: Path, ending: str, numbers: list[float]
) -> None:
    path = tmp_path / f"table.{ending}"
    ids = np.arange(len(numbers))
    write_columns({"worker": ids, "task": ids, "value": np.array(numbers)}, path, force=True)
    table = read_reports(path)
    assert table.domain == Domain.numeric()
    order = np.argsort(table.workers[table.worker].astype(np.int64))
    assert table.value[order].tolist() == numbers


def test_result_tables_of_all_types_are_written(tmp_path: Path) -> None:
    columns = {
        "task": np.array(["t1", "t2"], np.dtypes.StringDType()),
        "truth": objects([1, "b"]),
        'odd "name"': np.array([0.5, np.nan]),
        "answers": np.array([3, 4], np.int64),
        "sure": np.array([True, False]),
    }
    write_columns(columns, tmp_path / "a.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert lines[0] == {
        "task": "t1", "truth": "1", 'odd "name"': 0.5, "answers": 3, "sure": True,
    }  # fmt: skip
    assert lines[1]['odd "name"'] is None
    write_columns(columns, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text().splitlines()[1] == "t1,1,0.5,3,true"
    write_columns(columns, tmp_path / "a.parquet")
    assert pq.read_table(tmp_path / "a.parquet").column_names == list(columns)
    write_columns({"a": np.array([1])}, tmp_path / "a.csv", force=True)
    assert (tmp_path / "a.csv").read_text() == "a\n1\n"


def test_no_table_is_written_where_none_can_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder: create it first"):
        write_columns({"a": np.arange(2)}, tmp_path / "nowhere" / "a.csv")
    with pytest.raises(UsageError, match=r"cannot tell from 'a.parquet.gz' what to write"):
        write_columns({"a": np.arange(2)}, tmp_path / "a.parquet.gz")
    with pytest.raises(UsageError, match="needs columns"):
        write_columns({}, tmp_path / "a.csv")
    with pytest.raises(UsageError, match=r"cannot write a.csv"):
        write_columns({"a": np.array([1 + 2j])}, tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []
