"""What recovers a worker's masks, cut into pieces: Shamir shares with commitments.

A secret is 32 bytes, as five numbers below 2⁵⁶ (elements of the field). A piece is a salt and a
share of all five. Its commitment, SHA-256 of both, is signed by the dealer before anything is
opened: whoever opens another piece is seen, and named. So secrets come back from the pieces that
were opened, each checked against what its dealer said.
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
    """SHA-256: nobody finds two contents with the same, and a random salt or seed hides it."""
    return hashlib.sha256(content).digest()


def commitments(pieces: Iterable[bytes | memoryview]) -> bytes:
    """The commitments of several pieces, one after another."""
    sha256 = hashlib.sha256
    return b"".join([sha256(piece).digest() for piece in pieces])


def dealt(secrets: Sequence[bytes], degree: int, seats: int) -> list[bytes]:
    """For seats 1, 2, …: a piece of each secret, one after another.

    degree + 1 pieces give a secret, and fewer say nothing of it.
    """
    values = np.concatenate([_elements(secret) for secret in secrets])
    shares = share(values, degree, seats).reshape(seats, len(secrets), _LIMBS)
    drawn = os.urandom(_SALT * seats * len(secrets))
    salts = np.frombuffer(drawn, "<u8").reshape(seats, len(secrets), _SALT_WORDS)
    content = np.concatenate([salts, shares], axis=2).astype("<u8", copy=False).tobytes()
    step = PIECE * len(secrets)
    return [content[at : at + step] for at in range(0, len(content), step)]


def pieces_in(content: bytes) -> list[bytes]:
    """Pieces that were sent one after another."""
    return [content[at : at + PIECE] for at in range(0, len(content), PIECE)]


def joined(points: list[int], pieces: list[list[bytes]]) -> list[bytes | None]:
    """Secrets from their pieces: one row for each point, one column for each secret.

    None where what comes out is no secret: its dealer has not dealt points of one polynomial.
    """
    shares = np.stack([from_bytes(b"".join([piece[_SALT:] for piece in row])) for row in pieces])
    values = interpolate(points, shares).reshape(-1, _LIMBS)
    return [_secret(limbs) for limbs in values.tolist()]


def well_formed(content: bytes) -> list[bool]:
    """Of pieces one after another, whose shares are elements: there is one way to write each."""
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
    """The secret of each dealer, from what workers opened: by worker, then by dealer.

    The first `threshold` workers who have a dealer's piece do; each piece was checked. None: the
    pieces are of no secret. Where too few have a piece, either the dealer sealed something that
    cannot be read, or those lie who say so: both are named, since nobody else can tell.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    workers = sorted(opened)
    for dealer in dealers:
        holders = [worker for worker in workers if dealer in opened[worker]]
        if len(holders) < threshold:
            without = [party(worker) for worker in workers if dealer not in opened[worker]]
            raise SealedAborted(
                f"pieces that {party(dealer)} has dealt cannot be read, say the others; "
                f"{len(holders)} workers have one, and {threshold} must",
                [party(dealer), *without],
            )
        groups.setdefault(tuple(holders[:threshold]), []).append(dealer)
    secrets: dict[int, bytes | None] = {}
    for points, group in groups.items():
        rows = [[opened[worker][dealer] for dealer in group] for worker in points]
        secrets.update(zip(group, joined(list(points), rows), strict=True))
    return secrets
