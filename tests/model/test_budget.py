"""A budget limits something, and means it."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Unit
from sottovoce.model.budget import Budget


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ({}, "a budget needs a limit"),
        ({"worker_epsilon": 0}, "worker_epsilon must be a number above 0"),
        ({"worker_epsilon": -1.0}, "worker_epsilon must be a number above 0"),
        ({"worker_epsilon": math.nan}, "worker_epsilon must be a number above 0"),
        ({"worker_epsilon": math.inf}, "or None for no limit"),
        ({"worker_epsilon": "3"}, "worker_epsilon must be a number above 0"),
        ({"answer_epsilon": True}, "answer_epsilon must be a number above 0"),
        ({"answer_epsilon": 1, "answer_delta": 1.0}, "answer_delta must be a number from 0"),
        ({"answer_epsilon": 1, "answer_delta": math.nan}, "answer_delta must be a number from 0"),
        ({"answer_epsilon": 1, "worker_delta": 0.1}, "needs worker_epsilon"),
    ],
)
def test_what_is_no_budget_is_refused(limits: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Budget(**limits)


def test_a_unit_without_a_limit_is_unlimited() -> None:
    assert Budget(worker_epsilon=1).limit(Unit.ANSWER) == (math.inf, math.inf)


def test_a_limit_without_a_delta_allows_none() -> None:
    assert Budget(answer_epsilon=1).limit(Unit.ANSWER) == (1, 0)


def test_no_limit_covers_every_limit_and_not_the_other_way_round() -> None:
    bounded, unbounded = Budget(worker_epsilon=1, answer_epsilon=1), Budget(worker_epsilon=1)
    assert unbounded.covers(bounded)
    assert not bounded.covers(unbounded)
