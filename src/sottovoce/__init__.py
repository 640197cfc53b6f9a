"""A crowd answers privately, and the truth is still heard.

    import sottovoce

    result = sottovoce.infer("answers.csv")
    sottovoce.write(result, "truths.csv")

Everything in `__all__` is loaded when first used, so that importing the package costs little more
than importing NumPy.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as _numpy  # noqa: F401 - the one library every part needs

from sottovoce.version import __version__ as __version__


def _homes() -> dict[str, str]:
    """The module of every public name, as the stub beside this file imports them."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_bytes())
    imports = [line for line in stub.body if isinstance(line, ast.ImportFrom)]
    return {each.name: str(line.module) for line in imports for each in line.names}


_HOMES = _homes()

__all__ = sorted(
    _HOMES.keys() - {"__version__"},
    key=lambda name: (0 if name.isupper() else 1 if name[0].isupper() else 2, name),
)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
