"""Tasks from files: what is read, and how faults are said."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Task
from sottovoce.tables.task_table import TaskFormat, read_task_table, read_tasks

HTML = "<script>alert('x')</script> & <b>bold</b>"


def fault(content: bytes, format: TaskFormat = "csv") -> DataError:
    with pytest.raises(DataError) as caught:
        read_tasks(content, format)
    return caught.value


def test_a_table_has_a_task_a_text_and_an_image() -> None:
    content = b"task,text,image\nt1,Red?,https://a.example/1.png\n"
    assert read_tasks(content, "csv") == [Task("t1", "Red?", "https://a.example/1.png")]


def test_a_task_without_a_text_is_asked_by_its_name() -> None:
    assert read_tasks(b"task\nIs it red?\n", "csv") == [Task("Is it red?", "Is it red?")]
    assert read_tasks(b"task,text,image\nt1, ,\n", "csv") == [Task("t1", "t1")]


def test_columns_are_known_in_any_order_and_case() -> None:
    content = b"\xef\xbb\xbfTEXT, Task \r\nRed?,t1\r\n"
    assert read_tasks(content, "csv") == [Task("t1", "Red?")]


def test_other_columns_are_passed_over_and_named() -> None:
    table = read_task_table(b"task,gold,level\nt1,yes,2\n", "csv")
    assert table.ignored == ("gold", "level")
    assert read_task_table(
        b'[{"task": "a", "gold": 1}, {"task": "b", "by": 2}]', "json"
    ).ignored == (
        "gold",
        "by",
    )


def test_quoted_cells_may_hold_lines_commas_and_quotes() -> None:
    content = b'task,text\nt1,"Is it\nred, or ""red""?"\n'
    assert read_tasks(content, "csv") == [Task("t1", 'Is it\nred, or "red"?')]


def test_tabs_separate_where_the_format_says_so() -> None:
    assert read_tasks(b"task\ttext\nt1\tRed, or not?\n", "tsv") == [Task("t1", "Red, or not?")]


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("csv", f'task,text\nt1,"{HTML}"\n'),
        ("jsonl", json.dumps({"task": "t1", "text": HTML})),
        ("json", json.dumps([{"task": "t1", "text": HTML}])),
    ],
)
def test_html_stays_the_plain_text_it_is(format: TaskFormat, content: str) -> None:
    assert read_tasks(content.encode(), format) == [Task("t1", HTML)]


def test_lines_of_json_may_be_blank_or_hold_odd_separators() -> None:
    content = '{"task": "t1", "text": "a\u2028b"}\n\n{"task": 17, "text": null}\n'.encode()
    assert read_tasks(content, "jsonl") == [Task("t1", "a\u2028b"), Task("17", "17")]


def test_a_file_is_read_by_its_ending(tmp_path: Path) -> None:
    path = tmp_path / "tasks.JSONL"
    path.write_text('{"task": "t1"}\n')
    assert read_tasks(path) == read_tasks(str(path), "jsonl") == [Task("t1", "t1")]


def test_faults_of_a_file_name_it(tmp_path: Path) -> None:
    path = tmp_path / "tasks.csv"
    path.write_text("task\na\na\n")
    with pytest.raises(DataError, match=r"tasks\.csv, row 3, column 'task'"):
        read_tasks(path)
    with pytest.raises(DataError, match="no such file"):
        read_tasks(tmp_path / "absent.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_tasks(tmp_path, "csv")
    with pytest.raises(DataError, match=r"\.csv, \.tsv, \.jsonl or \.json"):
        read_tasks(tmp_path / "tasks.xlsx")


def test_bytes_need_a_format() -> None:
    with pytest.raises(UsageError, match="format"):
        read_tasks(b"task\na\n")


@pytest.mark.parametrize(
    ("content", "row", "column", "words"),
    [
        (b"task,text\nt1,a\nt2\n", 3, None, "1 cells where the header has 2"),
        (b'task,text\nt1,"a\nb"\n\nt2\n', 5, None, "1 cells"),
        (b'task,text\nt1,"a\nb"\nt1,c\n', 4, "task", "is here and in row 2"),
        (b'task,text\nt1,a\nt2,"b\nc', 3, None, "never closed"),
        (b'task,text\nt1,"a"b\n', 2, None, "closing quote"),
        (b"task,text\n,a\n", 2, "task", "empty"),
        (b"task,text\n" + b"n" * 201 + b",a\n", 2, "task", "1 to 200"),
        (b"task,text\nt1," + b"x" * 5001 + b"\n", 2, "text", "1 to 5,000"),
        (b"task,text\nt1," + b"x" * 200_000 + b"\n", 2, None, "quote missing"),
        (b"task,text\nt1,a\x07b\n", 2, "text", "no text"),
        (b"task,image\nt1,javascript:alert(1)\n", 2, "image", "https://"),
        (b"task,image\nt1,https://a.example/a b.png\n", 2, "image", "spaces"),
        (b"task,image\nt1,https://me:secret@a.example/\n", 2, "image", "password"),
        (b"task,text\nt1,a\nt2,\xff\n", 3, None, "not UTF-8"),
        (b"task,text\nt1,a\nt2,\x00\n", 3, None, "NUL"),
        (b"task,text,task\nt1,a,b\n", 1, "task", "more than once"),
        (b"\nTask,TASK\nt1,a\n", 2, None, "could each be"),
        (b"name,text\nt1,a\n", 1, None, "no column task, only 'name', 'text'"),
        (b"task;text\nt1;a\n", 1, None, "commas"),
    ],
)
def test_a_fault_in_a_table_is_where_an_editor_finds_it(
    content: bytes, row: int, column: str | None, words: str
) -> None:
    error = fault(content)
    assert (error.row, error.column) == (row, column)
    assert words in str(error)


@pytest.mark.parametrize(
    ("format", "content", "row", "words"),
    [
        ("jsonl", b'{"task": "a"}\n{"task": }', 2, "not JSON"),
        ("jsonl", b'{"task": "a"}\n["b"]', 2, "no JSON object"),
        ("jsonl", b'{"task": "a"}\n\n{"task": "a"}', 3, "in row 1"),
        ("jsonl", b'{"task": 1.5}', 1, "must be a text"),
        ("jsonl", b'{"task": true}', 1, "must be a text"),
        ("jsonl", b'{"task": "a", "text": 3}', 1, "must be a text"),
        ("jsonl", b'{"text": "a"}', 1, "no column task"),
        ("jsonl", b"{}", 1, "no column task"),
        ("jsonl", b'{"task": "a", "task": "b"}', 1, "twice"),
        ("jsonl", b'{"task": "\\ud800"}', 1, "no text"),
        ("jsonl", b'{"task": "a", "image": "https://a.example/\\u0000"}', 1, "web address"),
        ("json", b'[{"task": "a"}, {"task": "a"}]', 2, "in row 1"),
        ("json", b'[{"task": "a"}, 7]', 2, "no JSON object"),
        ("json", b'[{"task": "a"},\n oops]', 2, "not JSON"),
        ("json", b'{"task": "a"}', None, "no JSON list"),
        ("json", b"[" * 100_000, None, "nested"),
        ("json", b"[" + b"1" * 9999 + b"]", None, "digits"),
    ],
)
def test_a_fault_in_json_has_its_line_or_place(
    format: TaskFormat, content: bytes, row: int | None, words: str
) -> None:
    error = fault(content, format)
    assert error.row == row
    assert words in str(error)


@pytest.mark.parametrize("format", ["csv", "tsv", "jsonl", "json"])
@pytest.mark.parametrize("content", [b"", b"\n \n", b"task\n", b"[]"])
def test_a_file_without_tasks_is_refused(format: TaskFormat, content: bytes) -> None:
    assert isinstance(fault(content, format), DataError)


def test_utf_16_is_named() -> None:
    assert "UTF-16" in str(fault("task\na\n".encode("utf-16")))


def test_a_hundred_thousand_tasks_take_a_moment() -> None:
    rows = "".join(f't{i},"Is leaf {i} from\nan <b>oak</b>?"\n' for i in range(100_000))
    content = f"task,text\n{rows}".encode()
    start = time.process_time()
    assert len(read_tasks(content, "csv")) == 100_000
    assert time.process_time() - start < 3  # about 1 s of one core


def test_known_truths_are_read_as_text() -> None:
    csv = read_tasks(b"task,known\nt1,oak\nt2, \n", "csv")
    assert [task.known for task in csv] == ["oak", None]
    rows = b'[{"task": "a", "known": true}, {"task": "b", "known": 2.0}, {"task": "c"}]'
    assert [task.known for task in read_tasks(rows, "json")] == ["true", "2", None]


def test_a_known_truth_that_is_no_text_names_its_column() -> None:
    with pytest.raises(DataError, match="row 2, column 'known'"):
        read_tasks(b"task,known\nt1,a\x01b\n", "csv")


def test_a_known_truth_is_in_no_repr() -> None:
    assert "oak" not in repr(Task("t1", "Which?", None, "oak"))
