"""The parties of a star in one process: their keys, their terms, and the key that is dealt them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from time import thread_time
from typing import Any, NamedTuple

from sottovoce.errors import UsageError
from sottovoce.model import Keyholder
from sottovoce.model.sum_rounds import Contributor, Planner
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.star.damgard_jurik.coordinating import ThresholdServer
from sottovoce.securesum.star.damgard_jurik.dealing import deal, open_share
from sottovoce.securesum.star.damgard_jurik.documents import read_public
from sottovoce.securesum.star.damgard_jurik.working import ThresholdWorker
from sottovoce.securesum.star.masked.coordinating import MaskedServer
from sottovoce.securesum.star.masked.working import MaskedWorker
from sottovoce.securesum.star.memory import StarRun, run_in_memory
from sottovoce.securesum.star.phases import Phase
from sottovoce.securesum.star.rounds import ServerSuite, WorkerSuite
from sottovoce.securesum.star.terms import KeyTerms, Member, StarTerms, Suite, default_threshold

__all__ = ["Parties", "Suites", "run_star"]

NAME = "rehearsal"


@dataclass(frozen=True, slots=True)
class Parties:
    """Fresh keys for a server, so many workers, and a dealer, from the system's randomness."""

    signing: Sequence[Ed25519PrivateKey] = field(repr=False)
    sealing: Sequence[X25519PrivateKey] = field(repr=False)
    server: Ed25519PrivateKey = field(repr=False)
    server_sealing: X25519PrivateKey = field(repr=False)
    dealer: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def new(cls, workers: int) -> Parties:
        """Keys that nobody has used before."""
        return cls(
            [Ed25519PrivateKey.generate() for _ in range(workers)],
            [X25519PrivateKey.generate() for _ in range(workers)],
            Ed25519PrivateKey.generate(),
            X25519PrivateKey.generate(),
            Ed25519PrivateKey.generate(),
        )

    def terms(
        self, suite: Suite, purpose: Mapping[str, Any], threshold: int | None, bits: int, s: int
    ) -> StarTerms:
        """What they agree on. A set of fewer than `threshold` workers is never opened."""
        agreed = default_threshold(len(self.signing)) if threshold is None else threshold
        return StarTerms(
            NAME, suite, purpose, agreed, agreed, public_text(self.server),
            tuple(
                Member(number, public_text(signing), _public(sealing))
                for number, (signing, sealing) in enumerate(
                    zip(self.signing, self.sealing, strict=True), 1
                )
            ),
            self._key(bits, s) if suite is Suite.DAMGARD_JURIK else None,
        )  # fmt: skip

    def _key(self, bits: int, s: int) -> KeyTerms:
        card = Keyholder("dealer", _public(X25519PrivateKey.generate()), public_text(self.dealer))
        return KeyTerms(bits, card, s)


class Suites(NamedTuple):
    """How each party seals, and the CPU seconds that it took to set up, by party."""

    workers: Sequence[WorkerSuite]
    server: ServerSuite
    seconds: dict[str, float]


def run_star(
    suite: str,
    purpose: Mapping[str, Any],
    planner: Planner,
    contributors: Sequence[Contributor],
    *,
    threshold: int | None = None,
    bits: int = 2048,
    s: int = 1,
    dropouts: Mapping[tuple[int, str], Collection[int]] | None = None,
) -> tuple[StarRun, Mapping[str, float]]:
    """All rounds of a star, and the CPU seconds that setting it up took, by party.

    `purpose` says what is added up, as in the terms. `bits` and `s` are of the key, if the suite
    has one. `dropouts` are those who fall silent from a round and phase on, by number from 1.
    """
    parties = Parties.new(len(contributors))
    terms = parties.terms(Suite(suite), purpose, threshold, bits, s)
    faults = _faults(dropouts or {}, terms.size)
    suites = _masked(parties) if terms.suite is Suite.MASKED else _dealt(terms, parties)
    done = run_in_memory(
        terms, planner, contributors, parties.signing, parties.server, suites.workers,
        suites.server, faults,
    )  # fmt: skip
    return done, suites.seconds


def _faults(
    dropouts: Mapping[tuple[int, str], Collection[int]], workers: int
) -> dict[tuple[int, Phase], Collection[int]]:
    numbers = {number for gone in dropouts.values() for number in gone}
    if not numbers <= {*range(1, workers + 1)}:
        raise UsageError(f"workers who fall silent have numbers from 1 to {workers}")
    if not {phase for _, phase in dropouts} <= {*map(str, Phase)}:
        raise UsageError(f"a phase is one of {', '.join(Phase)}")
    return {(round, Phase(phase)): gone for (round, phase), gone in dropouts.items()}


def _masked(parties: Parties) -> Suites:
    """Nothing is set up: everybody has the keys that are in the terms."""
    return Suites([MaskedWorker(key) for key in parties.sealing], MaskedServer(), {})


def _dealt(terms: StarTerms, parties: Parties) -> Suites:
    """The dealer makes and deals a threshold key; everybody opens and checks its share."""
    # Optional library: only this suite needs gmpy2.
    start = thread_time()
    made = deal(terms, parties.dealer, _public(parties.server_sealing))
    dealing = thread_time()
    workers: list[WorkerSuite] = []
    for number, key in enumerate(parties.sealing, 1):
        public = read_public(terms, made.public)
        share = open_share(terms, public, number, key, made.shares[number])
        workers.append(ThresholdWorker(public, share))
    opening = thread_time()
    public, holder = read_public(terms, made.public), terms.size + 1
    share = open_share(terms, public, holder, parties.server_sealing, made.shares[holder])
    server = ThresholdServer(public, share)
    seconds = {
        "dealer": dealing - start, "workers": opening - dealing, "server": thread_time() - opening
    }  # fmt: skip
    return Suites(workers, server, seconds)


def _public(key: X25519PrivateKey) -> str:
    return b64(key.public_key().public_bytes_raw())
