"""A table is read the same from every format and source."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.model import Domain, Kind, Reports
from sottovoce.tables import parse_domain, read_gold, read_reports, vocabulary, write_columns

Write = Callable[..., Path]
HEADER = "worker,task,answer\n"
WORDS = {
    "worker": ["w2", "w10", "w1", "w2", "007", "w1"],
    "task": ["t1", "t1", "t2", "t2", "t 3", 'é,"x"\n'],
    "answer": ["yes", "no", "yes", "no", "yes", "no"],
}


def objects(values: list[Any]) -> npt.NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def same(a: Reports, b: Reports) -> None:
    for name in ("worker", "task", "value", "workers", "tasks"):
        left, right = getattr(a, name), getattr(b, name)
        assert left.dtype == right.dtype, name
        assert left.tolist() == right.tolist(), name
    assert a.domain == b.domain
    assert [type(label) for label in a.domain.labels] == [type(label) for label in b.domain.labels]


def as_columns(table: Mapping[str, list[Any]]) -> dict[str, npt.NDArray[Any]]:
    return {name: objects(values) for name, values in table.items()}


@pytest.mark.parametrize(
    "ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz", "tsv.gz", "jsonl.gz"]
)
@pytest.mark.parametrize("how", ["path", "text", "stream", "stdin", "no ending"])
def test_every_format_gives_the_same_table(
    tmp_path: Path, ending: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"table.{ending}"
    write_columns(as_columns(WORDS), path)
    source: Any = path
    if how == "text":
        source = str(path)
    elif how == "stream":
        source = io.BytesIO(path.read_bytes())
    elif how == "stdin":
        source = "-"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    elif how == "no ending":
        source = path.rename(tmp_path / "table")
    table = read_reports(source)
    same(table, read_reports(WORDS))
    assert table.workers.tolist() == ["w2", "w10", "w1", "007"]
    assert table.tasks.tolist() == ["t1", "t2", "t 3", WORDS["task"][5]]
    assert table.domain == Domain.categorical(["no", "yes"])
    assert table.worker.tolist() == [0, 1, 2, 0, 3, 2]
    assert table.value.tolist() == [1, 0, 1, 0, 1, 0]
    assert table.reading is not None
    assert table.reading.rows == 6
    assert table.reading.source == {"stdin": "standard input", "stream": "the stream"}.get(
        how, str(source)
    )


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(WORDS),
        pd.DataFrame(WORDS, index=[3, 3, 1, 1, 0, 0]),
        pd.DataFrame(WORDS).astype("category"),
        pd.DataFrame(WORDS, dtype=object),
        pl.DataFrame(WORDS),
        pl.DataFrame(WORDS).with_columns(pl.all().cast(pl.Categorical)),
        pl.DataFrame(WORDS).lazy(),
        pa.table(WORDS),
        pa.table({name: pa.array(values).dictionary_encode() for name, values in WORDS.items()}),
        {name: np.array(values) for name, values in WORDS.items()},
        {name: np.array(values, np.dtypes.StringDType()) for name, values in WORDS.items()},
        as_columns(WORDS),
    ],
    ids=lambda frame: type(frame).__module__.partition(".")[0],
)
def test_every_frame_gives_the_same_table(frame: Any) -> None:
    same(read_reports(frame), read_reports(WORDS))


INTEGERS = {"worker": [30, 4, 4], "task": [7, 7, 8], "answer": [1, 0, 1]}


def test_integers_of_frames_and_parquet_stay_integers(tmp_path: Path) -> None:
    write_columns({k: np.array(v) for k, v in INTEGERS.items()}, tmp_path / "a.parquet")
    sources = [pd.DataFrame(INTEGERS), pl.DataFrame(INTEGERS), pa.table(INTEGERS)]
    for source in [*sources, tmp_path / "a.parquet", INTEGERS]:
        table = read_reports(source)
        assert table.workers.dtype == np.int64
        assert table.workers.tolist() == [30, 4]
        assert table.domain.labels == (0, 1)
        same(table, read_reports(INTEGERS))


def test_integers_of_text_files_stay_text(written: Write) -> None:
    table = read_reports(written(HEADER + "7,1,2\n007,1,10\n7,2,2\n"))
    assert table.workers.tolist() == ["7", "007"]
    assert table.domain.labels == ("2", "10"), "sorted as numbers"


def test_booleans_and_whole_fractions_are_labels() -> None:
    table = read_reports({"worker": [1, 2], "task": [1, 1], "answer": [True, False]})
    assert table.domain.labels == (False, True)
    table = read_reports({"worker": [1.0, 2.0], "task": [1, 1], "answer": [1.0, 0.0]})
    assert table.domain.labels == (0, 1)
    assert table.workers.tolist() == [1, 2]


def test_the_column_name_tells_numbers_from_labels() -> None:
    rows = {"worker": ["w", "v"], "task": ["t", "t"]}
    assert read_reports({**rows, "value": [1, 2]}).domain == Domain.numeric()
    assert read_reports({**rows, "value": ["1", "2"]}).value.tolist() == [1.0, 2.0]
    assert read_reports({**rows, "label": [0.5, 2.5]}).domain.labels == (0.5, 2.5)
    assert read_reports({**rows, "report": ["1", "2"]}).domain.labels == ("1", "2")
    assert read_reports({**rows, "answer": ["1", "2.5"]}).domain.is_numeric
    assert read_reports({**rows, "answer": ["inf", "nan"]}).domain.labels == ("inf", "nan")


@pytest.mark.parametrize("as_text", [True, False])
@pytest.mark.parametrize(("distinct", "numeric"), [(20, False), (21, True), (30_000, True)])
def test_many_distinct_whole_numbers_are_numbers(
    distinct: int, numeric: bool, as_text: bool
) -> None:
    numbers = np.arange(distinct)
    column = numbers.astype(str) if as_text else numbers
    table = read_reports({"worker": numbers, "task": numbers, "answer": column})
    assert table.domain.is_numeric is numeric
    assert table.value.tolist() == numbers.tolist()


def test_a_given_domain_is_kept(written: Write) -> None:
    path = written(HEADER + "w,t,P\nv,t,G\n")
    table = read_reports(path, domain=Domain.ordinal("GPRX"))
    assert table.domain.labels == ("G", "P", "R", "X")
    assert table.value.tolist() == [1, 0]
    with pytest.raises(UsageError, match="the order of these labels is not known"):
        read_reports(path, domain=Kind.ORDINAL)
    numbers = written("worker,task,answer\nw,t,10\nv,t,2\n", "n.csv")
    assert read_reports(numbers, domain=Kind.ORDINAL).domain == Domain.ordinal(["2", "10"])
    assert read_reports(numbers, domain=Kind.NUMERIC).domain == Domain.numeric()
    assert read_reports(numbers, domain=Domain.numeric(0, 10)).domain.high == 10
    labels = Domain.categorical(["0", "1"])
    table = read_reports({"worker": [1], "task": [1], "answer": [1]}, domain=labels)
    assert table.domain.labels == ("0", "1")


def test_domains_are_parsed_from_words() -> None:
    assert parse_domain("categorical") is Kind.CATEGORICAL
    assert parse_domain("Ordinal") is Kind.ORDINAL
    assert parse_domain("numeric") is Kind.NUMERIC
    assert parse_domain("numeric:-1.5..10") == Domain.numeric(-1.5, 10)
    assert parse_domain("categorical: yes, no") == Domain.categorical(["yes", "no"])
    for text, words in [
        ("integers", "no domain 'integers': write categorical, ordinal, numeric"),
        ("numeric:1", "write numeric:0..10"),
        ("numeric:a..b", "write numeric:0..10"),
        ("numeric:5..1", "needs low < high"),
        ("ordinal:a,,b", "has an empty label"),
        ("categorical:a,a", "must differ"),
    ]:
        with pytest.raises(UsageError, match=words):
            parse_domain(text)


def test_other_columns_are_ignored_and_names_are_mapped(written: Write) -> None:
    content = 'note,vote,item,annotator\n"a, ""b""",yes,t1,w1\n,no,t1,w2\n'
    columns = {"worker": "annotator", "task": "item", "answer": "vote"}
    table = read_reports(written(content), columns=columns)
    same(
        table,
        read_reports({"worker": ["w1", "w2"], "task": ["t1", "t1"], "answer": ["yes", "no"]}),
    )
    frame = pd.DataFrame({"vote": ["yes"], "item": ["t"], "annotator": ["w"], 5: [1]})
    assert read_reports(frame, columns=columns).workers.tolist() == ["w"]


