"""The terms of a star, which all parties agree on before the first round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self

from sottovoce.errors import UsageError
from sottovoce.model import Keyholder
from sottovoce.securesum.envelope import canonical, sha256_hex, unb64

FORMAT = "sottovoce-star/1"
SIZES = (1024, 2048, 3072)
MOST_MEMBERS = 10_000
FEWEST_MEMBERS = 3
"""P2, lemma 2: with two workers, each could compute the other's value from the sum."""


class Suite(StrEnum):
    """The suite of the sums."""

    MASKED = "masked"
    DAMGARD_JURIK = "damgard_jurik"


@dataclass(frozen=True, slots=True)
class Member:
    """A worker's entry: its number from 1 on, and its public keys, base64."""

    number: int
    signing: str
    sealing: str

    def __post_init__(self) -> None:
        if self.number < 1:
            raise UsageError(f"members are counted from 1, not {self.number}")
        for name in ("signing", "sealing"):
            if len(unb64(getattr(self, name)) or b"") != 32:
                raise UsageError(f"member {self.number}: its {name} key is not 32 bytes in base64")

    def as_json(self) -> dict[str, Any]:
        """The member in the terms."""
        return {"number": self.number, "sealing": self.sealing, "signing": self.signing}


@dataclass(frozen=True, slots=True)
class KeyTerms:
    """The threshold key of `damgard_jurik`: bits of n, the exponent s, and its dealer."""

    bits: int
    dealer: Keyholder
    s: int = 1

    def __post_init__(self) -> None:
        if self.bits not in SIZES:
            raise UsageError(f"a key must have {', '.join(map(str, SIZES))} bits, not {self.bits}")
        if not 1 <= self.s <= 4:
            raise UsageError(f"s must be from 1 to 4, not {self.s}")

    def as_json(self) -> dict[str, Any]:
        """The key in the terms."""
        return {"bits": self.bits, "dealer": self.dealer.as_json(), "s": self.s}


@dataclass(frozen=True, slots=True)
class StarTerms:
    """One session: its members, the suite, the threshold, and the purpose.

    `purpose` is a JSON object without fractions that describes the sum. The `id` is a hash of all
    terms and is in every message, so that none is valid in another session. A set of workers is
    opened when `threshold` of them have confirmed it. A worker who confirms a second set is
    dishonest: two sets need 2 · threshold - J dishonest workers (`split`).
    """

    name: str
    suite: Suite
    purpose: Mapping[str, Any]
    threshold: int
    minimum: int
    coordinator: str
    members: tuple[Member, ...]
    key: KeyTerms | None = None
    id: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        count = len(self.members)
        if not FEWEST_MEMBERS <= count <= MOST_MEMBERS:
            raise UsageError(
                f"a session needs {FEWEST_MEMBERS} to {MOST_MEMBERS:,} workers, not {count:,}"
            )
        if [member.number for member in self.members] != list(range(1, count + 1)):
            raise UsageError("members must be numbered 1, 2, 3 and so on, in this order")
        if len({member.signing for member in self.members} | {self.coordinator}) != count + 1:
            raise UsageError("two parties have the same signing key")
        if not count < 2 * self.threshold <= 2 * count:
            raise UsageError(
                f"threshold {self.threshold}: more than half of {count} workers must agree, or a "
                "server could open two sets"
            )
        if not self.threshold <= self.minimum <= count:
            raise UsageError(
                f"minimum {self.minimum} is not from the threshold {self.threshold} to the "
                f"{count} workers"
            )
        if (self.suite is Suite.DAMGARD_JURIK) != (self.key is not None):
            raise UsageError(
                "the suite damgard_jurik needs a key and its dealer, and other suites have none"
            )
        if len(unb64(self.coordinator) or b"") != 32:
            raise UsageError("the server's signing key is not 32 bytes in base64")
        object.__setattr__(self, "id", sha256_hex(canonical(self.as_json())))

    @property
    def size(self) -> int:
        """J: the number of workers."""
        return len(self.members)

    @property
    def split(self) -> int:
        """The number of workers who must collude with the server before it can open two sets."""
        return 2 * self.threshold - self.size

    def as_json(self) -> dict[str, Any]:
        """The terms as they are hashed and sent."""
        return {
            "coordinator": self.coordinator,
            "format": FORMAT,
            "key": None if self.key is None else self.key.as_json(),
            "members": [member.as_json() for member in self.members],
            "minimum": self.minimum,
            "name": self.name,
            "purpose": dict(self.purpose),
            "suite": str(self.suite),
            "threshold": self.threshold,
        }

    @classmethod
    def of_json(cls, document: Any) -> Self:
        """The terms that `as_json` wrote; anything else is refused."""
        try:
            key = document["key"]
            terms = cls(
                document["name"],
                Suite(document["suite"]),
                document["purpose"],
                document["threshold"],
                document["minimum"],
                document["coordinator"],
                tuple(
                    Member(each["number"], each["signing"], each["sealing"])
                    for each in document["members"]
                ),
                None
                if key is None
                else KeyTerms(key["bits"], Keyholder.of_json(key["dealer"]), key["s"]),
            )
            same = canonical(terms.as_json()) == canonical(document)
        except (KeyError, TypeError, ValueError):
            same = False
        if not same:
            raise UsageError("these are not the terms of a session")
        return terms


def default_threshold(members: int) -> int:
    """ceil(2 (J + 1) / 3): P2, section 6.3.

    >>> default_threshold(8), default_threshold(20)
    (6, 14)
    """
    return -(-2 * (members + 1) // 3)
