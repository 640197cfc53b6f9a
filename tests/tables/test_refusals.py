"""Every table that cannot be read is refused in one line that says where and why."""

from __future__ import annotations

import gzip
import io
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sottovoce.api.input_output import pack
from sottovoce.errors import DataError, OutputExists, SottovoceError, UsageError
from sottovoce.model import Domain, Kind
from sottovoce.tables import read_gold, read_reports, write_columns

Write = Callable[..., Path]
HEADER = "worker,task,answer\n"

# name of the file, its content, what the message must say
BROKEN: list[tuple[str, str, bytes | str, str]] = [
    ("an empty file", "a.csv", "", "the file is empty"),
    ("an empty gzip file", "a.csv.gz", gzip.compress(b""), "the compressed file is empty"),
    ("only blank lines", "a.csv", "\n\n\n", "the file is empty"),
    ("only blank lines in JSONL", "a.jsonl", "\n\n", "only blank lines"),
    ("a header only", "a.csv", HEADER, "a header but no rows"),
    ("a header without a line end", "a.csv", HEADER.strip(), "a header but no rows"),
    ("one column", "a.csv", "worker\nw1\n", "there is no column task, only 'worker'"),
    ("semicolons", "a.csv", "worker;task;answer\nw;t;a\n", "cells are separated by ';'"),
    (
        "wrong columns",
        "a.csv",
        "annotator,item,vote\nw,t,a\n",
        "there is no column worker, only 'annotator', 'item', 'vote': pass "
        'columns={"worker": "…", "task": "…", "answer": "…"}',
    ),
    ("a near miss", "a.csv", "workers,task,answer\nw,t,a\n", 'columns={"worker": "workers"}'),
    (
        "two columns of answers",
        "a.csv",
        "worker,task,label,answer\nw,t,a,b\n",
        "'label' and 'answer' could each be the answer: pass columns={\"answer\": \"label\"}",
    ),
    (
        "a repeated header",
        "a.csv",
        "worker,task,task,answer\nw,t,u,a\n",
        "column 'task': the header names this column more than once",
    ),
    ("a repeated key", "a.jsonl", '{"worker":1,"worker":2}\n', "more than once"),
    ("binary junk", "a.csv", bytes(range(256)) * 20, "byte 0 is NUL"),
    ("binary junk without an ending", "junk", b"\x93\x81\xff\xfe" * 99, "is not UTF-8"),
    ("UTF-16", "a.csv", (HEADER + "w,t,a\n").encode("utf-16"), "is UTF-16 text"),
    ("UTF-16 without a mark", "a.csv", HEADER.encode("utf-16-le"), "byte 1 is NUL"),
    (
        "Latin-1",
        "a.csv",
        HEADER.encode() + b"w,t,a\nw,u,caf\xe9\n",
        "row 3: byte 32 (0xe9) is not UTF-8",
    ),
    ("a cut-off UTF-8 letter", "a.csv", HEADER.encode() + b"w,t,\xc3", "row 2: byte 23 (0xc3)"),
    ("NUL in a cell", "a.csv", HEADER + "w,t,a\nw,t\0,b\n", "row 3: is not a text file: byte 28"),
    (
        "an unclosed quote",
        "a.csv",
        HEADER + 'w,t,a\nw,"u,b\nw,v,c\n',
        "row 3: a quote opens here and is never closed",
    ),
    ("an unclosed quote at the end", "a.csv", HEADER + 'w,t,a\nw,t,"b', "row 3: a quote opens"),
    ("two unclosed quotes", "a.csv", HEADER + 'w,"t,a\nw,"u,b\n', "row 2"),
    ("text after a quote", "a.csv", HEADER + 'w,t,a\nw,"u"x,b\n', "row 3: "),
    ("an unclosed quote in the header", "a.csv", 'worker,"task,answer\nw,t,a\n', "row 1: a quote"),
    ("too few fields", "a.csv", HEADER + "w,t,a\nw,u\n", "row 3: 2 fields where the header has 3"),
    ("too many fields", "a.csv", HEADER + "w,t,a,b\n", "row 2: 4 fields where the header has 3"),
    (
        "too few fields after a cell with a line end",
        "a.csv",
        HEADER + 'w,"t\n1",a\n\nw,u\n',
        "row 5: 2 fields",
    ),
    (
        "an empty worker",
        "a.csv",
        HEADER + "w,t,a\n,t,a\n",
        "row 3, column 'worker': empty cell",
    ),
    ("an empty task", "a.csv", HEADER + 'w,"",a\n', "row 2, column 'task': empty cell"),
    ("an empty answer", "a.csv", HEADER + "w,t,a\n\nw,u,\n", "row 4, column 'answer'"),
    ("an empty number", "a.csv", "worker,task,value\nw,t,1\nw,u,\n", "row 3, column 'value'"),
    (
        "numbers and text",
        "a.csv",
        HEADER + "w,t,1\nw,u,2\nw,v,many\n",
        "row 4, column 'answer': mixes numbers and text (numbers in 2 rows, text in 1; here 'many'",
    ),
    (
        "text and numbers",
        "a.csv",
        HEADER + "w,t,x\nw,u,7\nw,v,y\n",
        "row 3, column 'answer': mixes numbers and text (numbers in 1 rows, text in 2; here '7')",
    ),
    (
        "NaN",
        "a.csv",
        HEADER + "w,t,1.5\nw,u,nan\n",
        "row 3, column 'answer': 'nan' is not a finite number",
    ),
    (
        "infinity",
        "a.csv",
        HEADER + "w,t,1\nw,u,-inf\n",
        "row 3, column 'answer': '-inf' is not a finite",
    ),
    (
        "text for a number",
        "a.csv",
        "worker,task,value\nw,t,x\n",
        "row 2, column 'value': 'x' is not a",
    ),
    (
        "a cell of a million characters",
        "a.csv",
        HEADER + "w,t,a\nw," + "x" * 10**6 + ",b\n",
        "row 3, column 'task': 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… has 1,000,000 characters",
    ),
    (
        "a quoted label of a million characters",
        "a.csv",
        HEADER + 'w,t,"' + "x" * 10**6 + '"\n',
        "xx… has 1,000,000 characters, more than 1,000",
    ),
    (
        "a cell of three million characters",
        "a.csv",
        HEADER + "w,t,a\nw," + "x" * (3 * 10**6) + ",b\n",
        "row 3: ",
    ),
    ("a truncated gzip file", "a.csv.gz", gzip.compress(os.urandom(9999))[:5000], "truncated gzip"),
    ("what is no gzip file", "a.csv.gz", b"\x1f\x8b junk junk junk", "truncated gzip"),
    ("what is no Parquet file", "a.parquet", HEADER, "is not a Parquet file"),
    (
        "a broken line of JSON",
        "a.jsonl",
        '{"worker":1,"task":2,"answer":3}\n{"wor\n',
        "row 2: is not JSON",
    ),
    (
        "two objects in a line",
        "a.jsonl",
        '{"worker":1,"task":2,"answer":3}{}\n',
        "row 1: is not JSON",
    ),
    ("a list in JSONL", "a.jsonl", '{"worker":1,"task":2,"answer":3}\n[1]\n', "row 2: is a list"),
    ("a number in JSONL", "a.jsonl", "12\n", "row 1: is a number: expected an object"),
    (
        "a missing key",
        "a.jsonl",
        '{"worker":1,"task":2,"answer":3}\n\n{"worker":1,"task":2}\n',
        "row 3, column 'answer': empty cell",
    ),
]


