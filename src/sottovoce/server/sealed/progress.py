"""Progress of a sealed campaign for its requester; opening without late contributions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from sqlalchemy import Connection

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Campaign, State
from sottovoce.securesum.committee.messages import MessageKind, WorkKind
from sottovoce.server.database.campaigns import Stored, the_campaign
from sottovoce.server.database.sealed_campaigns import (
    SERVER,
    MessageKey,
    all_seats,
    count_batched,
    find_message,
    is_opened,
    workers_of,
)
from sottovoce.server.sealed.keyholders import coordinator_key, sealed_admission, sealed_sum
from sottovoce.server.sealed.state import AGREEMENT, DEAD, SealedState
from sottovoce.server.sealed.transitions import Verdict, all_verdicts, close_at
from sottovoce.server.service import Service

WORDS_OF = {
    "unreadable": "a keyholder could not open its share",
    "invalid": "its answers are not valid",
    "inconsistent": "its shares are inconsistent",
}
"""The text for requesters about a dropped contribution."""


class RoundPhase(StrEnum):
    """The phase of a sealed campaign."""

    DEALING = "dealing"
    COLLECTING = "collecting"
    CHECKING = "checking"
    CLOSING = "closing"
    OPENING = "opening"
    OPENED = "opened"
    DEAD = "dead"


@dataclass(frozen=True, slots=True)
class KeyholderProgress:
    """One keyholder: its name, when it was last online, and its progress."""

    seat: int
    name: str
    fingerprint: str
    seen_on: date | None
    is_here: bool
    dealt: bool
    confirmed: int | None
    opened: bool


@dataclass(frozen=True, slots=True)
class Dropped:
    """A contribution that is not in the total, by its worker's pseudonym, and why."""

    worker: str
    reason: str

    @property
    def words(self) -> str:
        """The reason in words, for requesters."""
        return WORDS_OF[self.reason]


@dataclass(frozen=True, slots=True)
class SealedProgress:
    """The progress of a sealed campaign.

    Of `uploads` contributions, `checked` passed and `waiting` are not in a certified state yet.
    """

    phase: RoundPhase
    keyholders: Sequence[KeyholderProgress]
    uploads: int
    waiting: int
    checked: int
    dropped: Sequence[Dropped]
    minimum: int
    needed: int
    opened: int
    problem: str | None
    state: str | None


def sealed_progress(service: Service, id: str) -> SealedProgress:
    """The progress of a sealed campaign; a draft has not begun."""
    with service.database.reading() as connection:
        stored = the_campaign(connection, id)
        sealed = sealed_sum(stored.campaign)
        state = SealedState.of(connection, stored.number, sealed.seats)
        keyholders = _keyholders(service, connection, stored, sealed, state)
        verdicts = all_verdicts(connection, stored.number, state.certified)
        checked = verdicts[-1].count if verdicts else 0
        uploads = stored.campaign.counts.submissions
        done = count_batched(connection, stored.number, state.certified)
        phase = _phase(connection, stored, state)
        return SealedProgress(
            phase,
            keyholders,
            uploads,
            uploads - done,
            checked,
            _dropped(connection, stored.number, verdicts),
            sealed.minimum,
            sealed.degree + 1,
            len(state.opens),
            _problem(connection, stored, state, sealed, keyholders, checked),
            verdicts[-1].state if verdicts else None,
        )


def open_without(service: Service, id: str) -> None:
    """Discard contributions that are not certified, and open the last certified state.

    This is possible only while no keyholder has confirmed a later state: a keyholder never goes
    back, because the difference of two opened sums would reveal more.
    """
    admission, key = sealed_admission(service, id), coordinator_key(service)
    sealed = admission.session.sealed

    def work(connection: Connection) -> None:
        stored = the_campaign(connection, id, hold=True)
        state = SealedState.of(connection, stored.number, sealed.seats)
        if state.closing is not None:
            return
        last = state.certified
        checked = all_verdicts(connection, stored.number, last)[-1].count if last >= 0 else 0
        _check_opens(stored.campaign, sealed, state, checked)
        close_at(connection, admission, last, key)

    service.change(work)
    service.attendance.ring(id)


