"""Adding masks to a contribution, and removing them from a total.

A contribution is a worker's values and a 1, modulo 2⁶⁴, plus its own mask, plus the masks it shares
with higher numbers, minus those with lower ones. The total of the ones must be the number of
contributors: a different total was unmasked by wrong keys, or one of them sent something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sottovoce.errors import SealedAborted, UsageError, absent
from sottovoce.model.sum_rounds import Integers, SumSpec

try:
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
except ImportError:
    if not TYPE_CHECKING:
        Cipher = algorithms = modes = absent("cryptography", purpose="masking sums", extra="secure")


Words = npt.NDArray[np.uint64]
"""Integers modulo 2⁶⁴."""

_BLOCK, _WORD = 16, 8
_ZERO = bytes(_BLOCK)
_HALF = 1 << 63


class Masks:
    """Masks of `count` words each, one after another in the same memory."""

    def __init__(self, count: int) -> None:
        self._zeros = bytes(_WORD * count)
        self._stream = bytearray(len(self._zeros) + _BLOCK - 1)  # as `update_into` requires
        self._words = np.frombuffer(self._stream, "<u8", count)

    def of(self, key: bytes, counter: bytes = _ZERO) -> Words:
        """Words that are uniform modulo 2⁶⁴ without the key; the next call overwrites them.

        AES-256-CTR (NIST SP 800-38A, 6.5) from counter 0: a key is derived for one mask. All 64
        bits of a word are drawn, so that x + mask is uniform for any x.
        """
        encryptor = Cipher(algorithms.AES(key), modes.CTR(counter)).encryptor()
        encryptor.update_into(self._zeros, self._stream)
        return self._words.astype(np.uint64, copy=False)


def check_fits(spec: SumSpec, workers: int) -> None:
    """Refuse a sum that could reach the upper half of the ring, where no total may lie."""
    if spec.greatest * workers >= _HALF:
        raise UsageError(
            f"{workers:,} values of up to {spec.greatest:,} may add up to 2^63 or more: lower the "
            "scale"
        )


def width(spec: SumSpec) -> int:
    """Bytes of a contribution."""
    return _WORD * (spec.values + 1)


def words(values: Integers) -> Words:
    """A worker's values and its 1."""
    return np.append(values, 1).astype(np.uint64)


def masked(plain: Words, own: bytes, pairs: Mapping[int, bytes], number: int) -> bytes:
    """The contribution of worker `number`, from the keys of all its masks."""
    masks = Masks(len(plain))
    sent = plain + masks.of(own)
    for peer, key in pairs.items():
        _add_pair(sent, masks.of(key), number, peer)
    return sent.astype("<u8", copy=False).tobytes()


def _add_pair(sent: Words, mask: Words, number: int, peer: int) -> None:
    """Add the mask that worker `number` shares with a peer; the peer's cancels it."""
    if number < peer:
        np.add(sent, mask, out=sent)
    else:
        np.subtract(sent, mask, out=sent)


def unmasked(
    contributions: Iterable[memoryview],
    own: Iterable[bytes],
    pairs: Iterable[tuple[int, int, bytes]],
    spec: SumSpec,
) -> Words:
    """The sum, minus each contributor's own mask, minus those shared with dropouts.

    Pairs are (contributor, dropout, their key).
    """
    total, masks = np.zeros(spec.values + 1, np.uint64), Masks(spec.values + 1)
    for payload in contributions:
        np.add(total, np.frombuffer(payload, "<u8"), out=total)
    for key in own:
        np.subtract(total, masks.of(key), out=total)
    for contributor, silent, key in pairs:
        _add_pair(total, masks.of(key), silent, contributor)  # the mask that the dropout would add
    return total


def checked_totals(total: Words, spec: SumSpec, workers: int) -> Integers:
    """The totals, if they are possible for `workers` honest workers.

    All masks were removed correctly, because every secret was checked. So a contributor has sent
    something else. It cannot be identified without revealing contributions.
    """
    count, values = total[-1], total[:-1]
    if count != workers or (values > np.uint64(workers * spec.greatest)).any():
        raise SealedAborted(
            "it has contributed an invalid value; it cannot be identified",
            [f"one of the {workers} contributors"],
        )
    return values.astype(np.int64)
