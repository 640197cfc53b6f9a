"""`sottovoce doctor` finds what is wrong, and says how to put it right."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.cli.conftest import Run

from sottovoce.server.database import Database, upgrade
from sottovoce.testing import running_server


@pytest.fixture
def service(tmp_path: Path) -> Path:
    """A service's folder."""
    database = Database.at(tmp_path / "live")
    upgrade(database)
    database.close()
    return tmp_path / "live"


def _findings(call: Run, *arguments: str) -> tuple[int, dict[str, Any]]:
    done = call("doctor", *arguments, "--json")
    document = json.loads(done.stdout)
    assert document["ok"] is (done.returncode == 0)
    return done.returncode, {found["check"]: found for found in document["checks"]}


def test_a_sound_service_has_no_problem(call: Run, service: Path) -> None:
    code, found = _findings(call, "--data", "live")
    assert code == 0
    assert {found[check]["state"] for check in ("permissions", "owner", "database", "journal")} == {
        "ok"
    }
    assert found["extra server"]["found"] == "installed"


def test_a_folder_that_is_not_there_yet_is_no_problem(call: Run, tmp_path: Path) -> None:
    code, found = _findings(call, "--data", "new")
    assert (code, found["data folder"]["state"]) == (0, "ok")
    assert not (tmp_path / "new").exists()


def test_a_folder_that_others_can_enter_is_a_problem_with_its_fix(call: Run, service: Path) -> None:
    service.chmod(0o755)
    told = call("doctor", "--data", "live")
    assert told.returncode == 1
    assert "problem  permissions: other users of this machine can access live" in told.stdout
    assert "         fix: chmod 700 live\n" in told.stdout
    assert told.stdout.endswith("1 problems, 0 warnings\n")


def test_a_place_for_compiled_code_is_looked_for(
    call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    code, found = _findings(call, "--data", "new")
    assert (code, found["compiled code"]["state"]) == (1, "problem")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "new" / "cache"))
    assert _findings(call, "--data", "new")[0] == 0


def test_a_newer_database_is_a_problem(call: Run, service: Path) -> None:
    database = Database.at(service)
    with database.writing() as connection:
        connection.execute(text("UPDATE sottovoce_schema SET version_num = '9999'"))
    database.close()
    code, found = _findings(call, "--data", "live")
    assert code == 1
    assert "made by a newer release" in found["database"]["found"]
    assert found["database"]["fix"].startswith("pip install --upgrade")


def test_a_damaged_database_is_a_problem(call: Run, service: Path) -> None:
    file = service / "sottovoce.db"
    file.write_bytes(b"not a database at all" * 500)
    code, found = _findings(call, "--data", "live")
    assert code == 1
    assert "is not a SQLite database, or is damaged" in found["database"]["found"]


@pytest.fixture
def durable(postgresql: str) -> Iterator[str]:
    """The tests' PostgreSQL, which flushes nothing, as one that does."""
    database = Database.at(postgresql)
    with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for fsync in ("on", "off"):
            connection.exec_driver_sql(f"ALTER SYSTEM SET fsync = {fsync}")
            connection.exec_driver_sql("SELECT pg_reload_conf()")
            while connection.exec_driver_sql("SHOW fsync").scalar() != fsync:
                time.sleep(0.01)
            if fsync == "on":
                yield postgresql
    database.close()


def test_a_postgresql_that_does_not_flush_is_a_problem(call: Run, postgresql: str) -> None:
    code, found = _findings(call, "--database-url", postgresql)
    assert code == 1
    assert "fsync is off" in found["durability"]["found"]


def test_postgresql_is_looked_at(call: Run, durable: str) -> None:
    code, found = _findings(call, "--database-url", durable)
    assert code == 0
    assert found["PostgreSQL"]["found"].startswith("version 1")
    assert found["durability"]["found"] == "fsync on, synchronous_commit on"
    assert found["encoding"]["found"] == "UTF8"
    assert "permissions" not in found


def test_postgresql_that_does_not_answer_is_a_problem_without_its_password(call: Run) -> None:
    told = call("doctor", "--database-url", "postgresql://ann:swordfish@127.0.0.1:1/x")
    assert told.returncode == 1
    assert "problem  database: PostgreSQL does not respond" in told.stdout
    assert "swordfish" not in told.stdout + told.stderr


def test_a_real_server_passes(call: Run, tmp_path: Path) -> None:
    with running_server(tmp_path / "live") as server:
        code, found = _findings(call, "--data", "live", "--url", server.url)
    assert code == 0
    states = {check: finding["state"] for check, finding in found.items()}
    looked = ("reachable", "ready", "content security policy", "path prefix")
    assert {states[check] for check in looked} == {"ok"}
    assert states["exports"] == "unknown"


def test_a_site_that_does_not_answer_is_a_problem(call: Run) -> None:
    code, found = _findings(call, "--data", "new", "--url", "http://127.0.0.1:1")
    assert code == 1
    assert "does not respond (ConnectError)" in found["reachable"]["found"]


class _BadProxy(BaseHTTPRequestHandler):
    """Answers every request in its own words."""

    server_version, sys_version = "nginx/1.18.0", ""

    def do_GET(self) -> None:
        body = b'{"servers": [{"url": "/elsewhere"}]}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - http.server's name

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def _proxy(context: ssl.SSLContext | None = None) -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _BadProxy)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_what_a_proxy_does_wrong_is_told(call: Run) -> None:
    with _proxy() as port:
        code, found = _findings(call, "--data", "new", "--url", f"http://127.0.0.1:{port}/ask")
    assert code == 1
    wrong = {check for check, finding in found.items() if finding["state"] == "problem"}
    assert wrong == {"content security policy", "path prefix", "refusals"}
    assert (
        found["path prefix"]["fix"] == f"sottovoce serve --public-url http://127.0.0.1:{port}/ask"
    )
    assert found["versions"]["state"] == "warning"


@pytest.fixture
def short_lived(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for this machine that ends in ten days, and its key."""
    key, shown = tmp_path / "key.pem", tmp_path / "shown.pem"
    made = subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "10",
            "-keyout", key, "-out", shown, "-subj", "/CN=localhost",
            "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        ],
        capture_output=True,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("needs openssl")
    return shown, key


def test_a_certificate_is_looked_at(
    call: Run, short_lived: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*short_lived)
    with _proxy(context) as port:
        url = f"https://localhost:{port}"
        _, found = _findings(call, "--data", "new", "--url", url)
        assert found["certificate"]["state"] == "problem"
        assert "not trusted: self" in found["certificate"]["found"]
        monkeypatch.setenv("SSL_CERT_FILE", os.fspath(short_lived[0]))
        _, found = _findings(call, "--data", "new", "--url", url)
    assert found["certificate"]["state"] == "warning"
    assert found["certificate"]["found"].startswith("9 days left")
    assert found["strict transport security"]["found"] == "missing"


def test_an_address_with_a_secret_in_it_is_refused(call: Run) -> None:
    refused = call("doctor", "--url", "https://ann:swordfish@example.org")
    assert refused.returncode == 2
    assert "swordfish" not in refused.stderr
