"""Transitions of a sealed campaign: what is next, decided and done in one transaction.

Where a campaign stands follows from its rows alone, and what the server signs is stored before
anybody is shown it. So a server that was killed goes on where it was, and says the same again.
Batches fall due while nobody sends a message: campaigns are looked at every few seconds.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from sottovoce.errors import SealedRefused, SottovoceError
from sottovoce.model import State
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.messages import MOST_IN_BATCH, MessageKind
from sottovoce.securesum.committee.state_chain import BEGINNING, Certified
from sottovoce.securesum.envelope import Ed25519PrivateKey, canonical
from sottovoce.server.background_jobs import background_thread
from sottovoce.server.database.campaigns import Stored, find_campaign, sealed_ids
from sottovoce.server.database.sealed_campaigns import (
    SERVER,
    MessageKey,
    OpenedTotals,
    WaitingContribution,
    add_batch,
    add_message,
    count_batched,
    find_message,
    is_opened,
    messages_of,
    series,
    store_opened,
    task_lists,
    waiting_contributions,
)
from sottovoce.server.sealed.attendance import Attendance
from sottovoce.server.sealed.contributions import SealedAdmission
from sottovoce.server.sealed.keyholders import coordinator_key, sealed_admission
from sottovoce.server.sealed.state import AGREEMENT, DEAD, VERDICT, SealedState
from sottovoce.server.service import Service

MOST_BYTES = 64 << 20
"""Bytes of the contributions in one batch, unless it is one alone."""

EVER = 1 << 30
"""A number beyond all batches."""


LOOK = 2.0
"""Seconds between two looks."""

log = logging.getLogger("sottovoce.sealed")


class Due(Enum):
    """What the server has to do."""

    PROPOSE_DEALS = auto()
    JUDGE = auto()
    PROPOSE = auto()
    CLOSE = auto()
    OPEN = auto()
    COMPARE = auto()
    """More shares of the total came after it was opened: do they agree?"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checks of a batch come to: its state, and how many passed up to and with it."""

    state: str
    count: int
    failed: tuple[tuple[str, str], ...] = ()

    def text(self) -> bytes:
        """As it is stored."""
        failed = [list(each) for each in self.failed]
        document = {"state": self.state, "count": self.count, "failed": failed}
        return canonical(document).encode("ascii")

    @classmethod
    def parse(cls, content: bytes) -> Verdict:
        """A stored verdict."""
        document: dict[str, Any] = json.loads(content)
        failed = tuple((digest, reason) for digest, reason in document["failed"])
        return cls(document["state"], document["count"], failed)


def advance(service: Service, id: str) -> bool:
    """Do all that is due in a campaign; whether anything was. Wakes those who wait for it."""
    admission, key = sealed_admission(service, id), coordinator_key(service)
    moved = service.change(
        lambda connection: _advanced(connection, admission, key, service.attendance)
    )
    if moved:
        service.attendance.ring(id)
    return moved


def what_is_due(
    connection: Connection, stored: Stored, admission: SealedAdmission, attendance: Attendance
) -> Due | None:
    """The next thing that the server has to do, if there is any."""
    number, sealed = stored.number, admission.session.sealed
    state = SealedState.of(connection, number, sealed.seats)
    if state.is_dead:
        return None
    last = state.proposed
    if last < 0:
        return Due.PROPOSE_DEALS if state.has_all(MessageKind.DEAL) else None
    if state.closing is not None:
        return _due_after_close(connection, number, state, sealed.degree + 1)
    if state.has_all(MessageKind.CHECK, last) and not state.has(VERDICT, last):
        return Due.JUDGE
    if state.certified < last:
        return None
    waiting = stored.campaign.counts.submissions - count_batched(connection, number, EVER)
    if stored.campaign.state is State.CLOSED:
        if waiting:
            return Due.PROPOSE
        enough = verdict_of(connection, number, last).count >= sealed.minimum
        return Due.CLOSE if enough else None
    rested = attendance.has_rested(stored.campaign.id, last)
    begins = last == 0 and waiting >= sealed.minimum
    return Due.PROPOSE if waiting and (rested or begins) else None


