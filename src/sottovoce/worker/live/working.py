"""A worker's software for one live session: answers go in, and only parts of sums leave, sealed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from sottovoce.connection.live.agreeing import agreed_terms
from sottovoce.connection.live.line import LiveLine, LiveLink, senseless
from sottovoce.connection.live.offers import GATHERING, LiveOffer
from sottovoce.errors import UsageError
from sottovoce.model.sum_rounds import Contributor
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.em.contributor import PrivateContributor, contributor_of
from sottovoce.securesum.em.planner import planner_of
from sottovoce.securesum.star.worker import WorkerSession
from sottovoce.worker.ledger import Ledger
from sottovoce.worker.live.answers import LiveAnswers
from sottovoce.worker.live.booking import Booked, spending_of
from sottovoce.worker.live.outcome import LiveOutcome
from sottovoce.worker.live.own_keys import OwnKeys
from sottovoce.worker.live.promising import Promise, check_promise, promise_of
from sottovoce.worker.live.suites import suite_of
from sottovoce.worker.live.taking_part import take_part

__all__ = ["PATIENCE", "LiveWorker"]

PATIENCE = 120.0
"""Seconds for which a server may be silent: it may be about to start again."""


class LiveWorker:
    """One worker of one live session, from the offer to its own skill at the end.

        with LiveWorker("https://answers.example/l/leaf0#svl_…") as worker:
            print(worker.offer.mode, worker.offer.suite)
            outcome = worker.run(answers)

    The order is the argument: the terms are held against the offer, a key that was dealt is
    verified, and what noised sums betray is booked in the `ledger`, before anything of the answers
    leaves. Keys are drawn when it joins and are never on a disk: who is killed cannot come back.
    `SealedRefused` names who broke the protocol, and ends it.
    """

    def __init__(
        self,
        link: str,
        *,
        ledger: Ledger | None = None,
        patience: float = PATIENCE,
        tell: Callable[[str], None] = lambda _: None,
        allow_http: bool = False,
    ) -> None:
        self._link = LiveLink.parse(link, allow_http=allow_http)
        self._ledger, self._tell = ledger, tell
        self._promises: dict[int, Promise | None] = {}
        self._line = LiveLine(self._link, patience=patience, tell=tell, allow_http=allow_http)
        try:
            self.offer = LiveOffer.parse(self._link, self._line.offer())
        except BaseException:
            self._line.close()
            raise

    def __repr__(self) -> str:
        return f"LiveWorker({self._link.session!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._line.close()

    def promise(self, answers: LiveAnswers) -> Promise | None:
        """What taking part with these answers betrays at most; None where nothing is promised."""
        count = len(answers)
        if count not in self._promises:  # it may take seconds to work out
            self._promises[count] = promise_of(self.offer, count)
        return self._promises[count]

    def check(self, answers: LiveAnswers) -> None:
        """Refuse now what would be refused after joining; nothing is sent or spent."""
        if self.offer.state != GATHERING:
            raise UsageError(
                f"nobody can join live session {self.offer.session} any more: it is "
                f"{self.offer.state}"
            )
        if not len(answers):
            raise UsageError("there is nothing to add: give at least one answer")
        if (promise := self.promise(answers)) is not None:
            self._booking().check(spending_of(self.offer, answers.tasks, promise))

    def run(self, answers: LiveAnswers) -> LiveOutcome:
        """Join, and take part until the end."""
        self.check(answers)
        keys = OwnKeys.fresh()
        number = self._joined(keys)
        self._tell(f"joined as worker {number} of {self.offer.workers:,}; waiting for the others")
        session, contributor = self._session(answers, number, keys)
        ended = take_part(session, self._line, self._tell)
        opened = session.opened
        return LiveOutcome(
            self.offer.session, number, ended, len(opened), self.offer.labels,
            contributor.skill(opened) if opened else None,
        )  # fmt: skip

    def _joined(self, keys: OwnKeys) -> int:
        own = keys.member(1)
        reply = self._line.post("/join", {"signing": own.signing, "sealing": own.sealing})
        return int(self._sensible(lambda: _number(reply)))

    def _session(
        self, answers: LiveAnswers, number: int, keys: OwnKeys
    ) -> tuple[WorkerSession, PrivateContributor]:
        """The worker's side of the protocol, once everything about it is checked."""
        document = self._line.terms()
        found, deal = self._sensible(lambda: (document["terms"], document["deal"]))
        terms, purpose = agreed_terms(found, self.offer, keys.member(number))
        suite = suite_of(terms, number, keys, deal)
        contributor = contributor_of(purpose, answers.task, answers.label, SystemRandomness())
        booked: Contributor = contributor
        if (promise := self.promise(answers)) is not None:
            held = check_promise(purpose, terms.size, promise, len(answers))
            booked = Booked(
                contributor, self._booking(), spending_of(self.offer, answers.tasks, held)
            )
        session = WorkerSession(terms, number, keys.signing, planner_of(purpose), booked, suite)
        return session, contributor

    def _booking(self) -> Ledger:
        if self._ledger is None:
            raise UsageError("what noised sums betray is booked: a ledger is needed")
        return self._ledger

    def _sensible(self, parse: Callable[[], Any]) -> Any:
        try:
            return parse()
        except (KeyError, TypeError, ValueError):
            raise senseless(self._link.server) from None


def _number(reply: Any) -> int:
    number = reply["number"]
    if type(number) is not int or number < 1:
        raise ValueError
    return number
