"""Repeated pairs are found, counted and settled as a slow reading of the policy says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sottovoce.errors import DataError
from sottovoce.model import Domain, Reports
from sottovoce.tables import duplicates, read_reports
from sottovoce.tables.duplicates import repeated_pairs_compiled, repeated_pairs_plain
from sottovoce.tables.vocabulary import looked_up_compiled, looked_up_plain

Rows = list[tuple[int, int, int]]
rows_of_few = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=40
)


def settled_slowly(rows: Rows, policy: str) -> tuple[Rows, int, int]:
    """The rows that remain, how many repeat, and how many pairs contradict themselves."""
    pairs: dict[tuple[int, int], list[int]] = {}
    for index, (worker, task, _) in enumerate(rows):
        pairs.setdefault((worker, task), []).append(index)
    part = {"first": slice(1), "last": slice(-1, None), "keep": slice(None)}[policy]
    kept = sorted(index for places in pairs.values() for index in places[part])
    contradicting = sum(len({rows[i][2] for i in places}) > 1 for places in pairs.values())
    return [rows[i] for i in kept], len(rows) - len(pairs), contradicting


def as_rows(table: Reports) -> Rows:
    """The rows as they were given, names instead of codes."""
    labels = np.array(table.domain.labels)
    columns = (table.workers[table.worker], table.tasks[table.task], labels[table.value])
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("policy", ["first", "last", "keep"])
@settings(max_examples=40, deadline=None)
@given(rows=rows_of_few)
def test_the_policy_is_what_a_slow_reader_makes_of_it(
    policy: Literal["first", "last", "keep"], rows: Rows
) -> None:
    worker, task, value = (list(column) for column in zip(*rows, strict=True))
    table = read_reports({"worker": worker, "task": task, "label": value}, repeats=policy)
    kept, repeated, contradicting = settled_slowly(rows, policy)
    assert as_rows(table) == kept
    assert table.reading is not None
    assert (table.reading.repeated, table.reading.contradicting) == (repeated, contradicting)


@settings(deadline=None)  # the first example compiles
@given(rows=rows_of_few, as_float=st.booleans())
def test_the_compiled_way_equals_the_plain_one(rows: Rows, as_float: bool) -> None:
    worker, task, value = np.array(rows, np.int32).T.copy()
    values: npt.NDArray[np.int32] | npt.NDArray[np.float64] = value
    if as_float:
        values = value.astype(np.float64)
    plain = repeated_pairs_plain(worker, task, values)
    compiled = repeated_pairs_compiled(worker, task, values)
    assert (plain.rows, plain.contradicting) == (compiled.rows, compiled.contradicting)
    np.testing.assert_array_equal(plain.first, compiled.first)
    np.testing.assert_array_equal(plain.last, compiled.last)


def test_large_tables_take_the_compiled_way_and_agree() -> None:
    rng = np.random.default_rng(5)
    columns = {
        "worker": rng.integers(0, 300, 120_000),
        "task": rng.integers(0, 2000, 120_000),
        "label": rng.integers(0, 4, 120_000),
    }
    table = read_reports(columns)
    worker, task, value = (columns[name].astype(np.int32) for name in ("worker", "task", "label"))
    found = repeated_pairs_plain(worker, task, value)
    assert table.reading is not None
    assert table.reading.repeated == found.rows > 0
    assert table.reading.contradicting == found.contradicting > 0
    assert table.workers[table.worker].tolist() == worker[found.first].tolist()
    assert table.tasks[table.task].tolist() == task[found.first].tolist()


def test_small_tables_never_wait_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(*_: object) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(duplicates, "repeated_pairs_compiled", compiled)
    read_reports({"worker": ["w"], "task": ["t"], "label": ["a"]})


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=50, unique=True), st.data())
def test_codes_are_found_alike_by_both_ways(hashes: list[int], data: st.DataObject) -> None:
    vocabulary = np.array([*hashes], np.uint64)
    picks = data.draw(st.lists(st.integers(0, len(hashes) - 1), max_size=80))
    codes = np.arange(len(hashes), dtype=np.int32)[::-1].copy()
    rows = vocabulary[np.array(picks, np.int64)]
    expected = codes[np.array(picks, np.int64)].tolist()
    assert looked_up_plain(rows, vocabulary, codes).tolist() == expected
    assert looked_up_compiled(rows, vocabulary, codes).tolist() == expected


@pytest.mark.parametrize("look_up", [looked_up_plain, looked_up_compiled])
def test_a_table_that_changes_while_it_is_read_is_refused(
    look_up: Callable[..., npt.NDArray[np.int32]],
) -> None:
    vocabulary, codes = np.array([5, 9], np.uint64), np.array([0, 1], np.int32)
    for unknown in (1, 7, 2**64 - 1):
        with pytest.raises(DataError, match="the table changed while it was read"):
            look_up(np.array([9, unknown], np.uint64), vocabulary, codes)


def test_the_error_policy_names_the_first_repeat() -> None:
    table = {"worker": [1, 2, 1, 2], "task": [5, 5, 5, 5], "value": [0.5, 1.0, 0.5, 2.0]}
    with pytest.raises(
        DataError, match=r"row 3: worker 1 answers task 5 again \(2 rows repeat a pair\): pass"
    ):
        read_reports(table, repeats="error")
    distinct = read_reports({**table, "task": [1, 2, 3, 4]}, repeats="error")
    assert distinct.domain == Domain.numeric()
