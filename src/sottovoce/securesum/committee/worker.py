"""A worker's side: answers in, one sealed and signed contribution out.

Raw answers pass through here, so no module of the server or of a keyholder may import it. Its
output is a share of every bit for each keyholder, sealed to it. Up to t keyholders together, also
with the server, see uniform field elements: nothing about an answer.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Policy
from sottovoce.model.campaign import LONGEST_NAME, check_text
from sottovoce.securesum.ballot import Ballot
from sottovoce.securesum.committee.terms import CHECKS, ContributionTerms, committee_of
from sottovoce.securesum.envelope import Ed25519PrivateKey, b64, public_text, signed, unb64
from sottovoce.securesum.field import Elements, to_bytes
from sottovoce.securesum.hpke import seal
from sottovoce.securesum.shamir import random_sharing, share, zero_sharing

_SEED_BYTES = 32


def contribute(
    campaign: str, policy: Policy, worker: str, tasks: Sequence[str], codes: npt.NDArray[np.integer]
) -> bytes:
    """The contribution of one worker: the bytes to upload, once.

    `tasks` are sorted by code point, with one code each; −1 is NULL. The signing key is drawn for
    this contribution and discarded. Invalid input is refused before anything is drawn.
    """
    sealed = committee_of(policy)
    _check_names(campaign, worker, tasks)
    _check_count(policy, len(tasks), len(codes))
    bits = Ballot.of(sealed).encode(codes)
    key = Ed25519PrivateKey.from_private_bytes(entropy(_SEED_BYTES))
    terms = ContributionTerms(campaign, policy.hash, worker, tuple(tasks), public_text(key))
    rows = _shares(bits, sealed)
    shares = [
        seal(unb64(keyholder.sealing) or b"", to_bytes(row), info)
        for keyholder, row, info in zip(
            sealed.keyholders, rows, terms.infos(sealed.seats), strict=True
        )
    ]
    digests = [hashlib.sha256(content).hexdigest() for content in shares]
    return signed(terms.body(digests), key, shares=[b64(content) for content in shares])


def entropy(count: int) -> bytes:
    """Bytes from the operating system: all randomness of a contribution, except HPKE's."""
    return os.urandom(count)


def _shares(bits: npt.NDArray[np.uint8], sealed: SealedSum) -> Elements:
    """One row for each keyholder: shares of all bits, two zero-sharings, two masks.

    The zero-sharings are of degree 2t, like products of shares: without them the opened check would
    reveal information about the bits. The masks hide the random combination that checks the degree.
    """
    degree, seats = sealed.degree, sealed.seats
    return np.hstack(
        [
            share(bits.ravel().astype(np.uint64), degree, seats, entropy),
            zero_sharing(CHECKS, 2 * degree, seats, entropy),
            random_sharing(CHECKS, degree, seats, entropy),
        ]
    )


def _check_names(campaign: str, worker: str, tasks: Sequence[str]) -> None:
    check_text("the campaign", campaign, LONGEST_NAME)
    check_text("the worker's name", worker, LONGEST_NAME)
    if not tasks or list(tasks) != sorted(tasks) or len(set(tasks)) != len(tasks):
        raise UsageError("the tasks of a contribution must be in order, each of them once")


def _check_count(policy: Policy, tasks: int, codes: int) -> None:
    if codes != tasks:
        raise UsageError(f"{codes:,} answers do not fit {tasks:,} tasks: give one each")
    if policy.promise and tasks > policy.promise.answers:
        raise UsageError(
            f"the policy promises for up to {policy.promise.answers:,} answers, not {tasks:,}"
        )
