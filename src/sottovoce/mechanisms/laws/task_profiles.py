"""The public profile of a task: a vector of small numbers, derived from its name and a salt.

In P4 the requester draws a matrix V, one column per task, and sends it to the workers. Here both
sides compute it. A column is expanded from 8 d bytes of

    SHAKE-256( "sottovoce-profile/1" 00 salt 00 name )        in UTF-8, 00 one zero byte

read as d big-endian 64-bit words: the first bit is the sign, the others the size. Profiles multiply
the matrix of the cells of every worker with every task (`as_matrix`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.model import Cells, Codes, FloatArray


def as_matrix(cells: Cells, codes: Codes, mechanism: str) -> FloatArray:
    """Codes by worker and task; refuses cells that are incomplete or in another order."""
    workers, tasks = len(cells.workers), len(cells.tasks)
    place = cells.worker.astype(np.int64) * tasks + cells.task
    if len(place) != workers * tasks or (place != np.arange(workers * tasks)).any():
        raise UsageError(
            f"{mechanism} reports on every task: give every worker with every task, by worker and "
            "then by task, with NULL for missing answers"
        )
    return codes.reshape(workers, tasks).astype(np.float64)


MOST_SALT = 256


def check_salt(salt: Any) -> None:
    """Refuse anything but a short text."""
    if not isinstance(salt, str) or len(salt) > MOST_SALT or "\0" in salt:
        raise UsageError(f"salt must be a text of at most {MOST_SALT} characters")


def integer_profiles(
    tasks: Iterable[object], dimension: int, resolution: int, salt: str
) -> npt.NDArray[np.int64]:
    """A column of d integers per task, whose sizes add up to the resolution.

    Sizes are in proportion to uniform draws, rounded down; the remaining units go to the largest
    remainders, the first of equal ones.

    >>> integer_profiles(["red", "blue"], 3, 100, "").T.tolist()
    [[13, -33, -54], [-57, 15, 28]]
    """
    columns = [_shares(*_column(name, dimension, salt), resolution) for name in tasks]
    return np.array(columns, np.int64).reshape(-1, dimension).T


def real_profiles(tasks: Iterable[object], dimension: int, salt: str) -> FloatArray:
    """A column U(-1, 1)ᵈ per task, divided by its 1-norm (P4 §V)."""
    columns = []
    for name in tasks:
        signs, sizes = _column(name, dimension, salt)
        total = sum(sizes)
        columns.append([sign * (size / total) for sign, size in zip(signs, sizes, strict=True)])
    return np.array(columns, np.float64).reshape(-1, dimension).T


def _column(name: object, dimension: int, salt: str) -> tuple[list[int], list[int]]:
    """Signs, and sizes from 1 to 2⁶³."""
    text = f"sottovoce-profile/1\0{salt}\0{name}".encode()
    stream = hashlib.shake_256(text).digest(8 * dimension)
    words = [int.from_bytes(stream[i : i + 8], "big") for i in range(0, len(stream), 8)]
    return [-1 if word >> 63 else 1 for word in words], [
        (word & ((1 << 63) - 1)) + 1 for word in words
    ]


def _shares(signs: list[int], sizes: list[int], resolution: int) -> list[int]:
    total = sum(sizes)
    shares = [size * resolution // total for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda i: -(sizes[i] * resolution % total))
    for i in by_remainder[: resolution - sum(shares)]:
        shares[i] += 1
    return [sign * share for sign, share in zip(signs, shares, strict=True)]
