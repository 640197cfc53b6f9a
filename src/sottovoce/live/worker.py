"""The worker's client for one live session: only sealed parts of sums leave the device.

Answers are codes, and are in no repr, log or error. The worker's keys for the session exist in
memory only. The largest privacy loss of noised sums is computed before joining, compared with the
terms, and booked in the ledger before anything about the answers is sent. Then the server sends
turns until the end, and the worker replies to each once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from sottovoce.errors import Reason, Refused, SealedRefused, UsageError
from sottovoce.live.member_client import LiveLink, MemberClient, invalid_reply
from sottovoce.live.offer import GATHERING, LiveOffer, check_terms
from sottovoce.model import FloatArray, Guarantee, Unit
from sottovoce.model.canonical_json import canonical
from sottovoce.model.sum_rounds import Contributor, Integers, OpenedSum
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.em.contributor import PrivateContributor, contributor_of
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest, guarantee
from sottovoce.securesum.em.planner import planner_of
from sottovoce.securesum.em.terms import EMTerms, Law
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text, sha256_hex, unb64
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.masked.worker import MaskedWorker
from sottovoce.securesum.star.messages import THE_SERVER
from sottovoce.securesum.star.suite import WorkerSuite
from sottovoce.securesum.star.terms import Member, StarTerms, Suite
from sottovoce.securesum.star.worker import SessionEnded, WorkerSession
from sottovoce.worker.ledger import Ledger, Spending

PATIENCE = 120.0
"""Seconds for which a server may be silent: it may be restarting."""

Promise: TypeAlias = Mapping[Unit, Guarantee]
"""A guarantee for one answer, and for all answers of a worker together."""

WHOLE = 1 + 1 / 64
"""A Gaussian share has an integer variance of 64 or more. Among fewer workers there may be this
much less noise, which is still enough for the offered guarantee of one answer."""

MECHANISM = "noised-sums"
NEGLIGIBLE = 1e-20
"""A delta below this is shown but not booked: hardware faults are more likely."""


@dataclass(frozen=True, slots=True, eq=False)
class LiveAnswers:
    """The answered tasks of a session and their labels, row by row.

    >>> LiveAnswers(np.array([0, 2]), np.array([1, 1]))
    LiveAnswers()
    """

    task: Integers = field(repr=False)
    label: Integers = field(repr=False)

    def __post_init__(self) -> None:
        if self.task.shape != self.label.shape or self.task.ndim != 1:
            raise UsageError("each answer must have one task and one label")

    def __len__(self) -> int:
        return len(self.task)

    @property
    def tasks(self) -> Integers:
        """The tasks that were answered, each once."""
        return np.unique(self.task)


@dataclass(frozen=True, slots=True, eq=False)
class LiveOutcome:
    """The end of a session: its state, the opened rounds, and this worker's skill.

    `skill` has P(answer | truth) at [truth, answer], as the worker computes it from what was
    opened: for two labels β at [0, 0] and α at [1, 1]. It never leaves the device. None if nothing
    was opened.
    """

    session: str
    number: int
    ended: SessionEnded
    rounds: int
    labels: tuple[str, ...]
    skill: FloatArray | None = field(repr=False)

    @property
    def is_done(self) -> bool:
        """Whether all sums were computed."""
        return self.ended.state == "done"

    def as_json(self) -> dict[str, Any]:
        """The outcome as JSON, for the worker only."""
        return {
            "session": self.session,
            "number": self.number,
            "state": self.ended.state,
            "reason": self.ended.reason,
            "culprits": list(self.ended.culprits),
            "rounds": self.rounds,
            "labels": list(self.labels),
            "skill": None if self.skill is None else self.skill.round(6).tolist(),
        }


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """A worker's signing and sealing keys for one session.

    They are never stored. A worker that crashes cannot rejoin, so it never contradicts itself.
    """

    signing: Ed25519PrivateKey = field(repr=False)
    sealing: X25519PrivateKey = field(repr=False)

    @classmethod
    def fresh(cls) -> Self:
        """New keys, drawn from the operating system's generator."""
        return cls(Ed25519PrivateKey.generate(), X25519PrivateKey.generate())

    def member(self, number: int) -> Member:
        """The public keys in the format of terms."""
        sealing = b64(self.sealing.public_key().public_bytes_raw())
        return Member(number, public_text(self.signing), sealing)