def verdict_of(connection: Connection, campaign: int, number: int) -> Verdict:
    """The verdict on a batch, which must be there."""
    content = find_message(connection, campaign, MessageKey(VERDICT, SERVER, number))
    assert content is not None  # noqa: S101 - whoever asks has seen its key
    return Verdict.parse(content)


def all_verdicts(connection: Connection, campaign: int, upto: int) -> list[Verdict]:
    """The verdicts on all batches up to a number."""
    return [Verdict.parse(each) for each in series(connection, campaign, VERDICT, upto)]


def close_at(
    connection: Connection, admission: SealedAdmission, number: int, key: Ed25519PrivateKey
) -> None:
    """Ask the keyholders to open the state of a batch that all of them have confirmed."""
    verdict = verdict_of(connection, admission.number, number)
    state = Certified(number, verdict.state, verdict.count)
    content = server.close(admission.session, key, state)
    add_message(
        connection, admission.number, MessageKey(MessageKind.CLOSE, SERVER, number), content
    )


def _due_after_close(
    connection: Connection, number: int, state: SealedState, needed: int
) -> Due | None:
    opens = len(state.opens)
    if opens < needed or state.has(AGREEMENT, opens):
        return None
    if not is_opened(connection, number):
        return Due.OPEN
    return Due.COMPARE if opens > needed else None


def _advanced(
    connection: Connection,
    admission: SealedAdmission,
    key: Ed25519PrivateKey,
    attendance: Attendance,
) -> bool:
    moved = False
    while True:
        stored = find_campaign(connection, admission.campaign.id, hold=True)
        if stored is None or stored.number != admission.number:  # it was deleted
            return False
        due = what_is_due(connection, stored, admission, attendance)
        if due is None:
            return moved
        _do(due, connection, admission, key)
        moved = True


def _do(
    due: Due, connection: Connection, admission: SealedAdmission, key: Ed25519PrivateKey
) -> None:
    last = SealedState.of(connection, admission.number, admission.session.sealed.seats).proposed
    match due:
        case Due.PROPOSE_DEALS:
            _propose_deals(connection, admission, key)
        case Due.JUDGE:
            _judge(connection, admission, last)
        case Due.PROPOSE:
            _propose(connection, admission, last + 1, key)
        case Due.CLOSE:
            close_at(connection, admission, last, key)
        case Due.OPEN | Due.COMPARE:
            _open(connection, admission)


def _propose_deals(
    connection: Connection, admission: SealedAdmission, key: Ed25519PrivateKey
) -> None:
    deals = messages_of(connection, admission.number, MessageKind.DEAL, 0)
    digests = [server.read_message(admission.session, deal).digest for deal in deals]
    content = server.propose(admission.session, key, 0, BEGINNING, digests)
    add_message(connection, admission.number, MessageKey(MessageKind.PROPOSE, SERVER, 0), content)


def _propose(
    connection: Connection, admission: SealedAdmission, number: int, key: Ed25519PrivateKey
) -> None:
    chosen = _fitting(waiting_contributions(connection, admission.number, MOST_IN_BATCH))
    previous = verdict_of(connection, admission.number, number - 1).state
    digests = [each.digest.hex() for each in chosen]
    content = server.propose(admission.session, key, number, previous, digests)
    add_batch(connection, admission.number, number, chosen)
    add_message(
        connection, admission.number, MessageKey(MessageKind.PROPOSE, SERVER, number), content
    )


def _fitting(waiting: Sequence[WaitingContribution]) -> list[WaitingContribution]:
    """As many as fit into a batch, and always one."""
    lengths = np.cumsum([each.length for each in waiting])
    count = max(1, int(np.searchsorted(lengths, MOST_BYTES, side="right")))
    return list(waiting[:count])


