"""Hostile bytes below the level of requests: broken HTTP, smuggling, and slow clients."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from typing import Any

import httpx
import pytest
import uvicorn
from tests.server.web.hostile_server import CANARY, Arena, Hasty, bearer, new, problem

from sottovoce.errors import Reason

GET = "GET /api/v1/tokens HTTP/1.1\r\nHost: x\r\n"


def _answers(told: bytes) -> list[tuple[int, dict[str, Any] | None]]:
    """Status and problem of each answer on a connection."""
    found = []
    while told:
        head, _, rest = told.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines[1:])
        length = int(headers.get("content-length", 0))
        is_problem = headers.get("content-type") == "application/problem+json"
        content = json.loads(rest[:length]) if is_problem else None
        found.append((int(lines[0].split()[1]), content))
        told = rest[length:]
    return found


def _as(arena: Arena, end: str = "close") -> str:
    return f"Authorization: Bearer {arena.token}\r\nConnection: {end}\r\n"


BROKEN: dict[str, bytes] = {
    "no request": b"hello\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
    "another method": f"{CANARY.upper()} / HTTP/1.1\r\nHost: x\r\n\r\n".encode(),
    "a NUL in the address": b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a NUL in a header": b"GET / HTTP/1.1\r\nHost: x\r\nX: \x00\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    "two lengths": b"POST /api/v1/setup HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
    b"Content-Length: 2\r\n\r\nxx",
    "a negative length": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "a length in words": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x10\r\n\r\n",
    "a length beyond numbers": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: "
    + b"9" * 40
    + b"\r\n\r\n",
    "a length and chunks": b"POST /api/v1/setup HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/v1/tokens HTTP/1.1\r\nHost: x\r\n\r\n",
    "chunks and a length": b"POST /api/v1/setup HTTP/1.1\r\nHost: x\r\n"
    b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "chunks, somehow": b"POST /api/v1/setup HTTP/1.1\r\nHost: x\r\n"
    b"Transfer-Encoding: xchunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n",
    "a line of its own": b"GET / HTTP/1.1\r\nHost: x\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("sent", BROKEN.values(), ids=BROKEN.keys())
def test_what_is_no_request_is_refused_once_and_the_connection_ends(
    arena: Arena, sent: bytes
) -> None:
    with arena.unharmed():
        told = arena.raw(sent)
    [(status, content)] = _answers(told)
    assert status == 400, told[:300]
    assert content is not None
    assert content["reason"] == "malformed"
    assert CANARY.upper().encode() not in told


def test_a_chunk_that_lies_about_its_length_is_refused(arena: Arena) -> None:
    head = f"POST /api/v1/tokens HTTP/1.1\r\nHost: x\r\n{_as(arena)}Transfer-Encoding: chunked\r\n"
    kind = "Content-Type: application/json\r\n\r\n"
    with arena.unharmed():
        told = arena.raw(f'{head}{kind}zz\r\n{{"name": "x"}}\r\n0\r\n\r\n'.encode())
    statuses = [status for status, _ in _answers(told)]
    assert statuses in ([400], [422]), told


def test_a_body_of_another_request_is_not_a_request(arena: Arena) -> None:
    """Bytes that Content-Length covers stay a body, even if they read like a request."""
    inner = (
        f"DELETE /api/v1/campaigns/{arena.ids['closed']} HTTP/1.1\r\nHost: x\r\n{_as(arena)}\r\n"
    )
    head = f"{GET}{_as(arena)}Content-Length: {len(inner)}\r\n\r\n"
    with arena.unharmed():
        told = arena.raw((head + inner).encode())
    assert told.count(b"HTTP/1.1 ") == 1
    assert told.startswith(b"HTTP/1.1 200 ")


def test_an_upgrade_does_not_let_a_second_request_slip_by(arena: Arena) -> None:
    inner = (
        f"DELETE /api/v1/campaigns/{arena.ids['closed']} HTTP/1.1\r\nHost: x\r\n{_as(arena)}\r\n"
    )
    for kind in ("h2c", "websocket"):
        head = f"{GET}Connection: Upgrade\r\nUpgrade: {kind}\r\n\r\n"
        with arena.unharmed():
            told = arena.raw((head + inner).encode(), patience=1)
        assert b"HTTP/1.1 101" not in told
        assert b"HTTP/1.1 204" not in told


def test_requests_in_a_row_are_answered_in_their_order(arena: Arena) -> None:
    shown, none = _as(arena, "keep-alive"), "Connection: keep-alive\r\n"
    with arena.unharmed():
        told = arena.raw(
            f"{GET}{none}\r\n{GET}{shown}\r\n{GET}{none}\r\n{GET}{_as(arena)}\r\n".encode()
        )
    statuses = [
        int(line.split()[1]) for line in told.split(b"\r\n") if line.startswith(b"HTTP/1.1")
    ]
    statuses += [int(part.split()[0]) for part in told.split(b"}HTTP/1.1 ")[1:]]
    assert sorted(statuses) == [200, 200, 401, 401]


def test_a_credential_of_one_request_does_not_serve_the_next(arena: Arena) -> None:
    told = arena.raw(f"{GET}{_as(arena, 'keep-alive')}\r\n{GET}Connection: close\r\n\r\n".encode())
    assert told.count(b"HTTP/1.1 200 ") == 1
    assert told.count(b"HTTP/1.1 401 ") == 1


def test_two_credentials_are_no_credential_of_a_second_kind(arena: Arena) -> None:
    """The first counts, whatever comes after."""
    two = f"Authorization: Bearer {new('svk_')}\r\nAuthorization: Bearer {arena.token}\r\n"
    told = arena.raw(f"{GET}{two}Connection: close\r\n\r\n".encode())
    assert told.startswith(b"HTTP/1.1 403 ")


def test_a_flood_of_headers_is_cut_off(arena: Arena) -> None:
    flood = (f"x-{i}: {CANARY}\r\n".encode() * 50 for i in range(2_000))
    with arena.unharmed():
        told = arena.raw(GET.encode(), *flood)
    assert told == b"" or _answers(told)[0][0] == 400
    assert CANARY.encode() not in told


def test_one_header_without_end_is_cut_off(arena: Arena) -> None:
    with arena.unharmed():
        told = arena.raw(f"{GET}x: ".encode(), *[b"y" * 65_536] * 20)
    assert told == b"" or _answers(told)[0][0] == 400


def test_an_address_without_end_is_cut_off(arena: Arena) -> None:
    with arena.unharmed():
        told = arena.raw(b"GET /", *[b"y" * 65_536] * 20)
    assert told == b"" or _answers(told)[0][0] == 400


def test_a_body_slower_than_patience_is_cut_off(arena: Arena) -> None:
    body = json.dumps(arena.submission(arena.ids["open"], arena.receipt)).encode()
    shown = "".join(f"{name}: {value}\r\n" for name, value in arena.worker.items())
    path = f"/api/v1/campaigns/{arena.ids['open']}/reports/{secrets.token_hex(16)}"
    head = f"PUT {path} HTTP/1.1\r\nHost: x\r\n{shown}Content-Length: {len(body)}\r\n\r\n"
    with arena.unharmed():
        start = time.monotonic()
        told = arena.raw(head.encode() + body[:20])
        assert time.monotonic() - start < 8
    assert b"HTTP/1.1 20" not in told


def test_others_are_served_while_many_wait_to_be_heard(arena: Arena) -> None:
    host, port = arena.url.removeprefix("http://").split(":")
    waiting = [socket.create_connection((host, int(port))) for _ in range(200)]
    try:
        for connection in waiting:
            connection.sendall(b"PUT /api/v1/x HTTP/1.1\r\nHost: x\r\nContent-Le")
        start = time.monotonic()
        with arena.unharmed():
            assert arena.ask("GET", "/tokens").status_code == 200
        assert time.monotonic() - start < 5
    finally:
        for connection in waiting:
            connection.close()


def test_one_connection_too_many_is_told_so(arena: Arena) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(
            arena.app, http=Hasty, lifespan="off", log_config=None, ws="none", limit_concurrency=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            reply = httpx.get(f"http://127.0.0.1:{listening.getsockname()[1]}/healthz")
        finally:
            server.should_exit = True
            thread.join()
    problem(reply, 503, Reason.BUSY)
    assert reply.headers["retry-after"] == "1"
    assert reply.headers["connection"] == "close"


ROUTES = ["/campaigns", "/tokens", "/setup", "/campaigns/abcd/offer", "/campaigns/abcd/reports"]


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("method", ["PATCH", "TRACE", "OPTIONS", "HEAD", "PROPFIND", "LOCK"])
def test_a_method_that_is_not_for_this_is_refused(arena: Arena, path: str, method: str) -> None:
    with arena.unharmed():
        reply = arena.ask(
            method, path, headers={**arena.requester, "Origin": "https://evil.example"}
        )
    assert reply.status_code == 405
    assert set(reply.headers["allow"].split(", ")) <= {"GET", "PUT", "POST", "DELETE"}
    assert not [name for name in reply.headers if name.startswith("access-control")]
    if method == "HEAD":
        assert reply.content == b""
    else:
        problem(reply, 405, Reason.UNSUPPORTED)


def test_the_methods_that_an_address_has_are_all_named(arena: Arena) -> None:
    reply = arena.ask("PATCH", "/campaigns/abcd/invites")
    assert set(reply.headers["allow"].split(", ")) == {"GET", "POST", "DELETE"}


@pytest.mark.parametrize("path", ["/", "/setup", "/api"])
def test_a_page_has_a_head(arena: Arena, path: str) -> None:
    reply = arena.http.head(path)
    assert (reply.status_code, reply.content) == (200, b"")


@pytest.mark.parametrize("path", ["/campaigns/", "//campaigns", "/campaigns//", "/./campaigns"])
def test_an_address_is_one_address(arena: Arena, path: str) -> None:
    head = f"GET /api/v1{path} HTTP/1.1\r\nHost: x\r\n{_as(arena)}\r\n"
    [(status, content)] = _answers(arena.raw(head.encode()))
    assert status == 404
    assert content is not None
    assert content["reason"] == "not_found"


@pytest.mark.parametrize(
    "query",
    ["x=1", "offset=0&x[]=%00", "&&&", "=", "%ff", "a" * 9_000, "offset=1;limit=2", f"x={CANARY}"],
)
def test_a_query_that_means_nothing_changes_nothing(arena: Arena, query: str) -> None:
    reply = arena.http.get(
        f"/api/v1/campaigns/{arena.ids['open']}/tasks?{query}", headers=arena.requester
    )
    if "offset=1;" in query:
        problem(reply, 422, Reason.MALFORMED)
    else:
        assert reply.json()["total"] == 2


@pytest.mark.parametrize(
    "query",
    ["offset=-1", "offset=x", "offset=1e3", "offset=9" + "9" * 400, "limit=0", "limit=NaN",
     "offset=", f"offset={CANARY}", "limit=1.5", "offset=%F0%9D%9F%99x"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["tasks", "results", "results/workers"])
def test_a_query_that_makes_no_sense_is_refused(arena: Arena, path: str, query: str) -> None:
    id = arena.ids["open"]
    with arena.unharmed():
        reply = arena.http.get(f"/api/v1/campaigns/{id}/{path}?{query}", headers=arena.requester)
    problem(reply, 422, Reason.MALFORMED)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "", "x:99999", "[::1", "evil.example/path", "a b", "x@evil.example", "é"],
)
def test_no_answer_depends_on_the_host_that_was_asked_for(arena: Arena, host: str) -> None:
    body = b'{"kind": "open"}'
    head = (
        f"POST /api/v1/campaigns/{arena.ids['open']}/invites HTTP/1.1\r\nHost: {host}\r\n"
        f"{_as(arena)}X-Forwarded-Host: evil.example\r\nX-Forwarded-Proto: https\r\n"
        f"Forwarded: host=evil.example\r\nX-Forwarded-Prefix: /evil\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    told = arena.raw(head.encode("latin-1") + body)
    assert told.startswith((b"HTTP/1.1 201 ", b"HTTP/1.1 400 ")), told[:200]
    assert b"evil" not in told
    page = arena.raw(
        f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode("latin-1")
    )
    assert b"evil" not in page


def test_a_request_without_a_host_is_no_way_round(arena: Arena) -> None:
    told = arena.raw(b"GET /api/v1/tokens HTTP/1.0\r\n\r\n")
    assert told.split()[1] in (b"400", b"401")


def test_an_address_of_another_server_is_not_fetched(arena: Arena) -> None:
    told = arena.raw(
        b"GET http://evil.example/api/v1/tokens HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    )
    assert told.split()[1] in (b"400", b"401", b"404")
    assert b"evil" not in told


def test_a_tunnel_is_refused(arena: Arena) -> None:
    told = arena.raw(b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n")
    assert b"HTTP/1.1 200" not in told
    assert b"evil" not in told
    with arena.unharmed():
        pass


def test_a_worker_cannot_speak_for_another(arena: Arena) -> None:
    other = new("svr_")
    reply = arena.put(
        arena.submission(arena.ids["open"], arena.receipt),
        headers=bearer(arena.invites["open"], other),
    )
    problem(reply, 403, Reason.BAD_CREDENTIAL)
