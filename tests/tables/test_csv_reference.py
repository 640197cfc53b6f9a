"""Files are read as Python's csv module reads them, good rows and bad ones; junk never crashes."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.errors import DataError
from sottovoce.model import Reports
from sottovoce.tables import BadRows, read_reports

quick = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
cells = st.sampled_from(["w", "7", "b c", '"x,y"', '"q""r"', '"l\nm"', '"l\r\nm"', '5"6', '"z"'])
line_ends = st.sampled_from(["\n", "\n", "\n", "\r\n"])
lines = st.one_of(
    st.tuples(st.lists(cells, min_size=3, max_size=3), line_ends),
    st.tuples(st.lists(cells, min_size=0, max_size=4), line_ends),
)
junk = st.one_of(
    st.binary(max_size=60),
    st.lists(
        st.sampled_from(
            [b"worker,task,answer\n", b'{"worker":1,"task":2,"answer":3}\n', b"w,t,a\n", b",",
             b"\n", b'"', b"\r", b"\t", b"1", b"nan", b"{", b"}", b"[", b"\xff", b"\0", b"\\"]
        ),
        max_size=15,
    ).map(b"".join),
)  # fmt: skip


def rows_of(table: Reports) -> list[tuple[str, ...]]:
    labels = [str(table.domain.labels[code]) for code in table.value.tolist()]
    names = table.workers[table.worker].tolist(), table.tasks[table.task].tolist()
    return list(zip(*names, labels, strict=True))


@quick
@given(body=st.lists(lines, min_size=1, max_size=8))
def test_rows_are_those_of_the_csv_module(
    tmp_path: Path, body: list[tuple[list[str], str]]
) -> None:
    text = "worker,task,label\n" + "".join(",".join(row) + end for row, end in body)
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    records = [row for row in csv.reader(io.StringIO(text, newline="")) if row][1:]
    good = [tuple(row) for row in records if len(row) == 3]
    if len(good) == len(records) and good:
        assert rows_of(read_reports(path, repeats="keep")) == good
    else:
        with pytest.raises(DataError):
            read_reports(path)
    if good:
        table = read_reports(path, repeats="keep", bad_rows="drop")
        assert rows_of(table) == good
        assert table.reading is not None
        assert table.reading.rows == len(records)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.jsonl", "a.parquet", "a"])
@quick
@given(content=junk)
def test_junk_is_refused_in_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    for bad_rows in ("error", "drop"):
        complaint = complaint_about(path, bad_rows)
        assert "\n" not in complaint
        assert "Error" not in complaint or name == "a.parquet"


def complaint_about(path: Path, bad_rows: BadRows) -> str:
    try:
        read_reports(path, bad_rows=bad_rows)
    except DataError as error:
        return str(error)
    return ""
