"""Byte strings of one length under each other, to cut the same columns out of all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bytes", "rows"]

Bytes: TypeAlias = npt.NDArray[np.uint8]


def rows(contents: Sequence[bytes | memoryview]) -> Bytes:
    """One row for each.

    >>> rows([b"ab", b"cd"])[:, 1].tobytes()
    b'bd'
    """
    return np.frombuffer(b"".join(contents), np.uint8).reshape(len(contents), -1)
