"""How a step's value is added up: by its compiled twin where there is one and it pays."""

from __future__ import annotations

from sottovoce.model import FloatArray, Part
from sottovoce.seams import Kernel, Step

__all__ = ["adder"]


def adder(step: Step, *, use_kernels: bool) -> Kernel:
    """Adds the step's value for a part to an array."""
    kernel = step.kernel() if use_kernels else None
    if kernel is not None:
        return kernel

    def add(part: Part, out: FloatArray) -> None:
        out += step(part)

    return add
