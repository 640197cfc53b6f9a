"""A campaign's reports in parts: the same rows as in one file, from one moment, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sqlalchemy import text
from tests.server.campaigns.test_exports import HIDING, LEAVES, METRES, SETS, TASKS, content
from tests.server.crowds import opened, report
from tests.server.drafts import running
from tests.server.sealed.committees import sealed_policy

from sottovoce.errors import DataError, Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy, Task, Terms
from sottovoce.server.campaigns import partitioned_export
from sottovoce.server.campaigns.drafts import create_draft
from sottovoce.server.campaigns.exports import export
from sottovoce.server.campaigns.partitioned_export import PartitionedExport, export_parts
from sottovoce.server.database import Database
from sottovoce.server.service import Service
from sottovoce.tables.duckdb_connection import text_of

STARS = make_policy(Domain.ordinal([1, 2, 3]), "randomized-response", Target(4.0, answers=6))
POLICIES = {"labels": LEAVES, "NULL": HIDING, "sets": SETS, "numbers": METRES, "integers": STARS}
WORKERS, REPORTS = 9, 54


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as service:
        yield service


def crowd(service: Service, policy: Policy = LEAVES) -> tuple[str, str]:
    id, invite = opened(service, policy, TASKS)
    report(service, id, invite, workers=WORKERS, seed=5)
    return id, invite


def table(files: Path) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Columns with their types, and rows as they stand."""
    scan = f"SELECT * FROM read_parquet({text_of(str(files))})"
    with duckdb.connect() as connection:
        columns = connection.execute(f"DESCRIBE {scan}").fetchall()
        return [row[:2] for row in columns], connection.execute(scan).fetchall()


def one_file(service: Service, id: str, folder: Path) -> Path:
    file = folder / "reports.parquet"
    file.write_bytes(content(export(service, id, "reports.parquet")))
    return file


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_all_parts_together_are_the_export_of_one_file(
    service: Service, policy: Policy, tmp_path: Path
) -> None:
    id, _ = crowd(service, policy)
    done = export_parts(service.database, id, tmp_path / "out", parts=3)
    assert done == PartitionedExport(parts=3, reports=REPORTS, simulated=False)
    assert table(tmp_path / "out/reports/*.parquet") == table(one_file(service, id, tmp_path))


def test_rows_do_not_depend_on_how_many_are_read_at_once(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id, _ = crowd(service)
    export_parts(service.database, id, tmp_path / "at once")
    monkeypatch.setattr(partitioned_export, "CHUNK", 1)
    export_parts(service.database, id, tmp_path / "one by one")
    parts = (tmp_path / way / "reports" / "*.parquet" for way in ("at once", "one by one"))
    first, second = map(table, parts)
    assert first == second


def test_a_folder_holds_parts_the_policy_and_a_mark_that_it_is_whole(
    service: Service, tmp_path: Path
) -> None:
    id, _ = crowd(service)
    export_parts(service.database, id, tmp_path / "out", parts=2)
    found = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file()}
    names = ("reports/part-00000.parquet", "reports/part-00001.parquet", "policy.json", "_SUCCESS")
    assert {name for name in found if not name.startswith("sottovoce.db")} == {
        f"out/{name}" for name in names
    }
    assert Policy.parse((tmp_path / "out/policy.json").read_bytes()) == LEAVES
    assert (tmp_path / "out/_SUCCESS").read_bytes() == b""


def test_a_part_has_all_reports_of_its_workers(service: Service, tmp_path: Path) -> None:
    id, _ = crowd(service)
    export_parts(service.database, id, tmp_path / "out", parts=4)
    files = sorted((tmp_path / "out/reports").iterdir())
    parts = [{row[0] for row in table(file)[1]} for file in files]
    assert sum(len(part) for part in parts) == len(set().union(*parts)) == WORKERS
    assert [int(worker[0], 16) // 4 for part in parts for worker in sorted(part)] == [
        number for number, part in enumerate(parts) for _ in part
    ]


def test_a_campaign_without_reports_has_a_part_with_its_columns(
    service: Service, tmp_path: Path
) -> None:
    id, _ = opened(service, LEAVES, TASKS)
    assert export_parts(service.database, id, tmp_path / "out").parts == 1
    assert table(tmp_path / "out/reports/*.parquet") == table(one_file(service, id, tmp_path))


def test_parts_show_one_moment_while_reports_arrive(service: Service, tmp_path: Path) -> None:
    id, invite = crowd(service)
    before = table(one_file(service, id, tmp_path))

    def more(_: str, rows: int) -> None:
        report(service, id, invite, workers=2, seed=rows)

    export_parts(service.database, id, tmp_path / "out", parts=3, progress=more)
    assert table(tmp_path / "out/reports/*.parquet") == before
    assert table(one_file(service, id, tmp_path)) != before


def test_simulated_reports_keep_their_stamp(service: Service, tmp_path: Path) -> None:
    id, _ = crowd(service)
    with service.database.writing() as connection:
        connection.execute(text("UPDATE campaigns SET simulated = 1"))
    assert export_parts(service.database, id, tmp_path / "out").simulated
    columns, _ = table(tmp_path / "out/reports/*.parquet")
    assert [name for name, _ in columns] == ["worker", "task", "simulated_report"]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_what_stops_an_export_leaves_nothing(
    service: Service, failure: type[BaseException], tmp_path: Path
) -> None:
    id, _ = crowd(service)

    def stop(name: str, _: int) -> None:
        if name == "part-00001.parquet":
            raise failure

    place = tmp_path / "place"
    place.mkdir()
    with pytest.raises(failure):
        export_parts(service.database, id, place / "out", parts=2, progress=stop)
    assert list(place.iterdir()) == []


def test_reports_that_are_not_counted_are_not_passed_over(service: Service, tmp_path: Path) -> None:
    id, _ = crowd(service)
    with service.database.writing() as connection:
        connection.execute(text("UPDATE campaigns SET reports = reports + 1"))
    with pytest.raises(DataError, match=f"has {REPORTS} reports but counts {REPORTS + 1}: run"):
        export_parts(service.database, id, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sealed_campaign_has_no_reports_to_export(service: Service, tmp_path: Path) -> None:
    terms = Terms("Leaves", "Which one?", sealed_policy(service))
    id = create_draft(service, terms, [Task("t1", "And this?")]).id
    with pytest.raises(Refused, match="nobody can read the reports of a sealed") as refused:
        export_parts(service.database, id, tmp_path / "out")
    assert refused.value.reason is Reason.NOT_FOUND
    assert not (tmp_path / "out").exists()
