"""Transitions of a sealed campaign: the next step is decided and done in one transaction.

The state of a campaign follows from its rows alone, and the server's messages are stored before
they are sent. A killed server therefore continues where it was and sends the same messages. Batches
can become due without a new message, so campaigns are checked every few seconds.
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
"""The most bytes of contributions in one batch, unless it has only one."""

EVER = 1 << 30
"""A number beyond all batches."""


LOOK = 2.0
"""Seconds between two checks."""

log = logging.getLogger("sottovoce.sealed")


class Due(Enum):
    """The server's next step."""

    PROPOSE_DEALS = auto()
    JUDGE = auto()
    PROPOSE = auto()
    CLOSE = auto()
    OPEN = auto()
    COMPARE = auto()
    """More shares of the total arrived after it was opened: check whether they agree."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a batch's checks: its state, and how many have passed so far."""

    state: str
    count: int
    failed: tuple[tuple[str, str], ...] = ()

    def text(self) -> bytes:
        """The stored format."""
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
    """Do everything that is due in a campaign; return whether anything was. Wakes waiters."""
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
    """The server's next step, if there is one."""
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
    """The verdict on a batch, which must exist."""
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
    """As many contributions as fit into a batch, and at least one."""
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
    """Open the totals once enough keyholders have sent shares; check that later shares agree.

    Shares on a different polynomial show that a keyholder is dishonest, but not which one.
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
    """How many contributions in the total have each task; None if that is hidden."""
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
    """Do what is due in every sealed campaign. A failing one does not delay the others."""
    with service.database.reading() as connection:
        ids = sealed_ids(connection)
    for id in ids:
        try:
            if _is_due(service, id):
                advance(service, id)
        except Exception as error:
            # The message could contain data: only the type of the error is logged.
            log.warning("a sealed campaign waits", extra={"error": type(error).__name__})


@contextmanager
def scheduled_advances(service: Service, *, look: float = LOOK) -> Iterator[None]:
    """Do what becomes due while the block runs."""

    def watch(done: threading.Event) -> None:
        while not done.wait(look):
            try:
                advance_all(service)
            except Exception as error:
                log.warning("sealed campaigns wait", extra={"error": type(error).__name__})

    with background_thread(watch, "sealed"):
        yield


def _is_due(service: Service, id: str) -> bool:
    """Whether there is anything to do; checked without the writer, to keep it free."""
    admission = sealed_admission(service, id)
    with service.database.reading() as connection:
        stored = find_campaign(connection, id)
        if stored is None:
            return False
        return what_is_due(connection, stored, admission, service.attendance) is not None
