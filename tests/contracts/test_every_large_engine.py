"""Every engine for large tables gives the result of the engine of one machine, for every method."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts.large_engines import CASES, Case, compare, every_table, expected

from sottovoce import infer_into

ENGINES = ["chunked"]
"""Spark's engine needs a cluster: the tests of Spark compare it in the same way."""


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> dict[str, Path]:
    """Each table's file or folder, written once."""
    return every_table(tmp_path_factory.mktemp("tables"), real_data)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_finds_what_one_machine_finds(
    case: Case, engine: str, tables: dict[str, Path], tmp_path: Path
) -> None:
    source = tables[case.table]
    found = infer_into(source, tmp_path / "out", engine=engine, **case.options)  # type: ignore[arg-type]
    compare(expected(case, source), found)