@pytest.mark.parametrize(
    "content",
    [
        b"worker,task,answer\r\nw,t,a\r\nv,t,b\r\n",
        b"\xef\xbb\xbfworker,task,answer\nw,t,a\nv,t,b\n",
        b'"worker","task","answer"\n"w","t","a"\n"v","t","b"',
        b"worker,task,answer\nw,t,a\nv,t,b\n\n\n\n",
        b"worker,task,answer\r\nw,t,a\r\nv,t,b\r\n\r\n\r\n",
        b"worker,task,answer\rw,t,a\rv,t,b\r",
        b"worker,task,answer\r\nw,t,a\nv,t,b\r\n",
        b"Worker, Task, Answer\nw,t,a\nv,t,b\n",
        b"\n\nworker,task,answer\n\nw,t,a\nv,t,b\n",
        b"worker,task,answer,,\nw,t,a,,\nv,t,b,,\n",
        b"worker\ttask\tanswer\nw\tt\ta\nv\tt\tb\n",
        b'\xef\xbb\xbf{"worker":"w","task":"t","answer":"a"}\r\n'
        b'{"answer":"b","task":"t","more":[1],"worker":"v"}\r\n',
    ],
    ids=[
        "CRLF", "BOM", "quotes", "blank lines", "blank CRLF lines", "CR", "LF and CRLF", "capitals",
        "blank first lines", "nameless columns", "tabs", "JSONL with BOM",
    ],
)  # fmt: skip
def test_files_as_people_make_them_are_read(written: Write, content: bytes) -> None:
    table = read_reports(written(content, "table"))
    same(table, read_reports({"worker": ["w", "v"], "task": ["t", "t"], "answer": ["a", "b"]}))


