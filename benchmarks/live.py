"""Measure the cost of a live session for its parties, and of the necessary exponentiations.

    python live.py threshold BITS SCALE MODE WORKERS ROUNDS
    python live.py masked WORKERS VALUES ROUNDS DROPOUTS

prints one JSON object. All parties run in this process and exchange bytes; CPU is of all workers
together and of the server. Key generation is separate. `threshold` times one constant-time
exponentiation of a partial decryption, in the same run. `masked` has the median of ROUNDS rounds
after a first one, which is also separate.
"""

from __future__ import annotations

import json
import math
import secrets
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gmpy2
import numpy as np

from sottovoce.model import Keyholder
from sottovoce.model.sum_rounds import Integers, OpenedSum, SumSpec
from sottovoce.securesum.damgard_jurik.dealer import deal_threshold_key, open_share, read_public
from sottovoce.securesum.damgard_jurik.server import ThresholdServer
from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text
from sottovoce.securesum.hpke import X25519PrivateKey
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.masked.worker import MaskedWorker
from sottovoce.securesum.star.simulation import StarRun, run_in_memory
from sottovoce.securesum.star.suite import Phase
from sottovoce.securesum.star.terms import KeyTerms, Member, StarTerms, Suite, default_threshold

TASKS = 159
"""P2, section 6.1."""


@dataclass(frozen=True, slots=True)
class Same:
    """The same sum in every round."""

    spec: SumSpec
    rounds: int

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        return self.spec if len(opened) < self.rounds else None


@dataclass(frozen=True, slots=True)
class Fixed:
    """A worker that adds the same values in every round."""

    own: Integers

    def values(self, opened: Sequence[OpenedSum]) -> Integers:
        return self.own


@dataclass(frozen=True, slots=True)
class Parties:
    """The keys of all parties."""

    signing: list[Ed25519PrivateKey]
    sealing: list[X25519PrivateKey]
    coordinator: Ed25519PrivateKey

    @classmethod
    def of(cls, workers: int) -> Parties:
        return cls(
            [Ed25519PrivateKey.generate() for _ in range(workers)],
            [X25519PrivateKey.generate() for _ in range(workers)],
            Ed25519PrivateKey.generate(),
        )

    def terms(self, suite: Suite, key: KeyTerms | None = None) -> StarTerms:
        members = tuple(
            Member(number, public_text(signing), _public(sealing))
            for number, (signing, sealing) in enumerate(
                zip(self.signing, self.sealing, strict=True), 1
            )
        )
        threshold = default_threshold(len(members))
        return StarTerms(
            "bench", suite, {}, threshold, threshold, public_text(self.coordinator), members, key
        )


def threshold(bits: int, scale: int, mode: str, workers: int, rounds: int) -> dict[str, Any]:
    spec = _spec(scale, mode)
    parties, signing, sealing = (
        Parties.of(workers),
        Ed25519PrivateKey.generate(),
        X25519PrivateKey.generate(),
    )
    dealer = Keyholder("dealer", _public(sealing), public_text(signing))
    terms = parties.terms(Suite.DAMGARD_JURIK, KeyTerms(bits, dealer))
    own = X25519PrivateKey.generate()
    begun = time.process_time()
    dealt = deal_threshold_key(terms, signing, _public(own))
    dealing = time.process_time() - begun
    public = read_public(terms, dealt.public)
    suites = [
        ThresholdWorker(public, open_share(terms, public, number, key, dealt.shares[number]))
        for number, key in enumerate(parties.sealing, 1)
    ]
    server = ThresholdServer(
        public, open_share(terms, public, workers + 1, own, dealt.shares[workers + 1])
    )
    modulus, exponent = gmpy2.mpz(public.n) ** 2, gmpy2.mpz(secrets.randbits(2 * bits) | 1)
    base = gmpy2.mpz(secrets.randbelow(int(modulus)))
    begun = time.process_time()
    for _ in range(20):
        gmpy2.powmod_sec(base, exponent, modulus)
    reference = (time.process_time() - begun) / 20
    run, right = _run(terms, parties, spec, rounds, suites, server)
    return {
        "values": spec.values,
        "dealing": dealing,
        "workers": run.seconds["workers"],
        "server": run.seconds["server"],
        "seconds": sum(run.seconds.values()),
        "reference": reference,
        "right": right,
    }


def masked(workers: int, values: int, rounds: int, dropouts: int) -> dict[str, Any]:
    parties = Parties.of(workers)
    terms = parties.terms(Suite.MASKED)
    spec = SumSpec(values, 10**10)
    gone = {(0, Phase.CONTRIBUTE): range(1, dropouts + 1)} if dropouts else {}
    seen, right = [], True
    # Keys that two workers agree on are kept for the session, so only the first round pays for
    # them.
    suites = [MaskedWorker(sealing) for sealing in parties.sealing]
    for _ in range(1 + rounds):
        run, good = _run(terms, parties, spec, 1, suites, MaskedServer(), gone)
        seen.append(run.seconds)
        right &= good
    first, *seen = seen
    return {
        "first": sum(first.values()),
        "worker": statistics.median(each["workers"] for each in seen) / workers,
        "server": statistics.median(each["server"] for each in seen),
        "seconds": statistics.median(sum(each.values()) for each in seen),
        "contributors": len(run.records[0].contributors),
        "right": right,
    }


def _run(
    terms: StarTerms,
    parties: Parties,
    spec: SumSpec,
    rounds: int,
    suites: Sequence[Any],
    server: Any,
    faults: Any = None,
) -> tuple[StarRun, bool]:
    """The run, and whether each of its totals is the sum of its contributions."""
    given = np.random.default_rng(1).integers(
        0, spec.greatest, (terms.size, spec.values), endpoint=True
    )
    run = run_in_memory(
        terms, Same(spec, rounds), [Fixed(own) for own in given], parties.signing,
        parties.coordinator, suites, server, faults,
    )  # fmt: skip
    right = run.state == "done" and len(run.records) == rounds
    for record in run.records:
        plain = given[np.array(record.contributors) - 1].sum(axis=0)
        right &= bool(np.array_equal(record.totals, plain))
    return run, right


def _spec(scale: int, mode: str) -> SumSpec:
    """The values of the EM's rounds: 2I log-likelihoods, or I log-odds (offset), or a number."""
    if mode.isdigit():
        return SumSpec(int(mode), round(math.log(10**6) * scale))
    if mode == "as_published":
        return SumSpec(2 * TASKS, round(math.log(10**6) * scale))
    return SumSpec(TASKS, round(2 * math.log(10**3 - 1) * scale))


def _public(key: X25519PrivateKey) -> str:
    return b64(key.public_key().public_bytes_raw())


def main() -> None:
    what, *given = sys.argv[1:]
    if what == "threshold":
        bits, scale, mode, workers, rounds = given
        seen = threshold(int(bits), int(scale), mode, int(workers), int(rounds))
    else:
        seen = masked(*map(int, given))
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
