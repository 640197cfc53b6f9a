"""Whatever rule chooses the tasks, a transcript keeps the guarantee of its reports.

The rule may depend on every earlier report, as with assignment by need, or on anything a dishonest
server likes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import pytest

from sottovoce.mechanisms.randomized_response import RandomizedResponse
from sottovoce.model import Domain, Unit

MECHANISM = RandomizedResponse.calibrated(Domain.categorical("abc"), 1.0)
LABELS = range(3)
LAW = MECHANISM.channel().matrix()

Transcript = tuple[tuple[int, int], ...]
Rule = Callable[[Transcript], int | None]


def rules() -> Iterator[Rule]:
    """Every rule for two tasks: the first one, and after each report the other one or none."""
    for first, *goes_on in itertools.product((0, 1), *[(0, 1)] * len(LABELS)):

        def rule(seen: Transcript, first: int = first, goes_on: list[int] = goes_on) -> int | None:
            if not seen:
                return first
            return 1 - first if len(seen) == 1 and goes_on[seen[0][1]] else None

        yield rule


def law(rule: Rule, answers: tuple[int, int], seen: Transcript = ()) -> dict[Transcript, float]:
    """The probability of every transcript under a rule."""
    task = rule(seen)
    if task is None:
        return {seen: 1.0}
    found: dict[Transcript, float] = {}
    for report in LABELS:
        rest = law(rule, answers, (*seen, (task, report)))
        found |= {each: LAW[answers[task]][report] * chance for each, chance in rest.items()}
    return found


@pytest.mark.parametrize(("unit", "differing"), [(Unit.ANSWER, 1), (Unit.WORKER, 2)])
def test_no_rule_learns_more_than_the_guarantee(unit: Unit, differing: int) -> None:
    worst = 0.0
    every = list(itertools.product(LABELS, LABELS))
    for rule, one, other in itertools.product(rules(), every, every):
        if sum(a != b for a, b in zip(one, other, strict=True)) > differing:
            continue
        these, those = law(rule, one), law(rule, other)
        assert these.keys() == those.keys()
        worst = max(worst, *(math.log(these[seen] / those[seen]) for seen in these))
    held = MECHANISM.guarantee(2, unit, 0.0).epsilon
    assert worst == pytest.approx(held, rel=1e-9)