def test_a_file_of_lone_quotes_is_read(written: Write) -> None:
    table = read_reports(written(HEADER + 'w,5" nail,a\nv,t,b\n'))
    assert table.tasks.tolist() == ['5" nail', "t"]


def test_letters_of_patterns_in_a_path_stand_for_themselves(written: Write) -> None:
    written(HEADER + "x,t,a\n", "axb.csv")
    for name in ("a*b.csv", "a?b.csv", "a[x]b.csv", "it's.csv", "b=1.csv"):
        assert read_reports(written(HEADER + "w,t,a\n", name)).workers.tolist() == ["w"]


def test_a_gzip_file_with_any_name_is_read(written: Write) -> None:
    path = written(gzip.compress((HEADER + "w,t,a\n").encode()), "answers.csv")
    assert read_reports(path).tasks.tolist() == ["t"]


def test_bad_rows_are_dropped_and_counted(written: Write) -> None:
    rows = "w,t,1\nw,t\n,t,2\nx,,2\ny,t,\nz,t,many\nw,u,nan\nw,v,99\nw,t,1,2\nu,t,3\n"
    path = written("worker,task,value\n" + rows)
    table = read_reports(path, bad_rows="drop", domain=Domain.numeric(0, 10))
    assert table.workers.tolist() == ["w", "u"]
    assert table.tasks.tolist() == ["t"]
    assert table.value.tolist() == [1.0, 3.0]
    assert table.reading is not None
    assert table.reading.rows == 10
    assert table.reading.dropped == {
        "wrong number of fields": 2,
        "empty worker": 1,
        "empty task": 1,
        "empty answer": 1,
        "answer not a number": 1,
        "answer NaN or infinite": 1,
        "answer out of range": 1,
    }
    assert "2 of 10 rows dropped: wrong number of fields" in table.reading.sentences()


