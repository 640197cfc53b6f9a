"""`sottovoce serve` as people run it: a process of its own."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from sottovoce.cli.server.service import serve
from sottovoce.errors import UsageError, install_command
from sottovoce.files.locks import folder_lock
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.schema_version import VERSION_TABLE

CANARY = "canary-7f3a"
LINK = re.compile(r"http://\S+/setup#sva_[A-Za-z0-9_-]{43}")
PATIENCE = 60.0


@dataclass
class Running:
    """A server's process, what it printed, and where it writes its log."""

    process: subprocess.Popen[str]
    printed: str
    log: Path

    @property
    def url(self) -> str:
        return str(re.findall(r"address +(\S+)", self.printed)[0])

    @property
    def link(self) -> str:
        return str(LINK.findall(self.printed)[0])

    def answer(self) -> None:
        """Wait for an answer: what was sent before it has been seen."""
        assert httpx.get(self.url + "/healthz", timeout=PATIENCE).status_code == 200

    def set_up(self) -> httpx.Response:
        headers = {"Authorization": "Bearer " + self.link.partition("#")[2]}
        return httpx.post(
            self.url + "/api/v1/setup", json={"name": "first"}, headers=headers, timeout=PATIENCE
        )

    def half_a_request(self) -> tuple[bytes, bytes]:
        """A request that the server takes and waits for, and the rest of it."""
        body = b'{"name": "slow"}'
        head = (
            "POST /api/v1/setup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            f"Authorization: Bearer {self.link.partition('#')[2]}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body[:5], body[5:]

    def stop(self, sent: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(sent)
        return self.process.wait(PATIENCE)


@contextmanager
def _serving(data: Path, *options: str, database: str | None = None) -> Iterator[Running]:
    environment = os.environ | ({"SOTTOVOCE_DATABASE_URL": database} if database else {})
    log = data.parent / f"{data.name}.log"
    command = [sys.executable, "-m", "sottovoce", "serve", "--data", str(data), "--port", "0"]
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        ) as process,
    ):
        assert process.stdout is not None
        printed = ""
        while not printed.endswith("Ctrl-C stops the server.\n"):
            line = process.stdout.readline()
            assert line, log.read_text()
            printed += line
        try:
            yield Running(process, printed, log)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    folder = tmp_path_factory.mktemp("serving") / "data"
    with _serving(folder, "--metrics-port", str(port)) as running:
        running.printed += f"metrics {port}\n"
        running.answer()
        yield running


@pytest.fixture
def data(server: Running) -> Path:
    return server.log.with_suffix("")


def test_the_printed_link_makes_a_token_once_and_is_in_no_log(server: Running) -> None:
    token = server.set_up().json()["token"]
    answer = httpx.get(
        server.url + "/api/v1/campaigns", headers={"Authorization": f"Bearer {token}"}
    )
    assert answer.json() == {"campaigns": []}
    assert server.set_up().status_code == 403
    assert "sva_" not in server.log.read_text()
    assert "svk_" not in server.log.read_text()


def test_what_the_server_keeps_is_for_its_owner_only(data: Path) -> None:
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    files = list(data.iterdir())
    assert {"README.txt", "lock", "sottovoce.db"} <= {file.name for file in files}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}


def test_nothing_hostile_reaches_the_log(server: Running) -> None:
    address = ("127.0.0.1", int(server.url.rpartition(":")[2]))
    raw = [
        f"{CANARY}\r\n\r\n",
        f"GET /{CANARY} HTTP/1.1\r\nHost: {CANARY}\r\nX: {CANARY}\x00\r\n\r\n",
        f"GET /c/{CANARY}?{CANARY} HTTP/1.1\r\nHost: x\r\nUser-Agent: {CANARY}\r\n\r\n",
        f"PUT /api/v1/campaigns/{CANARY}/reports/{CANARY} HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {CANARY}\r\nContent-Length: 11\r\n\r\n{CANARY}",
        f"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: {CANARY}\r\nConnection: upgrade\r\n\r\n",
        f"POST /api/v1/setup HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{CANARY}",
        f"GET /%ff%00{CANARY} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.9\r\n\r\n",
    ]
    for text in raw:
        with socket.create_connection(address) as connection:
            connection.sendall(text.encode("latin-1"))
            connection.settimeout(5)
            connection.shutdown(socket.SHUT_WR)
            while connection.recv(65_536):
                pass
    httpx.get(server.url + "/healthz")
    log = server.log.read_text()
    assert CANARY not in log
    assert not re.search(r"127\.0\.0\.1|203\.0\.113", log)
    for line in log.splitlines():
        assert {"time", "level", "event"} <= json.loads(line).keys()


def test_requests_of_requesters_have_a_line_and_those_of_workers_have_none(
    server: Running,
) -> None:
    httpx.get(server.url + "/api/v1/campaigns")
    httpx.get(server.url + "/api/v1/campaigns/leaf0/offer")
    httpx.put(f"{server.url}/api/v1/campaigns/leaf0/reports/{secrets.token_hex(16)}", content="{}")
    httpx.get(server.url + "/c/leaf0")
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    routes = [line["route"] for line in lines if line["event"] == "request"]
    assert "/api/v1/campaigns" in routes
    assert not [route for route in routes if route.startswith("/c/") or "offer" in route]
    assert not [route for route in routes if "report" in route]


def test_metrics_are_shown_without_a_token_on_a_port_of_this_machine(server: Running) -> None:
    port = server.printed.split("metrics ")[1].strip()
    text = httpx.get(f"http://127.0.0.1:{port}/metrics").text
    assert "sottovoce_reports_total" in text