def _check_opens(campaign: Campaign, sealed: SealedSum, state: SealedState, checked: int) -> None:
    if campaign.state is not State.CLOSED:
        raise Refused(Reason.NOT_OPEN, "the campaign is still open; close it first")
    if state.is_dead:
        raise Refused(Reason.CONFLICT, "nothing can be opened in this campaign")
    if state.senders(MessageKind.CONFIRM, state.certified + 1):
        raise Refused(
            Reason.CONFLICT,
            "a keyholder has confirmed a later set and never opens an earlier one; wait for the "
            "others",
        )
    if checked < sealed.minimum:
        raise Refused(Reason.CONFLICT, _too_few(checked, sealed.minimum))


def _keyholders(
    service: Service, connection: Connection, stored: Stored, sealed: SealedSum, state: SealedState
) -> list[KeyholderProgress]:
    days = {each.seat: each.seen_on for each in all_seats(connection, stored.number)}
    opens, id = state.opens, stored.campaign.id
    return [
        KeyholderProgress(
            seat,
            keyholder.name,
            keyholder.fingerprint,
            None if (day := days.get(seat)) is None else date.fromordinal(day),
            service.attendance.is_here(id, seat),
            state.has(MessageKind.DEAL, sender=seat),
            state.confirmed(seat),
            seat in opens,
        )
        for seat, keyholder in enumerate(sealed.keyholders, 1)
    ]


def _phase(connection: Connection, stored: Stored, state: SealedState) -> RoundPhase:
    if state.is_dead:
        return RoundPhase.DEAD
    if is_opened(connection, stored.number):
        return RoundPhase.OPENED
    if state.closing is not None:
        return RoundPhase.OPENING
    if state.certified < 0:
        return RoundPhase.DEALING
    if state.certified < state.proposed:
        return RoundPhase.CHECKING
    closed = stored.campaign.state is State.CLOSED
    return RoundPhase.CLOSING if closed else RoundPhase.COLLECTING


def _dropped(connection: Connection, campaign: int, verdicts: Sequence[Verdict]) -> list[Dropped]:
    """Dropped contributions by pseudonym: the order of arrival stays on the server."""
    failed = {bytes.fromhex(digest): why for each in verdicts for digest, why in each.failed}
    workers = workers_of(connection, campaign, failed) if failed else {}
    found = (Dropped(worker, failed[digest]) for digest, worker in workers.items())
    return sorted(found, key=lambda each: each.worker)


def _problem(
    connection: Connection,
    stored: Stored,
    state: SealedState,
    sealed: SealedSum,
    keyholders: Sequence[KeyholderProgress],
    checked: int,
) -> str | None:
    """The obstacle, if there is one."""
    if state.is_dead:
        return _noted(connection, stored.number, MessageKey(DEAD, SERVER, 0))
    if state.closing is not None:
        disagreement = _disagreement(connection, stored.number, state)
        return disagreement or _absent(state, keyholders)
    if stored.campaign.state is State.CLOSED and state.certified == state.proposed >= 0:
        waiting = stored.campaign.counts.submissions - count_batched(
            connection, stored.number, state.proposed
        )
        return None if waiting or checked >= sealed.minimum else _too_few(checked, sealed.minimum)
    if stored.campaign.state is State.DRAFT:
        return None
    return _absent(state, keyholders)


def _disagreement(connection: Connection, campaign: int, state: SealedState) -> str | None:
    """The result of the last comparison of all opened shares."""
    numbers = [key.number for key in state.keys if key.phase == AGREEMENT]
    if not numbers:
        return None
    return _noted(connection, campaign, MessageKey(AGREEMENT, SERVER, max(numbers)))


def _absent(state: SealedState, keyholders: Sequence[KeyholderProgress]) -> str | None:
    """The keyholders whose turn it is and who are offline."""
    idle = (WorkKind.WAIT, WorkKind.DONE)
    away = [
        f"keyholder {each.seat} ({each.name})"
        for each in keyholders
        if not each.is_here and state.work(each.seat).kind not in idle
    ]
    if not away:
        return None
    return f"waits for {', '.join(away)}, who must run `sottovoce keyholder serve`"


def _noted(connection: Connection, campaign: int, key: MessageKey) -> str | None:
    content = find_message(connection, campaign, key)
    return None if content is None else json.loads(content)["problem"]


def _too_few(checked: int, minimum: int) -> str:
    return (
        f"only {checked:,} contributions passed, and at least {minimum:,} are needed: fewer would "
        "not hide in the sum, so nothing is opened"
    )