@pytest.mark.parametrize(
    ("name", "content", "words"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN]
)
def test_a_broken_file_is_refused_in_one_line(
    written: Write, tmp_path: Path, name: str, content: bytes | str, words: str
) -> None:
    path = written(content, name)
    with pytest.raises(DataError) as caught:
        read_reports(path)
    _is_one_line(caught.value, words)
    assert str(path) in str(caught.value)
    with pytest.raises(DataError):
        pack(path, tmp_path / "packed.parquet")
    assert [each.name for each in tmp_path.iterdir()] == [name], "nothing is written"


def _is_one_line(error: SottovoceError, words: str) -> None:
    message = str(error)
    assert words in message
    assert "\n" not in message
    assert len(message) < 600
    assert "DuckDB" not in message


def test_a_file_with_another_name_is_not_suggested(written: Write) -> None:
    path = written(HEADER + "w,t,a\n", "n.csv")
    with pytest.raises(DataError, match=r"there is no such file$"):
        read_reports(path.with_name("missing.csv"))


def test_an_excel_file_is_named_as_one(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.xlsx", "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(DataError, match="is an Excel file; save it as CSV"):
        read_reports(tmp_path / "x.xlsx")


def test_a_missing_file_is_named_with_a_near_miss(written: Write) -> None:
    path = written(HEADER + "w,t,a\n")
    with pytest.raises(DataError, match=r"there is no such file; did you mean answers.csv\?"):
        read_reports(path.with_name("answer.csv"))
    with pytest.raises(DataError, match="nor a folder"):
        read_reports(path.parent / "nowhere" / "answers.csv")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder: name a file in it"):
        read_reports(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(written: Write) -> None:
    path = written(HEADER + "w,t,a\n")
    path.chmod(0)
    with pytest.raises(DataError, match="may not be read: its permissions forbid it"):
        read_reports(path)


def test_lost_permission_is_said_in_one_line(
    written: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(HEADER + "w,t,a\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match="may not be read: its permissions forbid it"):
        read_reports(path)


def test_truncated_parquet_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    names = np.array(["w1", "w2"], dtype=object)
    write_columns({"worker": names, "task": names, "answer": names}, path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    with pytest.raises(DataError, match="is a truncated Parquet file"):
        read_reports(path)
    path.write_bytes(whole[:4] + b"\xff" * (len(whole) - 12) + whole[-8:])
    with pytest.raises(DataError, match="cannot be read as parquet") as caught:
        read_reports(path)
    _is_one_line(caught.value, "a.parquet")


def test_a_mapping_to_a_missing_column_suggests_a_near_one(written: Write) -> None:
    path = written("annotator,item,vote\nw,t,a\n")
    with pytest.raises(
        DataError, match="no column 'anotator' for worker: did you mean 'annotator'"
    ):
        read_reports(path, columns={"worker": "anotator", "task": "item", "answer": "vote"})
    with pytest.raises(DataError, match="there are 'annotator', 'item', 'vote'"):
        read_reports(path, columns={"worker": "zzz", "task": "item", "answer": "vote"})
    with pytest.raises(UsageError, match="columns= maps worker, task, answer, not 'votes'"):
        read_reports(path, columns={"votes": "vote"})


def test_numbers_out_of_range_name_their_row(written: Write) -> None:
    path = written("worker,task,value\nw,t,1\nw,u,11\n")
    with pytest.raises(DataError, match=r"row 3, column 'value': '11' is outside the range 0..10"):
        read_reports(path, domain=Domain.numeric(0, 10))


def test_labels_outside_the_domain_name_their_row(written: Write) -> None:
    path = written(HEADER + "w,t,yes\nw,u,maybe\n")
    with pytest.raises(
        DataError,
        match=r"row 3, column 'answer': 'maybe' is not one of the labels of cat.* \{yes, no\}",
    ):
        read_reports(path, domain=Domain.categorical(["yes", "no"]))


def test_frames_count_rows_from_one() -> None:
    table = {"worker": ["w", None], "task": ["t", "t"], "answer": ["a", "b"]}
    with pytest.raises(DataError, match="the mapping, row 2, column 'worker': empty cell"):
        read_reports(table)
    with pytest.raises(DataError, match="row 1, column 'value': empty cell"):
        read_reports({"worker": [1], "task": [1], "value": [np.nan]})
    with pytest.raises(DataError, match="row 2, column 'value': inf is not a finite number"):
        read_reports({"worker": [1, 1], "task": [1, 2], "value": [0.5, np.inf]})


def test_frames_of_other_shapes_are_refused() -> None:
    with pytest.raises(DataError, match="lists or arrays of one length"):
        read_reports({"worker": ["w"], "task": ["t", "u"], "answer": ["a", "b"]})
    with pytest.raises(DataError, match="the table has no rows"):
        read_reports({"worker": [], "task": [], "answer": []})
    with pytest.raises(UsageError, match="cannot read a table from int"):
        read_reports(3)
    with pytest.raises(DataError, match="worker names are numbers with fractions"):
        read_reports({"worker": [0.5], "task": ["t"], "answer": ["a"]})


def test_too_many_guessed_labels_are_refused() -> None:
    count = 10_001
    table = {
        "worker": np.zeros(count, np.int64),
        "task": np.arange(count),
        "answer": np.array([f"id-{i}" for i in range(count)], dtype=object),
    }
    with pytest.raises(DataError, match=r"10,001 distinct labels: pass domain=Kind\.NUMERIC"):
        read_reports(table)
    assert read_reports(table, domain=Kind.CATEGORICAL).labels == count


def test_unknown_options_are_usage_errors(written: Write) -> None:
    path = written(HEADER + "w,t,a\n")
    with pytest.raises(UsageError, match="repeats= must be first, last, keep or error, not 'all'"):
        read_reports(path, repeats="all")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="bad_rows= must be error or drop, not 'skip'"):
        read_reports(path, bad_rows="skip")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no format 'xlsx': there are csv, tsv, jsonl and parquet"):
        read_reports(path, format="xlsx")


def test_a_repeated_pair_is_refused_by_row_when_asked(written: Write) -> None:
    path = written(HEADER + 'w,"t\n",a\n\nv,u,a\nw,"t\n",b\n')
    with pytest.raises(DataError, match=r"row 6: worker 'w' answers task 't\\n' again") as caught:
        read_reports(path, repeats="error")
    assert caught.value.row == 6


def test_file_level_faults_are_never_dropped(written: Write) -> None:
    for content in ('w,"t,a\n', "w,\0,a\n", b"w,\xff,a\n".decode("latin-1")):
        path = written((HEADER + content).encode("latin-1"))
        with pytest.raises(DataError):
            read_reports(path, bad_rows="drop")


def test_gold_needs_one_truth_a_task(written: Write) -> None:
    path = written("task,truth\nt,1\nu,2\nt,3\n", "gold.csv")
    with pytest.raises(DataError, match="row 4: task 't' has a second, different truth: keep one"):
        read_gold(path, domain=Domain.categorical("123"))
    path = written("task,answers\nt,1\n", "gold2.csv")
    with pytest.raises(DataError, match=re.escape('gold_columns={"truth": "answers"}')):
        read_gold(path, domain=Domain.categorical("123"))


def test_an_output_that_exists_is_kept(written: Write, tmp_path: Path) -> None:
    path = written("old", "out.csv")
    with pytest.raises(OutputExists):
        write_columns({"a": np.arange(3)}, path)
    assert path.read_text() == "old"
    with pytest.raises(UsageError, match=r"let it end in .csv, .tsv, .jsonl \(each also .gz\) or"):
        write_columns({"a": np.arange(3)}, tmp_path / "out.xlsx")
    with pytest.raises(UsageError, match="all of one length"):
        write_columns({"a": np.arange(3), "b": np.arange(2)}, tmp_path / "b.csv")
    assert [each.name for each in tmp_path.iterdir()] == ["out.csv"]


def test_a_stream_is_named_in_its_errors() -> None:
    with pytest.raises(DataError, match="the stream, row 3: 1 fields where the header has 3"):
        read_reports(io.BytesIO((HEADER + "w,t,a\nw\n").encode()))
