"""A crowd answers privately, and the truth is still heard.

    import sottovoce

    result = sottovoce.infer("answers.csv")
    sottovoce.write(result, "truths.csv")

Everything in `__all__` is loaded when first used, so that importing the package costs little more
than importing NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as _numpy  # noqa: F401 - the one library every part needs

from sottovoce.version import __version__ as __version__


def _homes() -> dict[str, str]:
    """The module of every public name, as the stub beside this file imports them."""
    homes = {}
    with open(f"{__file__}i", encoding="ascii") as stub:  # pathlib would cost 5 ms
        imports = stub.read().split("\nfrom ")[1:]
    for each in imports:
        module, _, names = each.partition(" import ")
        for name in names.strip("()\n ,").split(","):
            homes[name.split()[-1]] = module
    return homes


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
