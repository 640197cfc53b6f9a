"""EMTerms: mode, scale and noise of a private EM."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, Self

from sottovoce.errors import UsageError
from sottovoce.model.canonical_json import canonical

PURPOSE = "sottovoce-private-em/1"
MOST_SCALE = 10**14
"""P2, section 6.2: the largest L of its experiments."""

MOST_PART = 10**12
MOST_NOISED = 10


class Mode(StrEnum):
    """The sums that are opened. They determine the privacy loss."""

    AS_PUBLISHED = "as_published"
    """Every log-likelihood of every round (P2, protocol 1). `sealed attack` finds labels in it."""
    LOG_ODDS = "log_odds"
    """Differences of log-likelihoods only: half of it, and often enough to find labels."""
    NOISED = "noised"
    """Noised counts, and noised weighted counts if they help: with a guarantee."""


class Law(StrEnum):
    """The law of a round's noise."""

    LAPLACE = "laplace"
    """Shares of discrete Laplace noise: `size` is b of P(z) ∝ exp(-|z| / b), of honest shares."""
    GAUSSIAN = "gaussian"
    """Discrete Gaussian shares: `size` is σ² of one of them."""


@dataclass(frozen=True, slots=True)
class RoundNoise:
    """The noise in the sums of one round, in its steps: the law, and its b or σ²."""

    law: Law
    size: Fraction

    def __post_init__(self) -> None:
        _check_fraction("the size of noise", self.size)
        if self.law is Law.GAUSSIAN and self.size.denominator != 1:
            raise UsageError(f"the variance of a share must be an integer, not {self.size}")

    def as_json(self) -> list[Any]:
        """The noise of a round in the terms."""
        return [str(self.law), _pair(self.size)]


@dataclass(frozen=True, slots=True)
class NoiseTerms:
    """The noise of `noised` rounds: of counts first, then of each weighted sum.

    They keep `epsilon` and `delta` per answer if `honest` workers of every opened set add their
    share of the noise.
    """

    epsilon: Fraction
    delta: Fraction
    honest: int
    rounds: tuple[RoundNoise, ...]

    def __post_init__(self) -> None:
        _check_fraction("epsilon", self.epsilon)
        if self.delta != 0:
            _check_fraction("delta", self.delta)
        if self.delta >= 1:
            raise UsageError(f"delta must be below 1, not {float(self.delta):g}")
        if self.honest < 2:
            raise UsageError(f"noise needs at least 2 honest workers, not {self.honest}")
        if not 1 <= len(self.rounds) <= MOST_NOISED:
            raise UsageError(f"noise must be of 1 to {MOST_NOISED} rounds, not {len(self.rounds)}")

    @property
    def weighted(self) -> int:
        """The number of rounds after that of the counts."""
        return len(self.rounds) - 1

    def as_json(self) -> dict[str, Any]:
        """The noise in the terms."""
        return {
            "delta": _pair(self.delta),
            "epsilon": _pair(self.epsilon),
            "honest": self.honest,
            "rounds": [each.as_json() for each in self.rounds],
        }

    @classmethod
    def of_json(cls, document: Any) -> Self:
        """The noise that `as_json` wrote."""
        return cls(
            _fraction(document["epsilon"]),
            _fraction(document["delta"]),
            document["honest"],
            tuple(RoundNoise(Law(law), _fraction(size)) for law, size in document["rounds"]),
        )


@dataclass(frozen=True, slots=True)
class EMTerms:
    """A private EM: its tasks and labels, what it opens, and when it stops.

    `scale` is P2's L. Probabilities stay within [1/clip, 1 - 1/clip] before their logarithm is
    taken; the EM stops after `rounds` rounds, or when Q changes by less than 1/tolerance of
    itself. A worker has at most `repeats` answers to one task.
    """

    tasks: tuple[str, ...]
    labels: tuple[str, ...]
    mode: Mode
    scale: int
    clip: int = 10**6
    tolerance: int = 10**8
    rounds: int = 100
    repeats: int = 1
    noise: NoiseTerms | None = None

    def __post_init__(self) -> None:
        if not self.tasks or len(set(self.tasks)) != len(self.tasks):
            raise UsageError("a private EM needs at least one task, and each of them once")
        if len(self.labels) < 2 or len(set(self.labels)) != len(self.labels):
            raise UsageError("a private EM needs at least two labels, and each of them once")
        if not 1 <= self.scale <= MOST_SCALE:
            raise UsageError(f"scale must be from 1 to 10^14, not {self.scale}")
        for name, least in (("clip", 3), ("tolerance", 2), ("rounds", 1), ("repeats", 1)):
            if getattr(self, name) < least:
                raise UsageError(f"{name} must be at least {least}, not {getattr(self, name)}")
        if (self.mode is Mode.NOISED) != (self.noise is not None):
            raise UsageError("the mode noised needs its noise, and other modes have none")
        if self.noise is not None and self.repeats != 1:
            raise UsageError("the mode noised takes one answer of a worker per task")

    def as_json(self) -> dict[str, Any]:
        """The purpose of a session, as in `StarTerms`."""
        return {
            "clip": self.clip,
            "labels": list(self.labels),
            "mode": str(self.mode),
            "noise": None if self.noise is None else self.noise.as_json(),
            "purpose": PURPOSE,
            "repeats": self.repeats,
            "rounds": self.rounds,
            "scale": self.scale,
            "tasks": list(self.tasks),
            "tolerance": self.tolerance,
        }

    @classmethod
    def of_json(cls, document: Any) -> Self:
        """The terms that `as_json` wrote; anything else is refused."""
        try:
            noise = document["noise"]
            terms = cls(
                tuple(document["tasks"]),
                tuple(document["labels"]),
                Mode(document["mode"]),
                document["scale"],
                document["clip"],
                document["tolerance"],
                document["rounds"],
                document["repeats"],
                None if noise is None else NoiseTerms.of_json(noise),
            )
            same = canonical(terms.as_json()) == canonical(document)
        except (KeyError, TypeError, ValueError, ZeroDivisionError):
            same = False
        if not same:
            raise UsageError("these are not the terms of a private EM")
        return terms


def _check_fraction(field: str, value: Fraction) -> None:
    if not (0 < value and value.numerator <= MOST_PART and value.denominator <= MOST_PART):
        raise UsageError(f"{field} must be a positive fraction of integers up to 10^12")


def _pair(value: Fraction) -> list[str]:
    return [str(value.numerator), str(value.denominator)]


def _fraction(pair: Any) -> Fraction:
    numerator, denominator = pair
    return Fraction(int(numerator), int(denominator))
