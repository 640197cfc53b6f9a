"""A member's line asks until the server answers, and says everything as often as it must."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.http_client.recorded_server import Reply, Speaker, problem, speaking

from sottovoce.errors import Reason, Refused, Unreachable, UsageError
from sottovoce.live.member_client import LiveLink, MemberClient

SECRET = "svl_" + "S" * 43
HUNG_UP = Reply(cut=-1)
NOTHING_NEW = Reply(204, b"")


@contextmanager
def lined(
    *replies: Reply, patience: float = 20.0
) -> Iterator[tuple[MemberClient, Speaker, list[str]]]:
    told: list[str] = []
    with speaking(*replies) as speaker:
        link = LiveLink.parse(f"{speaker.url}/l/leaf0#{SECRET}")
        with MemberClient(link, patience=patience, tell=told.append) as line:
            yield line, speaker, told


def test_a_link_has_a_server_a_session_and_a_secret_that_is_not_shown() -> None:
    link = LiveLink.parse(f"https://answers.example/lab/l/leaf0#{SECRET}")
    assert (link.server, link.session, link.secret) == (
        "https://answers.example/lab",
        "leaf0",
        SECRET,
    )
    assert SECRET not in repr(link)


def test_the_link_of_a_campaign_is_refused() -> None:
    with pytest.raises(UsageError, match="not a link to a live session"):
        LiveLink.parse(f"https://answers.example/c/leaf0#{SECRET}")


def test_a_turn_is_the_bytes_that_were_sent() -> None:
    with lined(Reply(body=b"\x00turn")) as (line, speaker, _):
        assert line.turn() == b"\x00turn"
    [(method, path, headers, _)] = speaker.heard
    assert (method, path) == ("GET", "/api/v1/live/leaf0/turn?wait=25")
    assert headers["authorization"] == f"Bearer {SECRET}"


def test_no_turn_is_none() -> None:
    with lined(NOTHING_NEW) as (line, _, _):
        assert line.turn() is None


def test_a_reply_whose_answer_was_lost_is_sent_again_unchanged() -> None:
    with lined(HUNG_UP, Reply(503), Reply(body=b'{"replayed": true}')) as (line, speaker, told):
        line.reply(b"\xffreply")
    sent = [(method, path, body) for method, path, _, body in speaker.heard]
    assert sent == [("POST", "/api/v1/live/leaf0/replies", b"\xffreply")] * 3
    assert speaker.heard[0][2]["content-type"] == "application/octet-stream"
    assert [told[0].startswith("waiting"), told[1]] == [True, "the server responds again"]


def test_terms_are_waited_for() -> None:
    later = [NOTHING_NEW, problem(503, "unavailable"), NOTHING_NEW]
    with lined(*later, Reply(body=b'{"terms": 1}')) as (line, speaker, _):
        assert line.terms() == {"terms": 1}
    assert len(speaker.heard) == 4


def test_what_is_refused_is_not_asked_again() -> None:
    with lined(problem(409, "not_open", "too late")) as (line, speaker, told):
        with pytest.raises(Refused, match="too late") as caught:
            line.reply(b"x")
    assert (caught.value.reason, len(speaker.heard), told) == (Reason.NOT_OPEN, 1, [])


def test_patience_ends() -> None:
    with lined(HUNG_UP, patience=0.2) as (line, speaker, told):
        with pytest.raises(Unreachable):
            line.turn()
    assert len(speaker.heard) > 1
    assert len(told) == 1


def test_nothing_of_the_secret_is_in_an_error() -> None:
    with lined(HUNG_UP, patience=0.0) as (line, _, _):
        with pytest.raises(Unreachable) as caught:
            line.turn()
    assert SECRET not in repr(caught.value) + str(caught.value) + repr(line)


def test_terms_of_a_session_that_is_gone_are_not_waited_for() -> None:
    with lined(problem(404, "not_found", "the live session does not exist")) as (line, speaker, _):
        with pytest.raises(Refused, match="live session does not exist"):
            line.terms()
    assert [path.split("?")[0] for _, path, *_ in speaker.heard] == [
        "/api/v1/live/leaf0/terms",
        "/api/v1/live/leaf0/offer",
    ]


def test_a_session_that_has_not_begun_is_asked_again_for_its_terms() -> None:
    replies = [problem(404, "not_found"), Reply(), Reply(body=b'{"terms": 1}')]
    with lined(*replies) as (line, _, _):
        assert line.terms() == {"terms": 1}


def test_patience_is_counted_from_the_first_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    with lined(HUNG_UP, Reply(body=b"turn"), patience=0.3) as (line, _, _):
        fetch, pauses = line._fetched, [0.4]

        def long_answer() -> bytes:
            time.sleep(pauses.pop() if pauses else 0)
            return fetch()

        monkeypatch.setattr(line, "_fetched", long_answer)
        assert line.turn() == b"turn"
