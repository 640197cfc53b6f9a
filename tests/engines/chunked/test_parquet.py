"""The files that a source names, and the fingerprints of tables."""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
import pytest

from sottovoce.engines.chunked.parquet import fingerprint, parquet_files
from sottovoce.errors import DataError, SottovoceError, UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.parquet", "a/2.parquet", "a/10.parquet", "_temporary/0.parquet",
                 ".hidden.parquet", "a/_metadata.parquet"):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        duckdb.execute(f"COPY (SELECT '{name}' AS task) TO '{tmp_path / name}'")
    (tmp_path / "notes.txt").write_text("worker,task\n")
    return tmp_path


def names(folder: Path, source: object) -> list[str]:
    return [str(path.relative_to(folder)) for path in parquet_files(source).paths]


def test_a_folder_is_its_files_by_name_but_hidden_ones(folder: Path) -> None:
    assert names(folder, folder) == ["a/10.parquet", "a/2.parquet", "b.parquet"]


def test_a_pattern_is_all_it_matches(folder: Path) -> None:
    assert names(folder, f"{folder}/*/[0-9].parquet") == ["_temporary/0.parquet", "a/2.parquet"]
    assert names(folder, f"{folder}/a*") == ["a/10.parquet", "a/2.parquet"]


def test_a_name_with_the_letters_of_a_pattern_is_a_name(folder: Path) -> None:
    (folder / "b.parquet").rename(folder / "[b]*.parquet")
    assert names(folder, f"{folder}/[b]*.parquet") == ["[b]*.parquet"]


def test_a_list_keeps_its_order(folder: Path) -> None:
    assert names(folder, [folder / "b.parquet", str(folder / "a")]) == [
        "b.parquet", "a/10.parquet", "a/2.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("nothing.parquet", r"nothing\.parquet: there is no such file"),
        ("x*.parquet", r"x\*\.parquet: no file matches this"),
        ("empty", "is a folder without Parquet files"),
        (
            "notes.txt",
            r"notes\.txt: is csv: the chunked engine reads Parquet; convert it \(in Duck",
        ),
        ("fake.parquet", "is not a Parquet file, despite its name"),
        ("half.parquet", "is a truncated Parquet file: create or download it again"),
        ("void.parquet", "the file is empty"),
    ],
)
def test_what_is_no_table_is_refused(folder: Path, source: str, words: str) -> None:
    (folder / "empty").mkdir()
    (folder / "fake.parquet").write_text("worker,task,answer\n1,2,3\n")
    (folder / "half.parquet").write_bytes((folder / "b.parquet").read_bytes()[:-9])
    (folder / "void.parquet").touch()
    with pytest.raises(DataError, match=words):
        parquet_files(folder / source)


@pytest.mark.parametrize("source", [3, [], {"worker": [1]}, "-"])
def test_what_is_no_file_is_refused(source: object) -> None:
    with pytest.raises(SottovoceError, match=r"path, a pattern|give files|no such file"):
        parquet_files(source)


def test_a_file_that_is_named_twice_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"b\.parquet is named twice: its answers would count tw"):
        parquet_files([folder / "b.parquet", folder])


def test_a_file_that_changes_is_another(folder: Path) -> None:
    path = folder / "b.parquet"
    before, when = fingerprint([path]), path.stat().st_mtime_ns
    assert fingerprint([path]) == before
    duckdb.execute(f"COPY (SELECT 'c.parquet' AS task) TO '{path}'")
    os.utime(path, ns=(when, when))
    assert fingerprint([path]) != before