def test_answers_do_not_say_what_serves_them(server: Running) -> None:
    assert "server" not in httpx.get(server.url + "/healthz").headers


def test_a_second_server_is_kept_out_of_the_folder(
    server: Running, data: Path, restored_umask: None
) -> None:
    with pytest.raises(UsageError, match="in use by a running server"):
        serve(data=data, port=0)


def test_a_server_that_is_told_to_stop_finishes_what_it_took(tmp_path: Path) -> None:
    with _serving(tmp_path / "data") as running:
        address = ("127.0.0.1", int(running.url.rpartition(":")[2]))
        with socket.create_connection(address) as connection:
            begun, rest = running.half_a_request()
            connection.sendall(begun)
            running.answer()
            running.process.send_signal(signal.SIGTERM)
            _wait_until_refused(address)
            connection.sendall(rest)
            connection.settimeout(10)
            assert connection.recv(100).startswith(b"HTTP/1.1 201")
        assert running.process.wait(10) == 0
        assert "stopped" in running.log.read_text()


@pytest.mark.slow
def test_a_second_signal_stops_the_server_at_once(tmp_path: Path) -> None:
    with _serving(tmp_path / "data") as running:
        address = ("127.0.0.1", int(running.url.rpartition(":")[2]))
        with socket.create_connection(address) as connection:
            connection.sendall(running.half_a_request()[0])
            running.answer()
            running.process.send_signal(signal.SIGINT)
            _wait_until_refused(address)
            start = time.monotonic()
            assert running.stop(signal.SIGINT) == 130
            assert time.monotonic() - start < 2


@pytest.mark.slow
def test_several_processes_share_a_port_and_their_counts_add_up(
    tmp_path: Path, postgresql: str
) -> None:
    empty = Database.at(postgresql)
    with empty.engine.begin() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    empty.close()
    with _serving(tmp_path / "data", "--processes", "2", database=postgresql) as running:
        assert "postgres:" not in running.printed
        headers = {"Authorization": f"Bearer {running.set_up().json()['token']}"}
        for _ in range(40):  # each on a connection of its own, so that both processes serve
            assert httpx.get(running.url + "/setup").status_code == 200
        text = httpx.get(running.url + "/metrics", headers=headers).text
        assert 'sottovoce_requests_total{method="GET",route="/setup",status="200"} 40.0' in text
        _wait_for(running.log, '"started"', times=2)
        assert running.stop() == 0
        assert running.log.read_text().count('"event": "stopped"') == 2


@pytest.fixture
def restored_umask() -> Iterator[None]:
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.mark.usefixtures("restored_umask")
class TestRefusals:
    """Everything that can be wrong is said before anything is made."""

    def test_several_processes_need_postgresql(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="--processes above 1 needs PostgreSQL"):
            serve(data=tmp_path / "data", processes=2)
        assert not (tmp_path / "data").exists()

    def test_a_port_that_is_taken(self, tmp_path: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(UsageError, match=f"port {port} .* in use.*--port"):
                serve(data=tmp_path / "data", port=port)
        assert not (tmp_path / "data").exists()

    def test_a_host_that_is_not_here(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"this machine has no host 'no.such.host.invalid'"):
            serve(data=tmp_path / "data", host="no.such.host.invalid", port=0)

    def test_a_public_url_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="the public URL must start with"):
            serve(data=tmp_path / "data", public_url="example.org")

    def test_a_database_url_that_is_none(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="SQLite or PostgreSQL, not mysql"):
            serve(data=tmp_path / "data", database_url="mysql://host/name")

    def test_a_database_that_does_not_answer(self, tmp_path: Path) -> None:
        url = "postgresql://ada:secret@127.0.0.1:1/name"
        with pytest.raises(UsageError, match="PostgreSQL does not respond") as refused:
            serve(data=tmp_path / "data", database_url=url, port=0)
        assert "secret" not in str(refused.value)

    def test_a_folder_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "data").write_text("mine")
        with pytest.raises(UsageError, match="is a file: name a folder"):
            serve(data=tmp_path / "data", port=0)
        assert (tmp_path / "data").read_text() == "mine"

    def test_a_folder_that_another_holds(self, tmp_path: Path) -> None:
        with folder_lock(tmp_path), pytest.raises(UsageError, match="stop it first"):
            serve(data=tmp_path, port=0)

    def test_a_newer_database(self, tmp_path: Path) -> None:
        newer = Database.at(tmp_path)
        upgrade(newer)
        with newer.writing() as connection:
            connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")
        newer.close()
        with pytest.raises(UsageError, match="newer release"):
            serve(data=tmp_path, port=0)

    def test_another_format_of_logs(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="--log-format takes json or text, not 'xml'"):
            serve(data=tmp_path, log_format="xml", port=0)


def test_without_the_extra_the_way_to_install_it_is_said() -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None; sys.argv = ['sottovoce', 'serve']; "
        "from sottovoce.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert install_command("server") in done.stderr
    assert "Traceback" not in done.stderr


def _wait_until_refused(address: tuple[str, int]) -> None:
    """Wait until the server takes no new connections."""
    while True:
        try:
            socket.create_connection(address).close()
        except ConnectionRefusedError:
            return
        time.sleep(0.02)


def _wait_for(log: Path, words: str, *, times: int = 1) -> None:
    end = time.monotonic() + PATIENCE
    while log.read_text().count(words) < times:
        assert time.monotonic() < end, log.read_text()
        time.sleep(0.02)
