"""Names for the arrays that everything passes around."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["CodedArray", "Codes", "FloatArray", "Names", "StartsArray"]

Codes: TypeAlias = npt.NDArray[np.int32]
"""Positions in a vocabulary."""
FloatArray: TypeAlias = npt.NDArray[np.float64]
StartsArray: TypeAlias = npt.NDArray[np.int64]
"""Where each task's reports begin in an array sorted by task; one longer than the tasks."""
CodedArray: TypeAlias = npt.NDArray[np.uint32] | npt.NDArray[np.int64]
"""worker · labels + label, one number per report; 4 bytes wherever that is wide enough."""
Names: TypeAlias = npt.NDArray[Any]
"""A vocabulary: distinct names of workers or tasks, strings or integers; code i is names[i]."""
