"""Every method gives on a real cluster the result of one machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.contracts.large_engines import CASES, Case, compare, every_table, expected
from tests.engines.spark.engines import Packed

from sottovoce import infer_into

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> dict[str, Path]:
    """Each table's file or folder, written once."""
    return every_table(tmp_path_factory.mktemp("tables"), real_data)


@pytest.fixture(scope="module")
def packed() -> dict[str, Packed]:
    """Packed tables that the tests of one session share; another session has others."""
    return {}


OFTEN = {
    *("rte-majority-vote", "rte-td", "rte-crh", "rte-dawid-skene", "rte-latent-label"),
    *("rte-auto", "calories-auto", "calories-mean", "calories-median"),
    *("calories-crh", "calories-gtm"),
    *("web-crh", "dog-reports-auto"),
}
"""One case of each kind of sum, table and report; `test_one_call_does_it_all` is synthetic."""

IN_TURN = [
    pytest.param(case, id=str(case), marks=[pytest.mark.slow] * (str(case) not in OFTEN))
    for case in CASES
]
"""All of them, most in the slow runs only, because jobs take a while to start."""


@pytest.mark.parametrize("case", IN_TURN)
def test_it_finds_on_a_cluster_what_one_machine_finds(
    case: Case, cluster_session: SparkSession, packed: dict[str, Packed], tables: dict[str, Path],
    tmp_path: Path,
) -> None:  # fmt: skip
    session = cluster_session.sparkContext.applicationId
    shared = packed.setdefault(session or "", Packed(cluster_session))
    found = shared.infer(case, tables[case.table], tmp_path)
    compare(expected(case, tables[case.table]), found)


def test_one_call_does_it_all(
    cluster_session: SparkSession, tables: dict[str, Path], tmp_path: Path
) -> None:
    case = Case("made-up", "dawid-skene", {"repeats": "last"})
    source = tables[case.table]
    found = infer_into(
        source, tmp_path / "out", engine="spark", session=cluster_session, **case.options
    )
    compare(expected(case, source), found)
