"""Reading refuses the same tables with the same words as in memory; files and rows are named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.engines.chunked.packed_rows import BUCKETED, COMPILED, PLAIN, packed
from tests.engines.chunked.test_same_rows import BAD, written

import sottovoce
from sottovoce.engines.chunked.packed_table import Sizes
from sottovoce.engines.chunked.table import open_table
from sottovoce.errors import DataError, SottovoceError, UsageError
from sottovoce.model import Domain

WAYS = pytest.mark.parametrize(
    "sizes", [PLAIN, COMPILED, BUCKETED], ids=["plain", "fast", "buckets"]
)
GOOD = "w AS worker, t AS task, a AS answer"

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (select, {}) for name, select in BAD.items()},
    "no task": ("w AS worker, a AS answer", {}),
    "two answers": ("w AS worker, t AS task, a AS answer, a AS label", {}),
    "a mapped column": (GOOD, {"columns": {"worker": "werker"}}),
    "an unknown role": (GOOD, {"columns": {"wroker": "w"}}),
    "answers, not reports": (GOOD, {"reported": True}),
    "fractions for names": ("w / 2 AS worker, t AS task, a AS answer", {}),
    "nested names": ("[w] AS worker, t AS task, a AS answer", {}),
    "text among numbers": (
        "w AS worker, t AS task, CASE WHEN i = 99 THEN 'x' ELSE i::VARCHAR END AS answer", {}
    ),
    "labels outside": (GOOD, {"domain": Domain.categorical([0, 1])}),
    "numbers outside": (GOOD, {"domain": Domain.numeric(0, 1)}),
    "repeated pairs": (GOOD, {"repeats": "error"}),
    "repeated pairs of texts": (
        "'w' || w AS worker, 't' || t AS task, i AS value", {"repeats": "error"}
    ),
    "no rows left": ("NULL::INT AS worker, t AS task, a AS answer", {"bad_rows": "drop"}),
    "no way to treat repeats": (GOOD, {"repeats": "some"}),
    "no way to treat bad rows": (GOOD, {"bad_rows": "some"}),
}  # fmt: skip


@WAYS
@pytest.mark.parametrize(("select", "options"), REFUSED.values(), ids=REFUSED)
def test_in_the_words_of_reading_into_memory(
    tmp_path: Path, sizes: Sizes, select: str, options: dict[str, Any]
) -> None:
    path = written(tmp_path, select)
    with pytest.raises(SottovoceError) as wanted:
        sottovoce.read(path, **options)
    with pytest.raises(SottovoceError) as found:
        packed(path, tmp_path / "work", sizes, **options)
    assert str(found.value) == str(wanted.value)
    assert type(found.value) is type(wanted.value)


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Files of 100 rows each."""
    paths = [tmp_path / f"{number}.parquet" for number in range(3)]
    for number, path in enumerate(paths):
        duckdb.execute(
            f"COPY (SELECT nullif(i + {number} * 100, 217) AS worker, i // 2 AS task, 1 AS label "
            f"FROM range(100) AS t(i)) TO '{path}'"
        )
    return paths


@WAYS
def test_a_fault_is_named_with_its_file_and_row(
    tmp_path: Path, sizes: Sizes, three: list[Path]
) -> None:
    with pytest.raises(DataError, match=r"2\.parquet, row 18, column 'worker': empty cell"):
        packed(three, tmp_path / "work", sizes)


@WAYS
def test_a_repeated_pair_is_named_with_its_file_and_row(
    tmp_path: Path, sizes: Sizes, three: list[Path]
) -> None:
    duckdb.execute(f"COPY (SELECT 250 AS worker, 25 AS task, 1 AS label) TO '{tmp_path}/3.parquet'")
    with pytest.raises(
        DataError, match=r"3\.parquet, row 1: worker 250 answers task 25 again \(1 r"
    ):
        packed(
            [*three, tmp_path / "3.parquet"], tmp_path / "work", sizes,
            repeats="error", bad_rows="drop",
        )  # fmt: skip


def test_a_file_without_a_column_of_the_first_is_refused(tmp_path: Path, three: list[Path]) -> None:
    duckdb.execute(f"COPY (SELECT 1 AS worker, 2 AS task) TO '{three[1]}'")
    with pytest.raises(
        DataError, match=r"1\.parquet: there is no column 'label', which .*0\.parquet has"
    ):
        packed(three, tmp_path / "work")


def test_a_packed_table_is_no_table_of_answers(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    sottovoce.pack(path, tmp_path / "packed.parquet")
    with pytest.raises(DataError, match=r"packed\.parquet: is a packed table, which fits into mem"):
        packed(tmp_path / "packed.parquet", tmp_path / "work")


def test_a_table_without_rows(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD, rows=0)
    with pytest.raises(DataError, match="the table has a header but no rows"):
        packed(path, tmp_path / "work")


def test_a_file_that_is_damaged_inside(tmp_path: Path) -> None:
    path = written(tmp_path, "w AS worker, t AS task, hash(i) / 1e3 AS value", rows=50_000)
    content = bytearray(path.read_bytes())
    content[1000:60_000] = bytes(59_000)
    path.write_bytes(content)
    with pytest.raises(
        DataError, match=r"answers\.parquet: cannot be read as parquet: \S"
    ) as found:
        packed(path, tmp_path / "work")
    assert "\n" not in str(found.value)


def test_more_labels_than_can_be_held(tmp_path: Path) -> None:
    path = written(tmp_path, "w AS worker, t AS task, i AS label", rows=2_500_000)
    with pytest.raises(
        DataError, match=r"column 'label': about 2,\d+,\d+ distinct labels: if they"
    ):
        packed(path, tmp_path / "work")


def test_little_memory_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    with pytest.raises(UsageError, match="memory= must be at least 256 MiB, not 1,000 bytes"):
        open_table(path, work=tmp_path / "work", memory=1000)


@pytest.mark.parametrize("fails", ["reading", "packing"])
def test_what_failed_leaves_nothing_half_packed(tmp_path: Path, fails: str) -> None:
    options = {"domain": Domain.categorical([0])} if fails == "reading" else {"repeats": "error"}
    with pytest.raises(DataError):
        packed(written(tmp_path, GOOD), tmp_path / "work", **options)
    assert list((tmp_path / "work").iterdir()) == []
