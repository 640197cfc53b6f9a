"""The offer of a live session, as its members parse it, and the check of the terms against it.

A member takes part only in what it agreed to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.live.member_client import LiveLink, invalid_reply
from sottovoce.model import Keyholder
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.envelope import unb64
from sottovoce.securesum.star.messages import THE_SERVER
from sottovoce.securesum.star.terms import (
    FEWEST_MEMBERS,
    KeyTerms,
    Member,
    StarTerms,
    Suite,
    default_threshold,
)

GATHERING = "gathering"
"""The state of a session that workers can join."""


@dataclass(frozen=True, slots=True)
class Noise:
    """The guarantee (ε, δ) of the noise for one answer, and the rounds after the counts."""

    epsilon: float
    delta: float
    weighted_rounds: int


@dataclass(frozen=True, slots=True)
class LiveOffer:
    """A session's question and protection, before its members are known.

    A member agrees to this and compares the terms with it (`check_terms`). `title` comes from the
    requester. Values that depend on the number of members or on the noise are None.
    """

    server: str
    session: str
    state: str
    title: str
    tasks: tuple[str, ...] = field(repr=False)
    labels: tuple[str, ...]
    suite: Suite
    mode: Mode
    scale: int | None
    rounds: int
    workers: int
    threshold: int | None
    minimum: int | None
    noise: Noise | None
    key: KeyTerms | None
    coordinator: str

    @classmethod
    def parse(cls, link: LiveLink, document: Any) -> Self:
        """Parse the offer that a server sent, if it is valid."""
        try:
            made = cls(
                link.server,
                link.session,
                str(document["state"]),
                _text(document["title"]),
                tuple(map(_text, document["tasks"])),
                tuple(map(_text, document["labels"])),
                Suite(document["suite"]),
                Mode(document["mode"]),
                _maybe_count(document["scale"]),
                _count(document["rounds"]),
                _count(document["workers"]),
                _maybe_count(document["threshold"]),
                _maybe_count(document["minimum"]),
                _noise(document),
                _key(document),
                _text(document["coordinator"]),
            )
            if document["id"] != link.session or not made._makes_sense:
                raise ValueError
        except (KeyError, TypeError, ValueError, AttributeError, UsageError):
            raise invalid_reply(link.server) from None
        return made

    @property
    def requester(self) -> str:
        """The session's name in the worker's ledger."""
        return f"{self.server}/live/{self.session}"

    def quorum(self, workers: int) -> tuple[int, int]:
        """Threshold and minimum of a session with this many workers (P2, section 6.3)."""
        threshold = self.threshold or default_threshold(workers)
        return threshold, self.minimum or threshold

    @property
    def _makes_sense(self) -> bool:
        return (
            (self.mode is Mode.NOISED) == (self.noise is not None)
            and (self.suite is Suite.DAMGARD_JURIK) == (self.key is not None)
            and len(set(self.tasks)) == len(self.tasks) > 0
            and len(set(self.labels)) == len(self.labels) > 1
            and len(unb64(self.coordinator) or b"") == 32
        )


def _noise(document: Any) -> Noise | None:
    if document["epsilon"] is None:
        return None
    epsilon, delta = float(document["epsilon"]), float(document["delta"])
    if not (epsilon > 0 and 0 <= delta < 1):
        raise ValueError
    return Noise(epsilon, delta, int(document["weighted_rounds"]))


def _key(document: Any) -> KeyTerms | None:
    if document["dealer"] is None:
        return None
    dealer = Keyholder.of_json(document["dealer"])
    return KeyTerms(_count(document["bits"]), dealer, _count(document["s"]))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError("no count")
    return value


def _maybe_count(value: Any) -> int | None:
    return None if value is None else _count(value)


def check_terms(
    document: Any, offer: LiveOffer, own: Member | None = None
) -> tuple[StarTerms, EMTerms]:
    """The server's terms and their specification, if they match the offer.

    Everything that could increase the privacy loss is compared: what is opened and at which scale,
    how many must agree, who deals the key, who signs for the server; and for a worker, whether its
    `own` keys are in its place. Each worker computes the guarantee of the noise itself.
    """
    try:
        terms = StarTerms.of_json(document)
        purpose = EMTerms.of_json(terms.purpose)
    except UsageError as error:
        raise SealedRefused(THE_SERVER, str(error)) from None
    differs = [*_differences(terms, offer), *_other_purposes(purpose, offer)]
    if own is not None and own not in terms.members:
        differs.append("this worker's own keys are not in its place")
    if differs:
        raise SealedRefused(THE_SERVER, f"the terms differ from the offer: {differs[0]}")
    return terms, purpose


def _differences(terms: StarTerms, offer: LiveOffer) -> Iterator[str]:
    """The differences from the offer, in words."""
    if terms.name != offer.session:
        yield "they are for another session"
    if terms.coordinator != offer.coordinator:
        yield "another key signs for the server"
    if terms.suite is not offer.suite:
        yield "another suite seals the sums"
    if terms.key != offer.key:
        yield "the key or its dealer is another one"
    if not FEWEST_MEMBERS <= terms.size <= offer.workers:
        yield f"there are {terms.size:,} workers, but {offer.workers:,} were offered"
    if (terms.threshold, terms.minimum) != offer.quorum(terms.size):
        yield "another number of workers must agree"


def _other_purposes(purpose: EMTerms, offer: LiveOffer) -> Iterator[str]:
    if purpose.mode is not offer.mode:
        yield "other sums are opened"
    if (purpose.tasks, purpose.labels) != (offer.tasks, offer.labels):
        yield "they are about other tasks or labels"
    if purpose.repeats != 1:
        yield "a task may be answered more than once"
    if offer.noise is None and (purpose.scale, purpose.rounds) != (offer.scale, offer.rounds):
        yield "the scale or the number of rounds differs"
