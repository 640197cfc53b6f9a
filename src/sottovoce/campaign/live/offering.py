"""What a requester asks a live session to be, and a worker agrees to before it joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Self

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.model import Keyholder
from sottovoce.model.campaign import LONGEST_NAME, check_text
from sottovoce.securesum.em.planner import USUAL
from sottovoce.securesum.em.terms import MOST_NOISED, MOST_SCALE, Mode
from sottovoce.securesum.star.terms import FEWEST_MEMBERS, MOST_MEMBERS, SIZES, Suite

__all__ = ["MOST_LABELS", "MOST_ROUNDS", "MOST_TASKS", "LiveOffer", "wrong"]

MOST_TASKS, MOST_LABELS, MOST_ROUNDS = 100_000, 100, 1_000
LEAST_PATIENCE, MOST_PATIENCE = 0.1, 3_600.0
BITS, S = 2_048, 1


@dataclass(frozen=True, slots=True)
class LiveOffer:
    """A session before it has workers. What is None is worked out once it is known who joined.

    `patience` is the seconds that a phase waits for its last reply.
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
        with wrong("title"):
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
        """The offer with what was left out filled in, where it has a usual value."""
        given = {name: value for name, value in asked.items() if value is not None}
        mode, suite = Mode(given["mode"]), Suite(given["suite"])
        if mode is Mode.NOISED:  # which brings its own scale
            given = {"delta": 0.0, "weighted_rounds": 0, **given}
        else:
            given = {"scale": USUAL[mode]["scale"], **given}
        if suite is Suite.DAMGARD_JURIK:
            given = {"bits": BITS, "s": S, **given}
        return cls(**{**given, "mode": mode, "suite": suite})

    def as_json(self) -> dict[str, Any]:
        """The offer as it is stored and shown."""
        dealer = None if self.dealer is None else self.dealer.as_json()
        return {**asdict(self), "tasks": list(self.tasks), "labels": list(self.labels),
                "suite": str(self.suite), "mode": str(self.mode), "dealer": dealer}  # fmt: skip

    @classmethod
    def of_json(cls, document: Mapping[str, Any]) -> Self:
        """The offer that `as_json` wrote."""
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
            raise _refused("epsilon", f"epsilon is above 0 and at most 100, not {self.epsilon:g}")
        if self.delta is not None and not 0 <= self.delta < 1:
            raise _refused("delta", f"delta is from 0 to below 1, not {self.delta:g}")
        if self.weighted_rounds is not None:
            _check_range("weighted_rounds", self.weighted_rounds, 0, MOST_NOISED - 1)

    def _check_key(self) -> None:
        given = {"dealer": self.dealer, "bits": self.bits, "s": self.s}
        sealed = self.suite is Suite.DAMGARD_JURIK
        if sealed and self.dealer is None:
            raise _refused(
                "dealer", "damgard_jurik needs somebody who deals its key: give a keyholder's card"
            )
        _check_only_for("suite damgard_jurik", given, needed=sealed)
        if self.bits is not None and self.bits not in SIZES:
            sizes = ", ".join(map(str, SIZES))
            raise _refused("bits", f"a key has {sizes} bits, not {self.bits}")
        if self.s is not None:
            _check_range("s", self.s, 1, 4)


@contextmanager
def wrong(field: str) -> Iterator[None]:
    """Say of what makes no sense which field it is in."""
    try:
        yield
    except UsageError as error:
        raise _refused(field, str(error)) from None


def _check_names(field: str, what: str, names: Sequence[str], least: int, most: int) -> None:
    if not least <= len(names) <= most:
        raise _refused(field, f"a session has {least} to {most:,} {field}, not {len(names):,}")
    with wrong(field):
        for name in names:
            check_text(what, name, LONGEST_NAME)
    if len(set(names)) != len(names):
        raise _refused(field, f"one of the {field} is there twice")


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
