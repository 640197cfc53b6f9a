"""A worker answers turn after turn, says nothing new when asked again, and hears how it ended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.live.stars import agreed, coordinator, purpose, some_answers

from sottovoce.errors import Reason, Refused, SealedRefused
from sottovoce.live.worker import OwnKeys, take_part
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.em.contributor import PrivateContributor, contributor_of
from sottovoce.securesum.em.planner import planner_of
from sottovoce.securesum.masked.worker import MaskedWorker
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.worker import WorkerSession

KEYS = [OwnKeys.fresh() for _ in range(4)]


class MemoryLine:
    """A line to a coordinator in the same process; `others` answer between this worker's turns."""

    def __init__(
        self, session: CoordinatorSession, number: int, others: Callable[[], None]
    ) -> None:
        self._session, self._number, self._others = session, number, others
        self.replies: list[bytes] = []

    def turn(self) -> bytes | None:
        if self._session.state == "running" and self._number not in self._session.waiting:
            self._others()
            return None
        return self._session.turn(self._number)

    def reply(self, content: bytes) -> None:
        self.replies.append(content)
        self._session.take(content, self._number)


def workers() -> tuple[CoordinatorSession, dict[int, WorkerSession], list[PrivateContributor]]:
    terms = agreed(KEYS)
    given = [some_answers(seed) for seed in range(4)]
    contributors = [
        contributor_of(purpose(), each.task, each.label, SystemRandomness()) for each in given
    ]
    sessions = {
        number: WorkerSession(
            terms, number, keys.signing, planner_of(purpose()), contributors[number - 1],
            MaskedWorker(keys.sealing),
        )
        for number, keys in enumerate(KEYS, 1)
    }  # fmt: skip
    return coordinator(terms), sessions, contributors


def answering(session: CoordinatorSession, sessions: dict[int, WorkerSession]) -> None:
    """Everybody but worker 1 answers what it is asked."""
    for number in sorted(session.waiting - {1}):
        turn = session.turn(number)
        assert turn is not None
        reply = sessions[number].on(turn)
        assert reply is not None
        session.take(reply, number)


def test_a_worker_takes_part_until_all_is_added_up() -> None:
    session, sessions, contributors = workers()
    line = MemoryLine(session, 1, lambda: answering(session, sessions))
    told: list[str] = []
    ended = take_part(sessions[1], line, told.append)
    assert (ended.state, session.state) == ("done", "done")
    assert [each.workers for each in sessions[1].opened] == [4, 4, 4]
    assert told[0] == "round 0 is opened, with 4 workers"
    counts = sum(each.values(()) for each in contributors)
    assert np.array_equal(sessions[1].opened[0].totals, counts)


def test_a_reply_that_comes_too_late_ends_with_what_the_server_says_of_it() -> None:
    session, sessions, _ = workers()

    class Late(MemoryLine):
        def reply(self, content: bytes) -> None:
            answering(session, sessions)
            session.close()
            raise Refused(Reason.NOT_OPEN, "too late")

    ended = take_part(sessions[1], Late(session, 1, lambda: None), lambda _: None)
    assert (ended.state, "did not answer" in ended.reason) == ("excluded", True)


def test_a_reply_that_is_refused_otherwise_is_an_error() -> None:
    session, sessions, _ = workers()

    class Conflicting(MemoryLine):
        def reply(self, content: bytes) -> None:
            raise Refused(Reason.CONFLICT, "another one")

    with pytest.raises(Refused, match="another one"):
        take_part(sessions[1], Conflicting(session, 1, lambda: None), lambda _: None)


def test_a_server_that_asks_two_things_at_one_place_is_left_and_named() -> None:
    session, sessions, _ = workers()
    first = coordinator(agreed(KEYS)).turn(1)
    assert first is not None
    sessions[1].on(first)
    other = first[:-1] + b"x"

    class Lying(MemoryLine):
        def turn(self) -> bytes | None:
            return other

    with pytest.raises(SealedRefused) as caught:
        take_part(sessions[1], Lying(session, 1, lambda: None), lambda _: None)
    assert caught.value.culprit == "the server"
