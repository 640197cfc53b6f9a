"""Names for the arrays that packages share, and a check for repeated numbers."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Codes: TypeAlias = npt.NDArray[np.int32]
"""Positions in a vocabulary."""
FloatArray: TypeAlias = npt.NDArray[np.float64]
StartsArray: TypeAlias = npt.NDArray[np.int64]
"""Where each task's reports begin in an array sorted by task; one longer than the tasks."""
CodedArray: TypeAlias = npt.NDArray[np.uint32] | npt.NDArray[np.int64]
"""worker · labels + label, one number per report; 4 bytes wherever that is wide enough."""
Names: TypeAlias = npt.NDArray[Any]
"""A vocabulary: distinct names of workers or tasks, strings or integers; code i is names[i]."""


def occurs_twice(numbers: npt.NDArray[Any]) -> bool:
    """Whether any number occurs more than once.

    Sorting whole numbers is many times faster than `np.unique`, which counts them in a table.

    >>> occurs_twice(np.array([3, 1, 3])), occurs_twice(np.array([3, 1]))
    (True, False)
    """
    ordered = np.sort(numbers)
    return bool(np.any(ordered[1:] == ordered[:-1]))
