"""Work on blocks by several threads, its outcomes in the blocks' order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

__all__ = ["in_order"]

B = TypeVar("B")
R = TypeVar("R")


def in_order(work: Callable[[B], R], blocks: Iterable[B], threads: int) -> Iterator[R]:
    """Each block's outcome, in order, with at most one block per thread under way."""
    if threads == 1:
        yield from map(work, blocks)
        return
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[R]] = deque()
        for block in blocks:
            if len(waiting) == threads:
                yield waiting.popleft().result()
            waiting.append(pool.submit(work, block))
        while waiting:
            yield waiting.popleft().result()