class LiveWorker:
    """One worker of one live session, from the offer to its own skill at the end.

        with LiveWorker("https://answers.example/l/leaf0#svl_…") as worker:
            print(worker.offer.mode, worker.offer.suite)
            outcome = worker.run(answers)

    The order is the safety argument: before anything about the answers is sent, the terms are
    compared with the offer, a dealt key is verified, and the privacy loss of noised sums is booked
    in the `ledger`. Keys are drawn at joining and never stored: a killed worker cannot rejoin.
    `SealedRefused` ends the session and names who broke the protocol.
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
        self._client = MemberClient(self._link, patience=patience, tell=tell, allow_http=allow_http)
        try:
            self.offer = LiveOffer.parse(self._link, self._client.offer())
        except BaseException:
            self._client.close()
            raise

    def __repr__(self) -> str:
        return f"LiveWorker({self._link.session!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def promise(self, answers: LiveAnswers) -> Promise | None:
        """The largest privacy loss of taking part with these answers; None without a promise."""
        count = len(answers)
        if count not in self._promises:  # it may take seconds to compute
            self._promises[count] = promise_of(self.offer, count)
        return self._promises[count]

    def check(self, answers: LiveAnswers) -> None:
        """Refuse before joining what would be refused later; nothing is sent or spent."""
        if self.offer.state != GATHERING:
            raise UsageError(
                f"nobody can join live session {self.offer.session}: it is {self.offer.state}"
            )
        if not len(answers):
            raise UsageError("there is nothing to add; give at least one answer")
        if (promise := self.promise(answers)) is not None:
            self._booking().check(spending_of(self.offer, answers.tasks, promise))

    def run(self, answers: LiveAnswers) -> LiveOutcome:
        """Join, and take part until the end."""
        self.check(answers)
        keys = OwnKeys.fresh()
        number = self._joined(keys)
        self._tell(f"joined as worker {number} of {self.offer.workers:,}; waiting for the others")
        session, contributor = self._session(answers, number, keys)
        ended = take_part(session, self._client, self._tell)
        opened, offer = session.opened, self.offer
        skill = contributor.skill(opened) if opened else None
        return LiveOutcome(offer.session, number, ended, len(opened), offer.labels, skill)

    def _joined(self, keys: OwnKeys) -> int:
        own = keys.member(1)
        reply = self._client.post("/join", {"signing": own.signing, "sealing": own.sealing})
        return int(self._sensible(lambda: _number(reply)))

    def _session(
        self, answers: LiveAnswers, number: int, keys: OwnKeys
    ) -> tuple[WorkerSession, PrivateContributor]:
        """The worker's side of the protocol, after all checks."""
        document = self._client.terms()
        found, deal = self._sensible(lambda: (document["terms"], document["deal"]))
        terms, purpose = check_terms(found, self.offer, keys.member(number))
        suite = suite_of(terms, number, keys, deal)
        contributor = contributor_of(purpose, answers.task, answers.label, SystemRandomness())
        booked: Contributor = contributor
        if (promise := self.promise(answers)) is not None:
            held = check_promise(purpose, terms.size, promise, len(answers))
            booked = BookedContributor(
                contributor, self._booking(), spending_of(self.offer, answers.tasks, held)
            )
        session = WorkerSession(terms, number, keys.signing, planner_of(purpose), booked, suite)
        return session, contributor

    def _booking(self) -> Ledger:
        if self._ledger is None:
            raise UsageError("a ledger is needed to book the privacy loss of noised sums")
        return self._ledger

    def _sensible(self, parse: Callable[[], Any]) -> Any:
        try:
            return parse()
        except (KeyError, TypeError, ValueError):
            raise invalid_reply(self._link.server) from None


def _number(reply: Any) -> int:
    number = reply["number"]
    if type(number) is not int or number < 1:
        raise ValueError
    return number


def suite_of(terms: StarTerms, number: int, keys: OwnKeys, deal: Any) -> WorkerSuite:
    """The worker's side of the suite. A key's document and the worker's share are verified."""
    if terms.suite is Suite.MASKED:
        return MaskedWorker(keys.sealing)
    # It needs gmpy2, which the other suite does not.
    from sottovoce.securesum.damgard_jurik.dealer import open_share, read_public
    from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker

    document, sealed = _dealt(deal)
    public = read_public(terms, document)
    return ThresholdWorker(public, open_share(terms, public, number, keys.sealing, sealed))


def _dealt(deal: Any) -> tuple[bytes, bytes]:
    """The dealer's document and this worker's sealed share, from the server."""
    try:
        document, sealed = deal["public"].encode("ascii"), unb64(deal["share"])
    except (KeyError, TypeError, AttributeError, ValueError):
        document, sealed = b"", None
    if sealed is None:
        raise SealedRefused(THE_SERVER, "it sent no dealt key")
    return document, sealed


