"""The draft of a live session: the requester's settings, and the resulting terms.

A worker agrees to the draft before joining. The terms, which all members sign under, follow from
the draft and from the workers who joined.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from sottovoce.errors import Reason, Refused
from sottovoce.live.server.replica import check_suite
from sottovoce.model import Keyholder
from sottovoce.model.campaign import LONGEST_NAME, check_text
from sottovoce.model.sum_rounds import SumSpec
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest
from sottovoce.securesum.em.planner import USUAL, codec_of, exact_terms
from sottovoce.securesum.em.sensitivity import NoisedSlots
from sottovoce.securesum.em.terms import MOST_NOISED, MOST_SCALE, EMTerms, Mode
from sottovoce.securesum.envelope import b64
from sottovoce.securesum.masked.masks import check_fits
from sottovoce.securesum.star.terms import (
    FEWEST_MEMBERS,
    MOST_MEMBERS,
    SIZES,
    KeyTerms,
    Member,
    StarTerms,
    Suite,
    default_threshold,
)
from sottovoce.server.campaigns.drafts import malformed_field

MOST_TASKS, MOST_LABELS, MOST_ROUNDS = 100_000, 100, 1_000
LEAST_PATIENCE, MOST_PATIENCE = 0.1, 3_600.0
BITS, S = 2_048, 1


@dataclass(frozen=True, slots=True)
class SessionDraft:
    """A session before it has workers. None values are computed once the workers are known.

    `patience` is how many seconds a phase waits for replies.
    """

    title: str
    tasks: tuple[str, ...]
    labels: tuple[str, ...]
    suite: Suite
    mode: Mode
    workers: int
    scale: int | None = None
    rounds: int = 100
    patience: float = 60.0
    threshold: int | None = None
    minimum: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    weighted_rounds: int | None = None
    bits: int | None = None
    s: int | None = None
    dealer: Keyholder | None = None

    def __post_init__(self) -> None:
        with malformed_field("title"):
            check_text("the title", self.title, LONGEST_NAME)
        _check_names("tasks", "a task's name", self.tasks, 1, MOST_TASKS)
        _check_names("labels", "a label", self.labels, 2, MOST_LABELS)
        _check_range("workers", self.workers, FEWEST_MEMBERS, MOST_MEMBERS)
        _check_range("rounds", self.rounds, 1, MOST_ROUNDS)
        _check_range("patience", self.patience, LEAST_PATIENCE, MOST_PATIENCE)
        self._check_quorum()
        self._check_noise()
        self._check_key()

    @classmethod
    def asked(cls, **asked: Any) -> Self:
        """The draft with default values filled in."""
        given = {name: value for name, value in asked.items() if value is not None}
        mode, suite = Mode(given["mode"]), Suite(given["suite"])
        if mode is Mode.NOISED:  # noise has its own scale
            given = {"delta": 0.0, "weighted_rounds": 0, **given}
        else:
            given = {"scale": USUAL[mode]["scale"], **given}
        if suite is Suite.DAMGARD_JURIK:
            given = {"bits": BITS, "s": S, **given}
        return cls(**{**given, "mode": mode, "suite": suite})

    def as_json(self) -> dict[str, Any]:
        """The draft in the stored format."""
        dealer = None if self.dealer is None else self.dealer.as_json()
        names = {"tasks": list(self.tasks), "labels": list(self.labels)}
        kinds = {"suite": str(self.suite), "mode": str(self.mode)}
        return {**asdict(self), **names, **kinds, "dealer": dealer}

    @classmethod
    def of_json(cls, document: Mapping[str, Any]) -> Self:
        """The draft that `as_json` wrote."""
        dealer = document["dealer"]
        return cls(
            **{
                **document,
                "tasks": tuple(document["tasks"]),
                "labels": tuple(document["labels"]),
                "suite": Suite(document["suite"]),
                "mode": Mode(document["mode"]),
                "dealer": None if dealer is None else Keyholder.of_json(dealer),
            }
        )

    def _check_quorum(self) -> None:
        if self.threshold is not None:
            _check_range("threshold", self.threshold, self.workers // 2 + 1, self.workers)
        if self.minimum is not None:
            _check_range("minimum", self.minimum, self.threshold or 1, self.workers)

    def _check_noise(self) -> None:
        given = {
            "epsilon": self.epsilon,
            "delta": self.delta,
            "weighted_rounds": self.weighted_rounds,
        }
        noised = self.mode is Mode.NOISED
        _check_only_for("mode noised", given, needed=noised)
        _check_only_for("modes without noise", {"scale": self.scale}, needed=not noised)
        if self.scale is not None:
            _check_range("scale", self.scale, 1, MOST_SCALE)
        if self.epsilon is not None and not 0 < self.epsilon <= 100:
            raise _refused(
                "epsilon", f"epsilon must be above 0 and at most 100, not {self.epsilon:g}"
            )
        if self.delta is not None and not 0 <= self.delta < 1:
            raise _refused("delta", f"delta must be from 0 to below 1, not {self.delta:g}")
        if self.weighted_rounds is not None:
            _check_range("weighted_rounds", self.weighted_rounds, 0, MOST_NOISED - 1)

    def _check_key(self) -> None:
        given = {"dealer": self.dealer, "bits": self.bits, "s": self.s}
        sealed = self.suite is Suite.DAMGARD_JURIK
        if sealed and self.dealer is None:
            raise _refused(
                "dealer", "damgard_jurik needs a dealer for its key; give a keyholder's card"
            )
        _check_only_for("suite damgard_jurik", given, needed=sealed)
        if self.bits is not None and self.bits not in SIZES:
            sizes = ", ".join(map(str, SIZES))
            raise _refused("bits", f"a key must have {sizes} bits, not {self.bits}")
        if self.s is not None:
            _check_range("s", self.s, 1, 4)


def _check_names(field: str, what: str, names: Sequence[str], least: int, most: int) -> None:
    if not least <= len(names) <= most:
        raise _refused(field, f"a session has {least} to {most:,} {field}, not {len(names):,}")
    with malformed_field(field):
        for name in names:
            check_text(what, name, LONGEST_NAME)
    if len(set(names)) != len(names):
        raise _refused(field, f"one of the {field} appears twice")


def _check_range(field: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        words = field.replace("_", " ")
        raise _refused(field, f"{words}: from {least:,} to {most:,}, not {value:,}")


def _check_only_for(what: str, given: Mapping[str, object], *, needed: bool) -> None:
    for field, value in given.items():
        if needed is not (value is not None):
            word = "needed for" if needed else "only for"
            raise _refused(field, f"{field.replace('_', ' ')} is {word} {what}")


def _refused(field: str, message: str) -> Refused:
    return Refused(Reason.MALFORMED, message, field=field)


def session_terms(
    offer: SessionDraft, id: str, coordinator: str, members: Sequence[Member]
) -> StarTerms:
    """The terms of a session with these members. Calibrating noise may take seconds.

    By default ceil(2 (J + 1) / 3) workers must agree (P2, section 6.3), and this is also the fewest
    workers in an opened sum.
    """
    threshold = offer.threshold or default_threshold(len(members))
    minimum = offer.minimum or threshold
    with malformed_field("workers"):
        shape = StarTerms(
            id, offer.suite, {}, threshold, minimum, coordinator, tuple(members), _key(offer)
        )
    return replace(shape, purpose=_purpose(offer, len(members)).as_json())


def check_draft(offer: SessionDraft, coordinator: str) -> None:
    """Refuse a draft that could not start even if all workers joined."""
    with malformed_field("suite"):
        check_suite(offer.suite)
    members = [
        Member(number, b64(secrets.token_bytes(32)), b64(secrets.token_bytes(32)))
        for number in range(1, offer.workers + 1)
    ]
    terms = session_terms(offer, "rehearsal", coordinator, members)
    # With every suite, totals are stored and sent as 64-bit integers.
    with malformed_field("scale"):
        for spec in _specs(EMTerms.of_json(terms.purpose)):
            check_fits(spec, terms.size)


def _specs(purpose: EMTerms) -> list[SumSpec]:
    """The sums of the rounds, with the largest values of a worker."""
    if purpose.noise is None:
        return [SumSpec(len(purpose.tasks), codec_of(purpose).greatest)]
    return [NoisedSlots(purpose).spec(number) for number in range(len(purpose.noise.rounds))]


def _key(offer: SessionDraft) -> KeyTerms | None:
    if offer.dealer is None or offer.bits is None or offer.s is None:
        return None
    return KeyTerms(offer.bits, offer.dealer, offer.s)


def _purpose(offer: SessionDraft, workers: int) -> EMTerms:
    if offer.epsilon is None or offer.scale is not None:
        with malformed_field("scale"):
            return exact_terms(
                offer.tasks, offer.labels, offer.mode, scale=offer.scale, rounds=offer.rounds
            )
    with malformed_field("epsilon"):
        return calibrated(
            offer.tasks,
            offer.labels,
            offer.epsilon,
            offer.delta or 0.0,
            honest=default_honest(workers),
            weighted_rounds=offer.weighted_rounds or 0,
        )
