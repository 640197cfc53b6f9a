"""SystemRandomness: the operating system's randomness, used on devices."""

from __future__ import annotations

import os

import numpy as np

from sottovoce.model import Words

BLOCK = 1 << 23
"""Bytes requested at a time."""


class SystemRandomness:
    """Words from the operating system's cryptographic generator. It takes no seed."""

    __slots__ = ()

    @property
    def simulated(self) -> bool:
        """False, always."""
        return False

    def words(self, count: int) -> Words:
        """`count` uniform 64-bit words."""
        words = np.empty(count, np.uint64)
        view = words.view(np.uint8)
        for start in range(0, len(view), BLOCK):
            end = min(start + BLOCK, len(view))
            view[start:end] = np.frombuffer(os.urandom(end - start), np.uint8)
        return words
