"""From a target to parameters: monotone searches that end on the safe side."""

from __future__ import annotations

from collections.abc import Callable

from sottovoce.errors import UsageError


def smallest_integer(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest integer from low to high that holds, if all larger ones then hold too.

    >>> smallest_integer(lambda n: n * n >= 50, 0, 100)
    8
    """
    if not holds(high):
        raise UsageError("no parameters of this mechanism reach the target: allow a larger epsilon")
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return high


def smallest_number(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The smallest float from low to high that holds, if all larger ones then hold too."""
    if holds(low):
        return low
    if not holds(high):
        raise UsageError("no parameters of this mechanism reach the target: allow a larger epsilon")
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        if holds(middle):
            high = middle
        else:
            low = middle
