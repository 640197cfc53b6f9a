"""A crowd answers privately, and the truth is still heard.

    import sottovoce

    result = sottovoce.infer("answers.csv")
    sottovoce.write(result, "truths.csv")

Everything in `__all__` is loaded when first used, so that importing the package costs little more
than importing NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as _numpy  # noqa: F401 - the one library every part needs

if TYPE_CHECKING:
    from sottovoce.api import (
        Comparison,
        compare,
        gold,
        infer,
        inspect,
        pack,
        read,
        score,
        write,
    )
    from sottovoce.engines import LocalEngine
    from sottovoce.errors import DataError, NotInstalled, OutputExists, SottovoceError, UsageError
    from sottovoce.inference import (
        CATD,
        CRH,
        GTM,
        METHODS,
        TD,
        Constant,
        DawidSkene,
        InverseDeviation,
        LatentLabel,
        MajorityVote,
        Mean,
        Median,
        OneCoin,
        WeightedMedian,
        importance,
        important,
    )
    from sottovoce.inference.inspecting import Inspection
    from sottovoce.model import Domain, Gold, Kind, Reading, Reports, Result, Score

__version__ = "0.1.0"

_HOMES = {
    "sottovoce.api": (
        "Comparison",
        "compare",
        "gold",
        "infer",
        "inspect",
        "pack",
        "read",
        "score",
        "write",
    ),
    "sottovoce.engines": ("LocalEngine",),
    "sottovoce.errors": (
        "DataError",
        "NotInstalled",
        "OutputExists",
        "SottovoceError",
        "UsageError",
    ),
    "sottovoce.inference": (
        "CATD",
        "CRH",
        "GTM",
        "METHODS",
        "TD",
        "Constant",
        "DawidSkene",
        "InverseDeviation",
        "LatentLabel",
        "MajorityVote",
        "Mean",
        "Median",
        "OneCoin",
        "WeightedMedian",
        "importance",
        "important",
    ),
    "sottovoce.inference.inspecting": ("Inspection",),
    "sottovoce.model": ("Domain", "Gold", "Kind", "Reading", "Reports", "Result", "Score"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CATD",
    "CRH",
    "GTM",
    "METHODS",
    "TD",
    "Comparison",
    "Constant",
    "DataError",
    "DawidSkene",
    "Domain",
    "Gold",
    "Inspection",
    "InverseDeviation",
    "Kind",
    "LatentLabel",
    "LocalEngine",
    "MajorityVote",
    "Mean",
    "Median",
    "NotInstalled",
    "OneCoin",
    "OutputExists",
    "Reading",
    "Reports",
    "Result",
    "Score",
    "SottovoceError",
    "UsageError",
    "WeightedMedian",
    "compare",
    "gold",
    "importance",
    "important",
    "infer",
    "inspect",
    "pack",
    "read",
    "score",
    "write",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
