"""Truth inference from crowd answers, raw or randomised on the workers' devices.

    import sottovoce

    result = sottovoce.infer("answers.csv")     # worker, task, answer -> a truth for each task
    sottovoce.write(result, "truths.csv")

Infer and compare:
    infer        infer the truth of every task, with confidence and weights of workers
    compare      score all suitable methods against known truths
    inspect      look at a table first: size, agreement, suspicious workers
    agreement    Krippendorff's alpha, Fleiss' and Cohen's kappa, with intervals
    plot         draw a result, a comparison, a plan or a tradeoff

Protect answers:
    make_policy  choose a mechanism for a `Target` guarantee and a `Domain` of answers
    epsilon      compute the privacy loss of a worker's reports under a policy
    randomize    randomise one answer on the worker's device and book its privacy loss
    perturb      turn a table of answers into reports, for simulations or for release

Plan:
    plan         predict the accuracy of a campaign at several epsilons
    tradeoff     measure the cost of privacy on answers whose truths you know

`sottovoce.__all__` lists all public names. Each is loaded when first used, so importing the package
costs little more than importing NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as _numpy  # noqa: F401 - the one library every part needs

from sottovoce.version import __version__ as __version__


def _homes() -> dict[str, str]:
    """The module of every public name, as the stub next to this file imports them."""
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
