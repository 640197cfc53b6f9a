"""Simulated reports say so wherever they go, and private answers are never quoted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sottovoce.api.input_output import pack
from sottovoce.errors import DataError, SottovoceError
from sottovoce.model import Domain, Kind, Reports
from sottovoce.tables import read_reports, write_columns

Write = Callable[..., Path]
ROWS: dict[str, Any] = {
    "worker": np.array(["a", "b"], object),
    "task": np.array(["t", "t"], object),
    "simulated_report": np.array(["no", "yes"], object),
}


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "csv.gz", "jsonl.gz", "parquet"])
def test_the_stamp_survives_every_format(ending: str, tmp_path: Path) -> None:
    write_columns(ROWS, tmp_path / f"reports.{ending}")
    assert read_reports(tmp_path / f"reports.{ending}").simulated


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame])
def test_the_stamp_survives_every_frame(frame: Callable[[Any], Any]) -> None:
    assert read_reports(frame(ROWS)).simulated


@pytest.mark.parametrize(
    "name", ["Simulated_Report", " simulated_report ", "SIMULATED_REPORT", "\u017fimulated_report"]
)
def test_the_stamp_is_seen_however_it_is_written(name: str, written: Write) -> None:
    assert read_reports(written(f"worker,task,{name}\na,t,no\nb,t,yes\n")).simulated


def test_mapping_the_column_does_not_take_the_stamp_off() -> None:
    assert read_reports(ROWS, columns={"answer": "simulated_report"}).simulated


def test_a_second_column_does_not_take_the_stamps_place() -> None:
    with pytest.raises(DataError, match="could each be the answer"):
        read_reports({**ROWS, "report": ROWS["simulated_report"]})


def test_packing_keeps_the_stamp(tmp_path: Path) -> None:
    pack(ROWS, tmp_path / "packed.parquet")
    packed = read_reports(tmp_path / "packed.parquet")
    assert packed.simulated
    pack(tmp_path / "packed.parquet", tmp_path / "again.parquet")
    assert read_reports(tmp_path / "again.parquet", domain=Domain.ordinal(["no", "yes"])).simulated


def test_other_tables_are_not_stamped(tmp_path: Path) -> None:
    real = {**ROWS, "report": ROWS["simulated_report"]}
    del real["simulated_report"]
    pack(real, tmp_path / "packed.parquet")
    assert not read_reports(real).simulated
    assert not read_reports(tmp_path / "packed.parquet").simulated


def test_numbers_of_simulated_reports_are_simulated() -> None:
    reports = replace(
        Reports.of([0, 1], [0, 0], [0, 1], domain=Domain.ordinal([1, 2])), simulated=True
    )
    assert reports.as_numbers().simulated


CANARY = "CANARY77"
LEAKY: list[tuple[str, str, str, Domain | Kind | None]] = [
    ("an unknown label", "a.csv", f"worker,task,answer\na,t,{CANARY}\n", Domain.categorical("xy")),
    ("a text", "a.csv", f"worker,task,answer\na,t,{CANARY}\n", Domain.numeric(0, 1)),
    ("a number", "a.csv", "worker,task,answer\na,t,7077.5\n", Domain.numeric(0, 1)),
    ("an infinity", "a.csv", "worker,task,answer\na,t,-inf\n", Domain.numeric(0, 1)),
    ("a mixture", "a.csv", f"worker,task,answer\na,t,{CANARY}\nb,t,1\nc,t,2\n", None),
    ("a long cell", "a.csv", f"worker,task,answer\na,t,{CANARY}{'z' * 2000}\n", None),
    ("a long name", "a.csv", f"worker,task,answer\n{CANARY}{'z' * 2000},t,x\n", None),
    ("no header", "a.csv", f"a,t,{CANARY}\nb,t,x\n", None),
    ("half a header", "a.csv", f"worker,task,{CANARY}\nb,t,x\n", None),
    ("a header twice", "a.csv", f"worker,{CANARY},{CANARY}\nb,t,x\n", None),
    ("other marks", "a.csv", f"a;t;{CANARY}\nb;t;x\n", None),
    ("an open quote", "a.csv", f'worker,task,answer\na,t,"{CANARY}\nb,t,x\n', None),
    ("a stray quote", "a.csv", f'worker,task,answer\na,t,"{CANARY}"x\nb,t,x\n', None),
    ("too many fields", "a.csv", f"worker,task,answer\na,t,x,{CANARY}\n", None),
    ("an object", "a.jsonl", f'{{"worker":"a","task":"t","answer":{{"{CANARY}":1}}}}\n',
     Domain.categorical("xy")),
    ("broken JSON", "a.jsonl", f'{{"worker":"a","task":"t","answer":"{CANARY}"\n', None),
    ("a later line", "a.jsonl",
     f'{{"worker":"a","task":"t","answer":"x"}}\n{{"worker":"a","task":"t","answer":{CANARY}}}\n',
     None),
    ("other keys", "a.jsonl", f'{{"worker":"a","task":"t","{CANARY}":"x"}}\n', None),
]  # fmt: skip


@pytest.mark.parametrize(("what", "name", "content", "domain"), LEAKY, ids=lambda v: str(v)[:15])
def test_no_error_quotes_a_cell_of_private_answers(
    what: str, name: str, content: str, domain: Domain | Kind | None, written: Write
) -> None:
    with pytest.raises(SottovoceError) as error:
        read_reports(written(content, name), domain=domain, private=True)
    assert CANARY not in str(error.value), what
    assert "7077" not in str(error.value)
    assert "-inf" not in str(error.value)
    assert error.value.__cause__ is None


@pytest.mark.parametrize("wanted", [Domain.categorical("xy"), Domain.numeric(0, 1)], ids=str)
def test_no_error_quotes_a_cell_of_packed_private_answers(wanted: Domain, tmp_path: Path) -> None:
    for answers, kind in (([CANARY, "x"], "labels"), ([7077.5, 0.5], "numbers")):
        path = tmp_path / f"{kind}.parquet"
        pack({"worker": ["a", "b"], "task": ["t", "t"], "answer": answers}, path)
        with pytest.raises(SottovoceError) as error:
            read_reports(path, domain=wanted, private=True)
        assert CANARY not in str(error.value)
        assert "7077" not in str(error.value)


def test_the_row_and_the_range_are_still_said(written: Write) -> None:
    with pytest.raises(DataError, match=r"row 3, column 'answer': this cell is outside .* 0\.\.1"):
        read_reports(
            written("worker,task,answer\na,t,0.5\nb,t,7\n"),
            domain=Domain.numeric(0, 1),
            private=True,
        )


@pytest.mark.parametrize("column", ["report", "simulated_report"])
def test_reports_are_no_private_answers(column: str, written: Write) -> None:
    with pytest.raises(DataError, match="are these answers"):
        read_reports(written(f"worker,task,{column}\na,t,x\nb,t,y\n"), private=True)
