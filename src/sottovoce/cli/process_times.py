"""CPU seconds of processes that were started here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["cpu"]


@contextmanager
def cpu(seconds: dict[str, float], party: str) -> Iterator[None]:
    """CPU of the processes that end inside the block, from their start to their end."""
    before = _spent()
    yield
    seconds[party] = _spent() - before


def _spent() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
