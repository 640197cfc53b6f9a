"""Recorded samples from CSV files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sottovoce.errors import DataError
from sottovoce.tables.audit_samples import read_samples


def _files(folder: Path, first: str, second: str) -> tuple[Path, Path]:
    paths = folder / "first.csv", folder / "second.csv"
    for path, text in zip(paths, (first, second), strict=True):
        path.write_text(text)
    return paths


def test_numbers_are_read_with_or_without_names(tmp_path: Path) -> None:
    one, other = read_samples(*_files(tmp_path, "a,b\n1,2\n3,4\n", "5,6\n"))
    assert one.tolist() == [[1, 2], [3, 4]]
    assert other.tolist() == [[5, 6]]


def test_a_number_that_is_not_reported_is_not_a_number(tmp_path: Path) -> None:
    one, _ = read_samples(*_files(tmp_path, "1,\nNULL,4\n", "5,6\n"))
    assert np.array_equal(one, [[1, np.nan], [np.nan, 4]], equal_nan=True)


def test_texts_are_read_as_they_are(tmp_path: Path) -> None:
    one, other = read_samples(*_files(tmp_path, "yes\nno\nyes\n", "yes\nno\n"))
    assert one.ravel().tolist() == ["yes", "no", "yes"]
    assert other.ravel().tolist() == ["yes", "no"]


def test_names_above_texts_are_told_by_coming_once(tmp_path: Path) -> None:
    one, other = read_samples(*_files(tmp_path, "report\nno\nyes\n", "report\nno\n"))
    assert one.ravel().tolist() == ["no", "yes"]
    assert other.ravel().tolist() == ["no"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n3\n", "second.csv, row 2: has 1 cells where the first row has 2"),
        ("", "second.csv: is empty"),
    ],
)
def test_a_damaged_file_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DataError, match=words):
        read_samples(*_files(tmp_path, "1,2\n", text))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read_samples(tmp_path / "none.csv", tmp_path / "none.csv")