def _judge(connection: Connection, admission: SealedAdmission, number: int) -> None:
    propose = find_message(
        connection, admission.number, MessageKey(MessageKind.PROPOSE, SERVER, number)
    )
    assert propose is not None  # noqa: S101 - it is the last that was proposed
    checks = messages_of(connection, admission.number, MessageKind.CHECK, number)
    try:
        found = server.verdicts(admission.session, propose, checks)
    except SealedRefused as refused:
        add_message(connection, admission.number, MessageKey(DEAD, SERVER, 0), _words(str(refused)))
        return
    before = verdict_of(connection, admission.number, number - 1).count if number else 0
    count = before + (len(found.passed) if number else 0)
    verdict = Verdict(found.state, count, tuple(found.failed))
    add_message(connection, admission.number, MessageKey(VERDICT, SERVER, number), verdict.text())


def _open(connection: Connection, admission: SealedAdmission) -> None:
    """The totals, as soon as enough keyholders have opened; whether all later shares agree.

    Shares on another polynomial show that somebody lies, not who: nothing is guessed.
    """
    closing = SealedState.of(connection, admission.number, admission.session.sealed.seats).closing
    assert closing is not None  # noqa: S101 - something was opened
    opens = messages_of(connection, admission.number, MessageKind.OPEN, closing)
    verdict = verdict_of(connection, admission.number, closing)
    problem = None
    try:
        totals = server.opened_total(admission.session, opens, verdict.count)
    except SottovoceError as refused:
        problem = str(refused)
    else:
        if not is_opened(connection, admission.number):
            answered = _answered(connection, admission, closing)
            found = OpenedTotals(verdict.state, verdict.count, totals, answered)
            store_opened(connection, admission.number, found)
    add_message(
        connection, admission.number, MessageKey(AGREEMENT, SERVER, len(opens)), _words(problem)
    )


def _answered(
    connection: Connection, admission: SealedAdmission, upto: int
) -> npt.NDArray[np.int64] | None:
    """How many of the contributions in the total have each task; None where that is hidden."""
    session = admission.session
    if session.sealed.hidden:
        return None
    failed = {
        bytes.fromhex(digest)
        for verdict in all_verdicts(connection, admission.number, upto)
        for digest, _ in verdict.failed
    }
    counts = np.zeros(len(session.names), np.int64)
    for tasks in task_lists(connection, admission.number, upto, failed):
        counts[np.frombuffer(tasks, "<u4")] += 1  # a contribution has a task once
    return counts


def _words(text: str | None) -> bytes:
    return canonical({"problem": text}).encode("ascii")


def advance_all(service: Service) -> None:
    """Do what is due in every sealed campaign. One that fails does not hold up the others."""
    with service.database.reading() as connection:
        ids = sealed_ids(connection)
    for id in ids:
        try:
            if _is_due(service, id):
                advance(service, id)
        except Exception as error:
            # The message may hold what was read: only the kind of error is kept.
            log.warning("a sealed campaign waits", extra={"error": type(error).__name__})


@contextmanager
def scheduled_advances(service: Service, *, look: float = LOOK) -> Iterator[None]:
    """Do what falls due while the block runs."""

    def watch(done: threading.Event) -> None:
        while not done.wait(look):
            try:
                advance_all(service)
            except Exception as error:
                log.warning("sealed campaigns wait", extra={"error": type(error).__name__})

    with background_thread(watch, "sealed"):
        yield


def _is_due(service: Service, id: str) -> bool:
    """Whether there is anything to do: looked up without the writer, which has others to serve."""
    admission = sealed_admission(service, id)
    with service.database.reading() as connection:
        stored = find_campaign(connection, id)
        if stored is None:
            return False
        return what_is_due(connection, stored, admission, service.attendance) is not None
