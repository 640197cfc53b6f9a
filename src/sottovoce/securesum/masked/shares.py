"""Pieces of the secrets that recover a worker's masks: Shamir shares with commitments.

A secret is 32 bytes, as five numbers below 2⁵⁶ (elements of the field). A piece is a salt and a
share of all five. Its commitment, SHA-256 of both, is signed by the dealer before anything is
opened: a worker who opens another piece is detected, and named. So secrets are recovered from the
opened pieces, each checked against its dealer's commitment.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sottovoce.errors import SealedAborted
from sottovoce.securesum.field import WIDTH, Elements, P, from_bytes
from sottovoce.securesum.shamir import interpolate, share
from sottovoce.securesum.star.messages import party

_SECRET, _LIMB, _LIMBS = 32, 7, 5
_SALT = 16
_SALT_WORDS = _SALT // WIDTH
_WORDS = _SALT_WORDS + _LIMBS
PIECE = WIDTH * _WORDS
"""Bytes of a piece."""
COMMITMENT = 32


def commitment(content: bytes | memoryview) -> bytes:
    """SHA-256: collision resistant, and hiding because of a random salt or seed."""
    return hashlib.sha256(content).digest()


def commitments(pieces: Iterable[bytes | memoryview]) -> bytes:
    """The commitments of several pieces, concatenated."""
    sha256 = hashlib.sha256
    return b"".join([sha256(piece).digest() for piece in pieces])


def dealt(secrets: Sequence[bytes], degree: int, seats: int) -> list[bytes]:
    """For seats 1, 2, …: a piece of each secret, concatenated.

    degree + 1 pieces give a secret, and fewer reveal nothing about it.
    """
    values = np.concatenate([_elements(secret) for secret in secrets])
    shares = share(values, degree, seats).reshape(seats, len(secrets), _LIMBS)
    drawn = os.urandom(_SALT * seats * len(secrets))
    salts = np.frombuffer(drawn, "<u8").reshape(seats, len(secrets), _SALT_WORDS)
    content = np.concatenate([salts, shares], axis=2).astype("<u8", copy=False).tobytes()
    step = PIECE * len(secrets)
    return [content[at : at + step] for at in range(0, len(content), step)]


def pieces_in(content: bytes) -> list[bytes]:
    """The pieces of a concatenation."""
    return [content[at : at + PIECE] for at in range(0, len(content), PIECE)]


def joined(points: list[int], pieces: list[list[bytes]]) -> list[bytes | None]:
    """Secrets from their pieces: one row for each point, one column for each secret.

    None if the result is not a secret: its dealer has not dealt points of one polynomial.
    """
    shares = np.stack([from_bytes(b"".join([piece[_SALT:] for piece in row])) for row in pieces])
    values = interpolate(points, shares).reshape(-1, _LIMBS)
    return [_secret(limbs) for limbs in values.tolist()]


def well_formed(content: bytes) -> list[bool]:
    """Of concatenated pieces, whose shares are elements with one encoding each."""
    words = np.frombuffer(content, "<u8").reshape(-1, _WORDS)
    fits: list[bool] = (words[:, _SALT_WORDS:].max(axis=1) < P).tolist()
    return fits


def _elements(secret: bytes) -> Elements:
    limbs = [secret[at : at + _LIMB] for at in range(0, _SECRET, _LIMB)]
    return np.array([int.from_bytes(limb, "little") for limb in limbs], np.uint64)


def _secret(limbs: list[int]) -> bytes | None:
    value = sum(limb << 8 * _LIMB * place for place, limb in enumerate(limbs))
    if max(limbs) >> 8 * _LIMB or value >> 8 * _SECRET:
        return None
    return value.to_bytes(_SECRET, "little")


def recovered(
    opened: Mapping[int, Mapping[int, bytes]], dealers: list[int], threshold: int
) -> dict[int, bytes | None]:
    """The secret of each dealer, from the opened pieces: by worker, then by dealer.

    The first `threshold` workers with a dealer's piece are used; each piece was checked. None: the
    pieces are of no secret. If too few have a piece, either the dealer sealed something unreadable,
    or those who say so lie: both are named, because nobody else can decide.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    workers = sorted(opened)
    for dealer in dealers:
        holders = [worker for worker in workers if dealer in opened[worker]]
        if len(holders) < threshold:
            without = [party(worker) for worker in workers if dealer not in opened[worker]]
            raise SealedAborted(
                f"pieces that {party(dealer)} has dealt cannot be read, according to the others; "
                f"{len(holders)} workers have one, and {threshold} are needed",
                [party(dealer), *without],
            )
        groups.setdefault(tuple(holders[:threshold]), []).append(dealer)
    secrets: dict[int, bytes | None] = {}
    for points, group in groups.items():
        rows = [[opened[worker][dealer] for dealer in group] for worker in points]
        secrets.update(zip(group, joined(list(points), rows), strict=True))
    return secrets
