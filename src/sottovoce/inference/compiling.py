"""How a kernel is compiled: once per machine, and only when it is first used."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["COMPILED_FROM", "compiled"]

COMPILED_FROM = 100_000
"""From so many rows on compiled code is used: below, nothing waits for a compiler."""

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """The function as machine code, cached on disk, running without the interpreter's lock.

    No fast-math: additions happen in the order written, so results do not depend on the compiler's
    choices. numba is imported here, so that whoever stays below the size where compiling pays
    never waits for it. Where no folder can be written to, each process compiles for itself.
    """
    import numba

    kernel: Callable[P, R]
    try:
        kernel = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # numba found no folder for its cache
        kernel = numba.njit(nogil=True, error_model="numpy")(function)
    return kernel
