from __future__ import annotations

import shutil
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import Connection, select

from sottovoce.server.database import Database
from sottovoce.server.database.schema import events
from sottovoce.server.database.schema_version import VERSION_TABLE
from sottovoce.server.service import Service
from sottovoce.server.web.routes import health
from sottovoce.testing.server_thread import RunningServer, running_server


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    made = Service.on(database)
    yield made
    made.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("data")) as running:
        yield running


def test_a_server_that_can_store_is_ready_and_leaves_no_trace_of_trying(service: Service) -> None:
    assert health._fault(service) is None
    with service.database.reading() as connection:
        assert connection.execute(select(events)).all() == []


def test_a_foreign_schema_is_not_ready(service: Service) -> None:
    with service.database.writing() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
    assert str(health._fault(service)).startswith("schema:")


def test_missing_tables_are_not_ready(service: Service) -> None:
    with service.database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE events")
    assert health._fault(service) == "database: does not accept writes"


def test_a_writer_that_is_stuck_is_not_ready(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "PATIENCE", 0.05)
    free = threading.Event()

    def stuck(_: Connection) -> None:
        free.wait(5)

    service.writer.change(stuck)
    time.sleep(0.05)  # the writer has begun
    fault = health._fault(service)
    free.set()
    assert str(fault).startswith("database: takes more than")


def test_a_full_disk_is_not_ready(
    tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    if service.database.file is None:
        pytest.skip("PostgreSQL looks after its own disk")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1 << 40, 1 << 40, 1 << 20))
    assert str(health._fault(service)).startswith("disk: less than 64 MiB")


def test_probes_need_no_credential(server: RunningServer) -> None:
    for path in ("/healthz", "/readyz"):
        answer = httpx.get(server.url + path)
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_what_fails_is_said_in_the_one_shape(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "FRESH", -1.0)
    monkeypatch.setattr(health, "_fault", lambda _: "disk: full")
    answer = httpx.get(server.url + "/readyz")
    assert answer.status_code == 503
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "10"
    assert answer.json()["reason"] == "unavailable"
    assert answer.json()["detail"] == "disk: full"


def test_a_check_is_not_repeated_for_everyone_who_asks(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "FRESH", -1.0)
    httpx.get(server.url + "/readyz")
    monkeypatch.setattr(health, "FRESH", 60.0)
    monkeypatch.setattr(health, "_fault", lambda _: "asked again")
    assert httpx.get(server.url + "/readyz").status_code == 200
