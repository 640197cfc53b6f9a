"""Committees whose keys are known, and contributions that no honest worker would make."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.securesum.sealed_policies import COORDINATOR, KEYS, sealed_policy

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import Domain
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.keyholder import KeyholderKeys, KeyholderSession
from sottovoce.securesum.committee.simulation import Committee
from sottovoce.securesum.committee.terms import ContributionTerms, Session
from sottovoce.securesum.committee.worker import contribute
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text, signed, unb64
from sottovoce.securesum.field import Elements, elements, to_bytes
from sottovoce.securesum.hpke import seal
from sottovoce.securesum.shamir import random_sharing, share, zero_sharing

__all__ = [
    "CAMPAIGN", "Codes", "committee", "contributed", "crafted", "keys_of", "noise_of", "rows_of",
    "session_of", "votes",
]  # fmt: skip

CAMPAIGN = "leafleaf"
YES_NO = Domain.categorical(["no", "yes"])
Codes = npt.NDArray[np.int64]


def session_of(
    layout: Layout = Layout.VOTES, size: int = 2, *, tasks: int = 3, **terms: Any
) -> Session:
    """A session of a small campaign, whose tasks are not in the order of their names."""
    if layout is Layout.VOTES:
        domain = Domain.categorical([f"label {i}" for i in range(size)])
    else:
        domain = Domain.numeric(0.0, 10.0)
    names = tuple(f"task {place}" for place in reversed(range(tasks)))
    return Session(CAMPAIGN, sealed_policy(domain, layout, size, **terms), names)


def keys_of(session: Session) -> list[KeyholderKeys]:
    """The private keys of all seats."""
    return [KeyholderKeys(each.sealing, each.signing) for each in KEYS[: session.sealed.seats]]


def committee(session: Session, *, seed: int | None = 1) -> Committee:
    """Keyholders and a server; with a seed, they have dealt."""
    keyholders = [KeyholderSession(session, each) for each in keys_of(session)]
    made = Committee(session, keyholders, COORDINATOR)
    if seed is not None:
        made.deal(SeededRandomness(seed))
    return made


def noise_of(session: Session, seed: int) -> Codes:
    """All the noise that `committee` and `run_in_memory` deal with this seed."""
    randomness = SeededRandomness(seed)
    dealt = [
        np.stack(
            [law.sample(len(session.names), randomness) for law in session.sealed.deals], axis=1
        )
        for _ in range(session.sealed.seats)
    ]
    noise: Codes = np.sum(dealt, axis=0)
    return noise


def contributed(session: Session, worker: str, codes: Sequence[int]) -> bytes:
    """An honest contribution on all tasks, in the order of their names."""
    names = sorted(session.names)
    return contribute(CAMPAIGN, session.policy, worker, names, np.array(codes, np.int64))


def votes(session: Session, workers: int) -> dict[str, bytes]:
    """Honest contributions by digest: worker i answers yes to everything if i is odd."""
    made = [
        contributed(session, f"worker {i}", [i % 2] * len(session.names)) for i in range(workers)
    ]
    return {server.read_contribution(session, each).digest: each for each in made}


def rows_of(session: Session, values: Sequence[int], degree: int | None = None) -> Elements:
    """Shares of any values, as an honest worker would share them, perhaps with another degree."""
    sealed = session.sealed
    return np.hstack([
        share(elements(values), degree or sealed.degree, sealed.seats),
        zero_sharing(2, 2 * sealed.degree, sealed.seats),
        random_sharing(2, sealed.degree, sealed.seats),
    ])  # fmt: skip


def crafted(
    session: Session, worker: str, rows: Elements, tasks: Iterable[str] | None = None,
    change: Callable[[dict[str, Any]], None] = lambda body: None,
) -> bytes:  # fmt: skip
    """A contribution with these shares, signed; `change` may alter the signed body."""
    names = tuple(sorted(session.names) if tasks is None else tasks)
    key = Ed25519PrivateKey.generate()
    terms = ContributionTerms(CAMPAIGN, session.policy.hash, worker, names, public_text(key))
    shares = [
        seal(unb64(keyholder.sealing) or b"", to_bytes(row), info)
        for keyholder, row, info in zip(
            session.sealed.keyholders, rows, terms.infos(session.sealed.seats), strict=True
        )
    ]
    body = terms.body([hashlib.sha256(content).hexdigest() for content in shares])
    change(body)
    return signed(body, key, shares=[b64(content) for content in shares])