def test_bad_labels_are_dropped_and_counted(written: Write) -> None:
    path = written(HEADER + f'w,t,yes\nw,u,maybe\n,v,no\nw,x,{"x" * 2000}\nw,"y"z,yes\nw,q,yes\n')
    table = read_reports(path, bad_rows="drop", domain=Domain.categorical(["yes", "no"]))
    assert table.tasks.tolist() == ["t", "q"]
    assert table.reading is not None
    assert table.reading.dropped == {
        "wrong number of fields": 1,
        "empty worker": 1,
        "answer not among the labels": 1,
        "answer longer than 1,000 characters": 1,
    }
    table = read_reports(path, bad_rows="drop")
    assert table.domain.labels == ("maybe", "yes"), "labels of dropped rows are gone"
    path.write_text(HEADER + "w,t,a\nw\n,u,b\n\nw,t,b\n")
    with pytest.raises(DataError, match="row 6: worker 'w' answers task 't' again"):
        read_reports(path, bad_rows="drop", repeats="error")
    path.write_text(HEADER + "w,t,\n")
    with pytest.raises(DataError, match="no row is left after dropping the bad ones"):
        read_reports(path, bad_rows="drop")


def test_gold_is_read_as_the_domain_says(written: Write, tmp_path: Path) -> None:
    path = written("task,truth\nu,1\nt,2\nt,2\n", "gold.csv")
    gold = read_gold(path, domain=Domain.categorical("12"))
    assert dict(zip(gold.tasks, gold.truths, strict=True)) == {"t": "2", "u": "1"}
    gold = read_gold(path, domain=Domain.numeric())
    assert gold.truths.dtype == np.float64
    for name in ("label", "true_label", "answer", "value", "gold"):
        gold = read_gold(pd.DataFrame({"task": ["t"], name: [1]}), domain=Domain.categorical("1"))
        assert gold.truths.tolist() == ["1"]


def test_colliding_hashes_do_not_mix_names(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read_reports(WORDS)
    monkeypatch.setattr(vocabulary, "_HASHINGS", ("hash({}) & 1", "hash('a' || {})"))
    same(read_reports(WORDS), expected)
    monkeypatch.setattr(vocabulary, "_HASHINGS", ("hash({}) & 1",))
    with pytest.raises(DataError, match="hashes collide"):
        read_reports(WORDS)


def test_real_tables_are_read(real_data: Path) -> None:
    table = read_reports(real_data / "duchenne" / "answers_raw.csv")
    assert table.reading is not None
    assert (table.reading.rows, table.reading.repeated) == (30_319, 12_590)
    assert table.reading.contradicting == 1_558
    assert len(table) == 17_729
    kinds = {
        folder.name: read_reports(folder / "answers.csv").domain.kind
        for folder in real_data.iterdir()
        if (folder / "answers.csv").is_file()
    }
    numeric = {name for name, kind in kinds.items() if kind is Kind.NUMERIC}
    assert {"calories", "emotion"} <= numeric
    assert not numeric & {"bluebirds", "dog", "rte", "web", "adult2", "duchenne", "trec2010"}


def test_nothing_but_the_core_is_needed(written: Write) -> None:
    path = written(HEADER + "w,t,a\n")
    program = (
        "import sys\n"
        "for name in ('pandas', 'polars', 'pyarrow'): sys.modules[name] = None\n"
        "from sottovoce.tables import read_reports, write_columns\n"
        "from sottovoce import pack\n"
        f"table = read_reports({str(path)!r})\n"
        f"packed = {str(path.with_name('packed.parquet'))!r}\n"
        f"pack({str(path)!r}, packed)\n"
        "assert read_reports(packed).workers.tolist() == ['w']\n"
        "assert read_reports({'worker': ['w'], 'task': [1], 'answer': ['a']}).tasks[0] == 1\n"
        "assert 'numba' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)
