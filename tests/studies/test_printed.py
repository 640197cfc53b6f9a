"""The papers' numbers, as data."""

from __future__ import annotations

import pytest

from sottovoce.errors import UsageError
from sottovoce_studies.paper_tables import printed

TABLES = [
    "P1 Table 1", "P1 Table 2", "P1 Table 3", "P1 accuracy without noise", "P2 Table 1", "P2 data",
    "P2 time", "P4 Table II", "P4 examples", "P4 claims",
]  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_a_source_and_an_entry_for_every_column(name: str) -> None:
    table = printed(name)
    assert table.source.startswith(name[:2])
    assert {len(row) for row in table.rows} == {len(table.columns)}


def test_the_tables_of_changes_fall_with_epsilon_in_every_column() -> None:
    for name in ("P1 Table 2", "P1 Table 3"):
        table = printed(name)
        assert table.column("epsilon") == (
            1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.01, 0.001, 0.0,
        )  # fmt: skip
        for column in table.columns[1:]:
            assert list(table.column(column)) == sorted(table.column(column))


def test_a_number_is_found_by_its_column_and_row() -> None:
    assert printed("P1 Table 2").number("two-layer TD", 0.0) == 0.1992
    assert printed("P4 examples").number("bound", "Theorem 3") == 3.551
    assert printed("P2 time").column("milliseconds") == (789.3,)


def test_what_is_not_printed_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing printed is called 'P1 Table 9'"):
        printed("P1 Table 9")
