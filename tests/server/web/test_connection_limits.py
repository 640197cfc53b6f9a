from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, StreamingResponse
from starlette.types import Receive, Scope, Send

from sottovoce.server.web.http_server import ImpatientProtocol


class Hasty(ImpatientProtocol):
    """The same, with little patience."""

    LONGEST_HEAD = 2_000
    HEAD_SECONDS = 0.3
    PAUSE_SECONDS = 0.3
    BODY_SECONDS = 0.9
    LINGER_SECONDS = 0.2
    UNREAD_SECONDS = 0.3
    CHECK_SECONDS = 0.05


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Reads a body, or answers before it, or without end."""
    request = Request(scope, receive)
    if scope["path"] == "/endless":

        async def endless() -> Iterator[bytes]:  # type: ignore[misc]
            while True:
                yield b"x" * 65_536
                await asyncio.sleep(0)

        await StreamingResponse(endless())(scope, receive, send)
        return
    try:
        size = len(await request.body()) if scope["path"] == "/read" else 0
    except ClientDisconnect:
        return
    if scope["path"] == "/think":
        await asyncio.sleep(1.2)
    await PlainTextResponse(f"{size} bytes")(scope, receive, send)


@contextmanager
def _served(protocol: type[asyncio.Protocol]) -> Iterator[tuple[str, int]]:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        config = uvicorn.Config(app, http=protocol, lifespan="off", log_config=None, ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([bound],))
        thread.start()
        try:
            yield bound.getsockname()
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with _served(Hasty) as place:
        yield place


def _all(connection: socket.socket) -> bytes:
    """Everything until the other side ends the connection."""
    received = b""
    connection.settimeout(10)
    try:
        while piece := connection.recv(65_536):
            received += piece
    except ConnectionResetError:
        pass
    return received


def _lasted(address: tuple[str, int], *pieces: bytes, pause: float = 0.0) -> tuple[float, bytes]:
    """How long a connection that sends these pieces lasts, and what it is told."""
    with socket.create_connection(address) as connection:
        start = time.monotonic()
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        except (BrokenPipeError, ConnectionResetError):
            return time.monotonic() - start, b""
        return time.monotonic() - start, _all(connection)


def test_a_connection_that_says_nothing_is_ended(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        start = time.monotonic()
        assert _all(connection) == b""
        assert 0.2 < time.monotonic() - start < 5


def test_a_head_that_drips_is_ended(address: tuple[str, int]) -> None:
    pieces = [b"GET / HTTP/1.1\r\n", *[b"x: y\r\n"] * 100]
    lasted, told = _lasted(address, *pieces, pause=0.05)
    assert lasted < 4
    assert b"200" not in told


def test_a_head_without_end_is_refused_before_it_fills_the_memory(
    address: tuple[str, int],
) -> None:
    _, told = _lasted(address, b"GET / HTTP/1.1\r\nx: ", b"y" * 1_500, b"y" * 1_500)
    assert told.startswith(b"HTTP/1.1 400")
    assert b"too long" in told


def test_a_body_that_stops_is_ended(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(b"PUT /read HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
        start = time.monotonic()
        assert _all(connection) == b""
        assert time.monotonic() - start < 5


def test_a_body_that_drips_steadily_ends_too(address: tuple[str, int]) -> None:
    head = b"PUT /read HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
    lasted, told = _lasted(address, head, *[b"x"] * 60, pause=0.05)
    assert lasted < 6
    assert told == b""


def test_a_body_in_slow_but_honest_pieces_arrives(address: tuple[str, int]) -> None:
    head = b"PUT /read HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\n"
    _, told = _lasted(address, head, b"ab", b"cd", pause=0.1)
    assert told.endswith(b"4 bytes")


def test_an_answer_that_takes_long_is_waited_for(address: tuple[str, int]) -> None:
    _, told = _lasted(address, b"GET /think HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert told.endswith(b"0 bytes")


def test_a_client_that_keeps_sending_after_the_answer_can_read_it_and_is_ended(
    address: tuple[str, int],
) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(b"PUT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\nhalf")
        start = time.monotonic()
        assert _all(connection).endswith(b"0 bytes")
        assert time.monotonic() - start < 5


def test_a_reader_that_does_not_read_is_ended(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        connection.sendall(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(1.5)
        # Only what lay in buffers is left: the answer has an end, and only the server can end it.
        assert len(_all(connection)) > 0


def test_requests_on_one_connection_follow_each_other(address: tuple[str, int]) -> None:
    with socket.create_connection(address) as connection:
        for _ in range(3):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = b""
            while not answer.endswith(b"0 bytes"):
                answer += connection.recv(1000)
            time.sleep(0.4)  # longer than the patience for a head that has begun
