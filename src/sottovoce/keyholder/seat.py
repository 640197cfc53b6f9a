"""One keyholder's work in one campaign: each fact is durable before its message is sent.

It serves a campaign until the total is opened, through failures of the server and the network, and
reports its progress from its own logs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from sottovoce.errors import DataError, Reason, Refused, SealedRefused, SottovoceError, Unreachable
from sottovoce.files.private_files import write_durably
from sottovoce.http_client.connection import RetryPolicy
from sottovoce.keyholder.agreement import REFUSED, Agreement
from sottovoce.keyholder.client import KeyholderClient, KeyholderWork
from sottovoce.keyholder.fact_log import Logged
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.committee.keyholder import KeyholderKeys, KeyholderSession, Reply
from sottovoce.securesum.committee.messages import WorkKind
from sottovoce.securesum.committee.server import read_message
from sottovoce.securesum.committee.state_chain import Fact

DEAL = "deal.json"

DEALT, CONFIRMED, OPENED = "dealt", "confirmed", "opened"

PROTOCOL = (DEALT, CONFIRMED, OPENED)
"""Facts that limit what this keyholder may do; the others are for people."""

WAIT = 25
"""Seconds that the server may wait before it replies that there is nothing to do."""

SOONEST = 1.0
"""Seconds between two requests if there is nothing to do."""

LATER = frozenset({Reason.BUSY, Reason.UNAVAILABLE, Reason.NOT_OPEN})
"""Temporary refusals."""

_PATIENCE = RetryPolicy(100, 1.0)


class Seat:
    """Deals, checks, confirms and opens at the server's request, within the protocol.

    The order is the safety argument. A deal is on disk before it is logged, and logged before it is
    sent; a confirmation or opening is logged before its signature is sent. After a crash the same
    steps are repeated from the server's copies of all batches: they must lead to the logged states
    and the same bytes.

    A violation of the protocol raises `SealedRefused`, after it is logged with the server's
    message: the signatures in it prove who did it.
    """

    def __init__(
        self,
        agreement: Agreement,
        keys: KeyholderKeys,
        client: KeyholderClient,
        tell: Callable[[str], None],
    ) -> None:
        self._agreement, self._client, self._tell = agreement, client, tell
        self._log = agreement.log
        facts = [dict(logged.fact) for logged in self._log.facts()]
        self._facts = [fact for fact in facts if fact["fact"] in PROTOCOL]
        self._session = KeyholderSession(agreement.session, keys, self._facts)

    def work(self, wait: int) -> KeyholderWork:
        """Do the next step, if there is one; return its description."""
        work = self._client.work(wait)
        match work.kind:
            case WorkKind.DEAL:
                self._deal()
            case WorkKind.CHECK:
                self._check(work.number)
            case WorkKind.CONFIRM:
                self._confirm(work.number)
            case WorkKind.OPEN:
                self._open()
            case WorkKind.WAIT | WorkKind.DONE | WorkKind.DEAD:
                pass
        return work

    def _deal(self) -> None:
        """Deal the noise, drawn once: the same bytes however often the server asks."""
        path = self._agreement.folder / DEAL
        if dealt := next((fact for fact in self._facts if fact["fact"] == DEALT), None):
            message = _kept(path, self._agreement, dealt)
        else:
            step = self._session.deal(SystemRandomness())
            write_durably(path, step.message)
            self._write_down(step)
            message = step.message
        self._deliver(message)
        self._tell("noise dealt")

    def _check(self, number: int) -> None:
        self._catch_up(number - 1)
        batch = self._client.batch(number)
        with self._refusing(batch.document):
            step = self._session.check(batch.propose, batch.items)
        self._send(step)
        count = len(batch.items)
        what = "deals of noise" if number == 0 else f"contribution{'s'[: count != 1]}"
        self._tell(f"batch {number}: {count:,} {what} checked")

    def _confirm(self, number: int) -> None:
        self._catch_up(number - 1)
        self._send(self._confirmed(number))
        count = next(each["count"] for each in self._confirms() if each["number"] == number)
        self._tell(f"batch {number}: confirmed, {count:,} contributions are in the total")

    def _open(self) -> None:
        self._catch_up(len(self._confirms()) - 1)
        closing = self._client.closing()
        with self._refusing(closing.document):
            step = self._session.open(closing.close, closing.confirms)
        self._send(step)
        self._tell("opened: this keyholder's share of the one total is sent")

    def _catch_up(self, number: int) -> None:
        """Repeat all batches up to this one; after a restart none is in memory."""
        for each in range(self._session.number + 1, number + 1):
            step = self._confirmed(each)
            if step.facts:  # not confirmed before, so nobody has it yet
                self._send(step)

    def _confirmed(self, number: int) -> Reply:
        batch = self._client.batch(number)
        with self._refusing(batch.document):
            if self._session.number < number:
                self._session.check(batch.propose, batch.items)
            return self._session.confirm(number, batch.checks)

    def _confirms(self) -> list[Fact]:
        return [fact for fact in self._facts if fact["fact"] == CONFIRMED]

    def _send(self, step: Reply) -> None:
        self._write_down(step)
        self._deliver(step.message)

    def _deliver(self, message: bytes) -> None:
        with self._refusing({"unsent": message.decode("ascii")}):
            self._client.send(message)

    def _write_down(self, step: Reply) -> None:
        for fact in step.facts:
            self._log.add(fact)
            self._facts.append(dict(fact))

    @contextmanager
    def _refusing(self, document: Any) -> Iterator[None]:
        try:
            yield
        except SealedRefused as refused:
            self._agreement.write_down(refused, document)
            raise


def serve(
    seat: Seat,
    tell: Callable[[str], None],
    *,
    once: bool = False,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Work until the total is opened; with `once`, until there is nothing to do.

    An unreachable server is retried without limit, unless `once`.
    """
    silent = 0
    while True:
        asked = time.monotonic()
        try:
            work = seat.work(0 if once else WAIT)
        except (Refused, Unreachable) as error:
            if once or (isinstance(error, Refused) and error.reason not in LATER):
                raise
            silent += 1
            if silent == 1:
                tell(f"waiting: {error}")
            pause(_PATIENCE.before(min(silent, 7)))
            continue
        if silent:
            tell("the server responds again")
            silent = 0
        if work.kind is WorkKind.DONE:
            tell("done: there is nothing more to do")
            return
        if work.kind is WorkKind.DEAD:
            raise SealedRefused(
                "the server", "it says that nothing can be opened; ask the requester why"
            )
        if work.kind is WorkKind.WAIT:
            if once:
                return
            pause(max(0.0, SOONEST - (time.monotonic() - asked)))


