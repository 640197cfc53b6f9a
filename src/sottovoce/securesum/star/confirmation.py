"""The one set that is opened in a round: its name, its confirmation and its checks.

The server proposes the contributions to open (`contributions`: the digest of each worker's frame).
A worker confirms ONE set per round, and opens it only when it sees `threshold` confirmations of
exactly this set. So two sets can be opened in a round only if 2 · threshold confirmations exist, of
which honest workers give one each:

    2 · threshold ≤ J + corrupt

The terms have 2 · threshold > J, so it takes `terms.split` corrupt workers and the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from sottovoce.errors import SealedAborted, SealedRefused
from sottovoce.securesum.envelope import canonical, sha256_hex
from sottovoce.securesum.star.messages import (
    THE_SERVER,
    Place,
    SignedFrame,
    bundle,
    party,
    read_frame,
    unbundle,
)
from sottovoce.securesum.star.suite import Phase, RoundStart

_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class ProposedSet:
    """A confirmed set: its contributions, the history before it, and other pinned values.

    `pins` is what all workers must have seen identically before this: two workers who were shown
    different data never confirm the same set. `members` are its contributors; `digest` is its name.
    """

    start: RoundStart
    contributions: Mapping[int, str]
    pins: Mapping[str, Any] = field(default_factory=dict)
    members: frozenset[int] = field(init=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        named = {
            "contributions": listed(self.contributions),
            "history": self.start.history,
            "pins": dict(self.pins),
            "round": self.start.round,
            "session": self.start.terms.id,
        }
        object.__setattr__(self, "members", frozenset(self.contributions))
        object.__setattr__(self, "digest", sha256_hex(canonical(named)))


def listed(digests: Mapping[int, str]) -> list[list[int | str]]:
    """Digests of frames by worker, as they are sent: [[number, digest], …], numbers rising."""
    return [[number, digests[number]] for number in sorted(digests)]


def pin(digests: Mapping[int, str]) -> str:
    """A hash of all replies in a phase, to be confirmed with the set."""
    return sha256_hex(canonical(listed(digests)))


def read_list(value: object, allowed: frozenset[int]) -> dict[int, str]:
    """The list that the server sent, restricted to allowed workers."""
    if not isinstance(value, list):
        raise SealedRefused(THE_SERVER, "there is no list of workers and digests")
    pairs = [_pair(item) for item in value]
    return dict(
        zip(
            read_numbers([one for one, _ in pairs], allowed),
            (digest for _, digest in pairs),
            strict=True,
        )
    )


def read_numbers(value: object, allowed: frozenset[int], culprit: str = THE_SERVER) -> list[int]:
    """A list of workers' numbers, rising, each of whom is allowed to be there."""
    if not isinstance(value, list) or not all(type(each) is int for each in value):
        raise SealedRefused(culprit, "there is no list of workers' numbers")
    numbers: list[int] = value
    if any(one >= other for one, other in pairwise(numbers)):
        raise SealedRefused(culprit, "a list of workers is not in rising order")
    for number in numbers:
        if number not in allowed:
            raise SealedRefused(culprit, f"worker {number} has left this round: sets only shrink")
    return numbers


def check_proposed(proposed: ProposedSet, allowed: frozenset[int], number: int, own: str) -> None:
    """Refuse a set that worker `number`, whose contribution has this digest, must not confirm."""
    minimum = proposed.start.terms.minimum
    if not proposed.members <= allowed:
        raise SealedRefused(THE_SERVER, "the set has workers who have left this round")
    if len(proposed.members) < minimum:
        raise SealedRefused(
            THE_SERVER,
            f"the set has {len(proposed.members)} workers; fewer than {minimum} are not opened",
        )
    if proposed.contributions.get(number) != own:
        raise SealedRefused(THE_SERVER, "this worker's own contribution is not in the set")


def check_confirm(reply: SignedFrame, proposed: ProposedSet) -> None:
    """A worker's confirmation, for the server: of this set, and nothing else."""
    if dict(reply.fields) != {"set": proposed.digest} or reply.payload:
        raise SealedRefused(party(reply.sender), "it has confirmed a different set")


def confirms_content(proposed: ProposedSet, confirms: Mapping[int, SignedFrame]) -> bytes:
    """The bytes that workers see before they open: confirmations of the first `threshold`."""
    first = sorted(confirms)[: proposed.start.terms.threshold]
    return bundle([confirms[number].content for number in first])


def check_confirms(proposed: ProposedSet, content: bytes) -> None:
    """Refuse to open unless `threshold` members of the set confirmed exactly this set."""
    terms, place = proposed.start.terms, Place(proposed.start.round, Phase.CONFIRM)
    digest, seen = proposed.digest, set[int]()
    for each in unbundle(content, THE_SERVER):
        if len(seen) == terms.threshold:
            raise SealedRefused(THE_SERVER, "there are more confirmations than are needed")
        frame = read_frame(terms, each, carrier=THE_SERVER)
        if frame.place != place or frame.sender not in proposed.members or frame.sender in seen:
            raise SealedRefused(
                THE_SERVER,
                ("a confirmation is of another round, or by a repeated or unknown worker"),
            )
        if dict(frame.fields) != {"set": digest} or frame.payload:
            raise SealedRefused(THE_SERVER, f"{party(frame.sender)} has confirmed a different set")
        seen.add(frame.sender)
    if len(seen) < terms.threshold:
        raise SealedRefused(
            THE_SERVER,
            f"{len(seen)} workers have confirmed this set; {terms.threshold} are needed",
        )


def check_enough(count: int, needed: int, phase: str) -> None:
    """Abort if fewer workers than needed are left after a phase: there is no second try.

    A smaller set for the same contributions, requested later, would open the difference of two
    sets.
    """
    if count < needed:
        raise SealedAborted(f"{count} workers are left after phase {phase}; {needed} are needed")


def _pair(item: object) -> tuple[int, str]:
    if not isinstance(item, list) or len(item) != 2:
        raise SealedRefused(THE_SERVER, "a list of workers and digests has an invalid entry")
    number, digest = item
    if type(number) is not int or not isinstance(digest, str):
        raise SealedRefused(THE_SERVER, "a list of workers and digests has an invalid entry")
    if len(digest) != 64 or not _HEX.issuperset(digest):
        raise SealedRefused(THE_SERVER, "a digest is not 64 hexadecimal digits")
    return number, digest
