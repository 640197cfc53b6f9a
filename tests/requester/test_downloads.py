"""A download is a whole file with as many rows as were announced, or none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce import OutputExists
from sottovoce.errors import Unreachable
from sottovoce.http_client.connection import Connection
from sottovoce.requester.downloads import LineCount, download

TABLE = b'task,text\nt1,"a\nb"\nt2,"say ""x"""\n'


class Careless(BaseHTTPRequestHandler):
    """Announces what its path says, and sends the table, or only its beginning."""

    def do_GET(self) -> None:
        rows, length = self.path.rsplit("/", 2)[-2:]
        self.send_response(200)
        self.send_header("Sottovoce-Rows", rows)
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(TABLE)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def careless() -> Iterator[Connection]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Careless) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        with Connection(f"http://127.0.0.1:{server.server_port}", retries=0) as connection:
            yield connection
        server.shutdown()
        thread.join()


def fetched(
    connection: Connection, path: Path, rows: str, length: int = len(TABLE), *, force: bool = False
) -> int | None:
    place = f"/{rows}/{length}"
    return download(connection, place, "tasks.csv", path, raw=False, force=force)


def test_a_whole_download_is_a_file(careless: Connection, tmp_path: Path) -> None:
    assert fetched(careless, tmp_path / "t.csv", "2") == 2
    assert (tmp_path / "t.csv").read_bytes() == TABLE


def test_fewer_rows_than_announced_leave_no_file(careless: Connection, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="announced 3 rows but sent 2"):
        fetched(careless, tmp_path / "t.csv", "3")
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_breaks_off_leaves_no_file(careless: Connection, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="the connection broke"):
        fetched(careless, tmp_path / "t.csv", "2", length=1000)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_say_how_many_rows_is_believed(
    careless: Connection, tmp_path: Path
) -> None:
    assert fetched(careless, tmp_path / "t.csv", "many") is None
    assert (tmp_path / "t.csv").read_bytes() == TABLE


def test_a_file_is_replaced_only_by_force(careless: Connection, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("mine")
    with pytest.raises(OutputExists):
        fetched(careless, tmp_path / "t.csv", "2")
    assert (tmp_path / "t.csv").read_text() == "mine"
    assert fetched(careless, tmp_path / "t.csv", "2", force=True) == 2


@given(st.lists(st.text('a,"\n', max_size=5), max_size=6), st.integers(1, 7))
def test_rows_are_counted_whatever_the_cells_and_pieces(cells: list[str], size: int) -> None:
    quoted = "".join('"' + cell.replace('"', '""') + '"\n' for cell in cells).encode()
    lines = LineCount(csv=True)
    for start in range(0, len(quoted), size):
        lines.add(quoted[start : start + size])
    assert lines.count == len(cells)