@dataclass(frozen=True, slots=True)
class SeatRecord:
    """One campaign in a keyholder's folder; `problem` is why it cannot be read."""

    folder: Path
    agreement: Agreement | None
    facts: tuple[Logged, ...]
    problem: str | None = None

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read a campaign's folder and verify its log."""
        try:
            agreement = Agreement.read(folder)
            return cls(folder, agreement, tuple(agreement.log.facts()))
        except SottovoceError as error:
            return cls(folder, None, (), str(error))

    @property
    def dealt(self) -> Logged | None:
        """When noise was dealt."""
        return self._last(DEALT)

    @property
    def confirmed(self) -> Logged | None:
        """The last confirmed state: `number`, `count`."""
        return self._last(CONFIRMED)

    @property
    def opened(self) -> Logged | None:
        """When the share of the total was published."""
        return self._last(OPENED)

    @property
    def refusals(self) -> tuple[Logged, ...]:
        """Recorded violations of the protocol."""
        return tuple(logged for logged in self.facts if logged.fact["fact"] == REFUSED)

    def as_json(self) -> dict[str, Any]:
        """The record as JSON."""
        agreement = self.agreement
        if agreement is None:
            return {"folder": str(self.folder), "problem": self.problem}
        return {
            "campaign": agreement.session.campaign,
            "server": agreement.server,
            "session": agreement.session.id,
            "policy_hash": agreement.session.policy.hash,
            "seat": agreement.seat,
            "folder": str(self.folder),
            "facts": [{"at": logged.at, **logged.fact} for logged in self.facts],
            "problem": None,
        }

    def _last(self, name: str) -> Logged | None:
        return next((each for each in reversed(self.facts) if each.fact["fact"] == name), None)


def seat_records(home: Path) -> list[SeatRecord]:
    """The records of all campaigns in a keyholder's folder."""
    return [SeatRecord.of(folder) for folder in Agreement.all(home)]


def _kept(path: Path, agreement: Agreement, dealt: Fact) -> bytes:
    """The stored deal: noise is never dealt twice."""
    try:
        content = path.read_bytes()
        if read_message(agreement.session, content).digest != dealt["digest"]:
            raise DataError("this differs from the deal that was sent", file=str(path))
    except OSError as error:
        raise DataError(f"the deal cannot be read ({error.strerror})", file=str(path)) from None
    except SealedRefused:
        raise DataError("this file was changed or damaged", file=str(path)) from None
    return content