class TurnClient(Protocol):
    """The connection that a session needs to its server."""

    def turn(self) -> bytes | None:
        """The current turn; None if there is none after a long poll."""
        ...

    def reply(self, content: bytes) -> None:
        """Send a reply; the server has it when this returns."""
        ...


def take_part(
    session: WorkerSession, client: TurnClient, tell: Callable[[str], None]
) -> SessionEnded:
    """Take part until the session ends. `SealedRefused` ends it too, and names the culprit.

    Work for the next turn is prepared after a reply is sent, while others work on theirs.
    """
    session.prepare()
    while session.ended is None:
        turn = client.turn()
        if turn is None:
            continue
        opened = len(session.opened)
        reply = session.on(turn)
        if len(session.opened) > opened:
            tell(f"round {opened} is opened, with {session.opened[-1].workers:,} workers")
        if reply is not None:
            _send(reply, client)
            session.prepare()
    return session.ended


def _send(reply: bytes, client: TurnClient) -> None:
    """Send a reply. A late one is refused: the next turn has the consequence."""
    try:
        client.reply(reply)
    except Refused as refused:
        if refused.reason is not Reason.NOT_OPEN:
            raise


def promise_of(offer: LiveOffer, answers: int) -> Promise | None:
    """The largest privacy loss of a number of answers, for any roster; None without a promise."""
    if offer.noise is None:
        return None
    noise = offer.noise
    terms = calibrated(
        offer.tasks,
        offer.labels,
        noise.epsilon,
        noise.delta,
        honest=default_honest(offer.workers),
        weighted_rounds=noise.weighted_rounds,
    )
    found = promised(terms, answers)
    one, together = found[Unit.ANSWER], found[Unit.WORKER]
    return {
        Unit.ANSWER: replace(one, epsilon=noise.epsilon),
        Unit.WORKER: replace(together, epsilon=together.epsilon * _margin(terms)),
    }


def promised(terms: EMTerms, answers: int) -> Promise:
    """The guarantee of these terms' noise for a worker with a number of answers."""
    return {unit: guarantee(terms, answers, unit) for unit in Unit}


def check_promise(purpose: EMTerms, workers: int, promise: Promise, answers: int) -> Promise:
    """The guarantee of the terms, if it is at least the one offered before joining.

    It must not count on more honest workers than the rule allows: their noise could be missing.
    """
    noise = purpose.noise
    if noise is None:
        raise SealedRefused(
            THE_SERVER, "the offer has noise in all totals, but the terms have none"
        )
    if noise.honest > default_honest(workers):
        raise SealedRefused(
            THE_SERVER, f"the noise counts on {noise.honest} of {workers} workers being honest"
        )
    held = promised(purpose, answers)
    weaker = [
        unit for unit in Unit if not held[unit].within(promise[unit].epsilon, promise[unit].delta)
    ]
    if weaker:
        raise SealedRefused(THE_SERVER, "the terms have less noise than was offered")
    return held


def _margin(terms: EMTerms) -> float:
    rounds = () if terms.noise is None else terms.noise.rounds
    return WHOLE if any(each.law is Law.GAUSSIAN for each in rounds) else 1.0


class BookedContributor:
    """A contributor that books the spend before its first values; if refused, it sends none."""

    def __init__(self, contributor: Contributor, ledger: Ledger, spending: Spending) -> None:
        self._contributor, self._ledger, self._spending = contributor, ledger, spending

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        """The worker's values; in the first round, after the spend is on disk."""
        if not opened:
            self._ledger.spend(self._spending)
        return self._contributor.values(opened)


def spending_of(offer: LiveOffer, tasks: Integers, promise: Promise) -> Spending:
    """The spend of taking part with answers to these tasks. A worker takes part once.

    Tasks are places in the offer, each once.
    """
    named = tuple(offer.tasks[task] for task in tasks)

    def held_by(answers: int, unit: Unit) -> Guarantee:
        held = promise[unit]
        return replace(held, delta=0.0) if held.delta < NEGLIGIBLE else held

    return Spending("you", offer.requester, _named(offer), MECHANISM, named, held_by, whole=True)


def _named(offer: LiveOffer) -> str:
    """The hash of the offer, which is the policy hash in the ledger."""
    names = {"labels": list(offer.labels), "tasks": list(offer.tasks)}
    return sha256_hex(canonical({"format": MECHANISM, "noise": repr(offer.noise), **names}))
