"""A connection sends again what may be sent again, and gives no secret away."""

from __future__ import annotations

import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.http_client.recorded_server import Reply, Speaker, problem, speaking

from sottovoce.errors import Reason, Refused, Unreachable, UsageError, install_command
from sottovoce.http_client.connection import Connection

SECRET = "svi_" + "S" * 43
BODY = b"body-" + b"canary"
HUNG_UP = Reply(cut=-1)


@contextmanager
def talking(*replies: Reply, **options: Any) -> Iterator[tuple[Connection, Speaker]]:
    with speaking(*replies) as speaker:
        with Connection(speaker.url, SECRET, **{"pause": 0.001, **options}) as connection:
            yield connection, speaker


def test_a_reply_is_parsed() -> None:
    with talking(Reply(body=b'{"a": [1, "x"]}')) as (connection, speaker):
        assert connection.get("/campaigns", query={"limit": 3}) == {"a": [1, "x"]}
    method, path, headers, body = speaker.heard[0]
    assert (method, path, body) == ("GET", "/api/v1/campaigns?limit=3", b"")
    assert headers["authorization"] == f"Bearer {SECRET}"


def test_an_empty_reply_is_none() -> None:
    with talking(Reply(204, b"")) as (connection, _):
        assert connection.delete("/x") is None


def test_a_credential_of_one_call_replaces_the_connections() -> None:
    with talking(Reply()) as (connection, speaker):
        connection.get("/x", credential="svr_other")
    assert speaker.heard[0][2]["authorization"] == "Bearer svr_other"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again(status: int) -> None:
    with talking(Reply(status), Reply(status), Reply(body=b"1")) as (connection, speaker):
        assert connection.get("/x") == 1
    assert len(speaker.heard) == 3


@pytest.mark.parametrize("lost", [HUNG_UP, Reply(body=b'{"a": 1}', cut=3)], ids=["all", "half"])
def test_bytes_whose_reply_was_lost_are_sent_again_unchanged(lost: Reply) -> None:
    with talking(lost, Reply(body=b"2")) as (connection, speaker):
        assert connection.put("/x", content=b'{"reports": 1}') == 2
    assert [body for *_, body in speaker.heard] == [b'{"reports": 1}'] * 2


def test_what_must_not_happen_twice_is_not_sent_twice() -> None:
    with talking(HUNG_UP, Reply()) as (connection, speaker):
        with pytest.raises(Unreachable):
            connection.post("/campaigns", {"title": "x"})
    assert len(speaker.heard) == 1


def test_a_post_that_was_turned_away_is_sent_again() -> None:
    with talking(problem(503, "unavailable"), Reply(201, b"7")) as (connection, _):
        assert connection.post("/campaigns", {"title": "x"}) == 7


def test_patience_ends_with_the_servers_own_words() -> None:
    with talking(problem(429, "busy", "later"), retries=2) as (connection, speaker):
        with pytest.raises(Refused, match="later") as caught:
            connection.get("/x")
    assert caught.value.reason is Reason.BUSY
    assert len(speaker.heard) == 3


def test_a_refusal_carries_its_reason_and_place() -> None:
    reply = problem(422, "malformed", "wrong", field="tasks", row=3, column="text")
    with talking(reply) as (connection, speaker):
        with pytest.raises(Refused, match="wrong") as caught:
            connection.put("/x", {"a": 1})
    refused = caught.value
    assert (refused.reason, refused.field, refused.row, refused.column) == (
        Reason.MALFORMED, "tasks", 3, "text",
    )  # fmt: skip
    assert len(speaker.heard) == 1


def test_a_reason_of_a_newer_server_is_still_a_refusal() -> None:
    with talking(problem(409, "never_heard_of")) as (connection, _):
        with pytest.raises(Refused) as caught:
            connection.get("/x")
    assert caught.value.reason is Reason.MALFORMED


def test_words_of_a_server_cannot_act_on_a_terminal() -> None:
    with talking(problem(409, "conflict", "\x1b[2Jgone\r\nnow")) as (connection, _):
        with pytest.raises(Refused) as caught:
            connection.get("/x")
    assert str(caught.value) == "\ufffd[2Jgone now"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html>Welcome to the hotel</html>", {"Content-Type": "text/html"}),
        Reply(403, b"<html>Pay first</html>", {"Content-Type": "text/html"}),
        Reply(404, b"{}"),
        Reply(409, b"[1]", {"Content-Type": "application/problem+json"}),
        Reply(409, b"[" * 100_000, {"Content-Type": "application/problem+json"}),
    ],
)
def test_what_no_sottovoce_server_would_say_is_no_refusal(reply: Reply) -> None:
    with talking(reply) as (connection, speaker):
        with pytest.raises(Unreachable, match="Sottovoce server"):
            connection.put("/x", content=b"1")
    assert len(speaker.heard) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_secret_follows_a_redirect(status: int) -> None:
    with speaking(Reply()) as other:
        reply = Reply(status, b"", {"Location": f"{other.url}/api/v1/x"})
        with talking(reply) as (connection, _):
            with pytest.raises(Unreachable, match="sends on to http://127"):
                connection.get("/x")
    assert other.heard == []


def test_a_download_arrives_in_pieces() -> None:
    with talking(Reply(body=b"a,b\n" * 100_000)) as (connection, _):
        with connection.stream("/x") as download:
            assert sum(map(len, download)) == 400_000


def test_a_download_that_breaks_off_is_no_download() -> None:
    with talking(Reply(body=b"a,b\n" * 100_000, cut=1000)) as (connection, _):
        with connection.stream("/x") as download, pytest.raises(Unreachable):
            list(download)


def test_nobody_at_an_address_is_said_so() -> None:
    with speaking(Reply()) as gone:
        url = gone.url
    with Connection(url, SECRET, pause=0.001) as connection:
        with pytest.raises(Unreachable, match="no connection"):
            connection.get("/x")


@pytest.mark.parametrize("reply", [HUNG_UP, problem(403, "bad_credential"), Reply(302)])
def test_no_error_holds_the_secret(reply: Reply) -> None:
    with talking(reply, retries=1) as (connection, _):
        with pytest.raises((Unreachable, Refused)) as caught:
            connection.put("/x", content=BODY)
    error = caught.value
    assert error.__context__ is None
    said = "".join(traceback.format_exception(error)) + repr(error) + repr(vars(error))
    assert SECRET not in said + repr(connection)
    assert BODY.decode() not in said


def test_what_is_for_this_machine_goes_through_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with speaking(Reply(body=b'"proxy"')) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        with talking(Reply(body=b'"server"')) as (connection, _):
            assert connection.get("/x") == "server"
    assert proxy.heard == []


def test_without_the_library_one_is_told_what_to_install() -> None:
    code = """
import sys
sys.modules["httpx"] = None
import sottovoce
client = sottovoce.Client
try:
    client("http://127.0.0.1:1/c/abcdefghjkmnpqrs#svi_" + 43 * "A")
except sottovoce.NotInstalled as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert install_command("client") in told.stdout


def test_a_secret_that_is_no_header_is_refused_without_quoting_it() -> None:
    with Connection("http://127.0.0.1:1", "svk_\nX: 1") as connection:
        with pytest.raises(UsageError) as caught:
            connection.get("/x")
    assert "X: 1" not in str(caught.value)
