"""What was opened so far: how it is sent to workers, and a hash that tells histories apart."""

from __future__ import annotations

import hashlib

import numpy as np

from sottovoce.errors import SealedRefused
from sottovoce.model.sum_rounds import Integers, OpenedSum, SumSpec
from sottovoce.securesum.star.frames import THE_SERVER

__all__ = ["BEGINNING", "extended", "read_totals", "totals_content"]

BEGINNING = "0" * 64
"""The hash of a history in which nothing was opened."""


def totals_content(totals: Integers) -> bytes:
    """Totals as they are sent: 8 bytes each, little-endian."""
    return totals.astype("<i8").tobytes()


def read_totals(content: bytes, spec: SumSpec, workers: int) -> Integers:
    """The totals that the server says were opened, if so many workers can add up to them.

    A worker cannot tell whether they are true. It can tell that they are possible; and since
    their hash is in what is confirmed, no two workers open anything under different ones.
    """
    if len(content) != 8 * spec.values:
        raise SealedRefused(THE_SERVER, f"the last round opened {spec.values:,} totals, not these")
    totals = np.frombuffer(content, "<i8").astype(np.int64)
    if ((totals < 0) | (totals > workers * spec.greatest)).any():
        raise SealedRefused(THE_SERVER, f"a total is not what {workers:,} workers can add up to")
    return totals


def extended(history: str, opened: OpenedSum) -> str:
    """SHA-256 of the history before, the number of workers and their totals."""
    head = f"{history} {opened.workers} ".encode("ascii")
    return hashlib.sha256(head + totals_content(opened.totals)).hexdigest()
