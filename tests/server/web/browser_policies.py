"""A policy of every mechanism, variant and kind of domain that pages can randomise under."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from sottovoce.mechanisms import RandomizedResponse
from sottovoce.mechanisms.policies import Target, make_policy, policy_of
from sottovoce.mechanisms.threshold import Threshold
from sottovoce.model import Domain, Policy, Promise, ShowDraw, Unit
from sottovoce.seams import Mechanism

__all__ = ["POLICIES"]

ANIMALS = Domain.categorical(["cat", "犬", "\N{OWL}", 4])
STARS = Domain.ordinal([1, 2, 3, 4, 5])
MOODS = Domain.ordinal(["bad", "so-so", "good", "great"])
HALVES = Domain.ordinal(["0.5", "1", "1.5"])
PERCENT = Domain.numeric(0, 100, step=10)
TENTHS = Domain.numeric(-0.3, 0.7, step=0.1)
WHOLE = Domain.numeric(0, 3)  # a thousand steps
TINY = Domain.numeric(0, 0.00002, step=0.00001)
HUGE = Domain.numeric(-2e16, 1e17, step=1e16)


def _made(
    domain: Domain, name: str, epsilon: float, unit: Unit = Unit.ANSWER, sample: int | None = None,
    **parameters: Any,
) -> Policy:  # fmt: skip
    hides = name == "null-randomized-response" or parameters.get("null", "absent") not in (
        "absent", False,
    )  # fmt: skip
    target = Target(epsilon, unit=unit, answers=40, sample=sample, hide_participation=hides)
    return make_policy(domain, name, target, **parameters)


def _by_hand(mechanism: Mechanism, domain: Domain) -> Policy:
    epsilon = mechanism.guarantee(40, Unit.WORKER).epsilon or 1.0  # one that reveals nothing
    return policy_of(mechanism, domain, Promise(Unit.WORKER, epsilon, 0.0, 40))


def _policies() -> Iterator[tuple[str, Policy]]:
    yes = Domain.categorical(["no", "yes"])
    plain = _made(yes, "randomized-response", 1.0)
    yield "randomized-response", plain
    yield "randomized-response of four", _made(ANIMALS, "randomized-response", 2.5)
    yield (
        "randomized-response of many",
        _made(Domain.ordinal(range(40)), "randomized-response", 3.0),
    )
    yield "randomized-response that reveals nothing", _by_hand(RandomizedResponse(2, 1 << 63), yes)
    yield "drawn after sending", replace(plain, show_draw=ShowDraw.AFTER_SEND)
    yield "null-randomized-response", _made(ANIMALS, "null-randomized-response", 2.0)
    sets: list[tuple[str, Domain, dict[str, Any]]] = [
        ("subset-selection", Domain.categorical(range(12)), {}),
        ("subset-selection with null", ANIMALS, {"null": True}),
        ("subset-selection of 64", Domain.ordinal(range(64)), {}),
        ("subset-selection of bins", PERCENT, {"bins": 4}),
        ("subset-selection of bins with null", WHOLE, {"null": True}),
    ]
    for title, domain, more in sets:
        yield title, _made(domain, "subset-selection", 1.0, **more)
    for null in ("absent", "centre", "random", 3):
        yield f"laplace with null {null}", _made(PERCENT, "laplace", 1.5, null=null)
    for title, domain in (
        ("stars", STARS), ("moods", MOODS), ("halves", HALVES), ("tenths", TENTHS),
        ("a thousand steps", WHOLE), ("tiny steps", TINY), ("huge steps", HUGE),
    ):  # fmt: skip
        yield f"laplace on {title}", _made(domain, "laplace", 1.0)
    yield "laplace without room", _made(Domain.numeric(0, 4, 1), "laplace", 40.0)
    yield "laplace of the longest reach", _made(Domain.numeric(0, 10, 0.001), "laplace", 0.3)
    yield "piecewise", _made(PERCENT, "piecewise", 1.0)
    yield "piecewise with little noise", _made(STARS, "piecewise", 6.0)
    yield "duchi", _made(TENTHS, "duchi", 1.0)
    yield "threshold", _made(PERCENT, "threshold", 1.0, salt="sälz")
    yield "threshold with null", _made(MOODS, "threshold", 1.0, null=True)
    yield "threshold with coin", _made(PERCENT, "threshold", 1.0, null=True, coin=True)
    asked = Threshold.calibrated(PERCENT, 1.0).moved({"\N{OWL}": (3, 5), "ﬁ": (9, 9), "a": (1, 2)})
    yield "threshold with windows", _by_hand(asked, PERCENT)
    sampled: list[tuple[str, Domain, str, dict[str, Any]]] = [
        ("labels", ANIMALS, "randomized-response", {}),
        ("sets", STARS, "subset-selection", {}),
        ("labels and null", ANIMALS, "null-randomized-response", {}),
        ("numbers and null", PERCENT, "laplace", {"null": "random"}),
        ("sides", PERCENT, "threshold", {"null": True, "coin": True}),
    ]
    for title, domain, name, more in sampled:
        yield f"sampled {title}", _made(domain, name, 8.0, Unit.WORKER, 3, **more)


POLICIES: Mapping[str, Policy] = dict(_policies())
