"""Writes `tests/vectors/task-choices.json`: the order and choice of tasks on every kind of device.

Run it as `python -m tests.worker.task_choices`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sottovoce import Domain, Target, make_policy
from sottovoce.model import State, Task
from sottovoce.model.campaign import own_order
from sottovoce.worker.offer import Offer

__all__ = ["PATH", "chosen", "text"]

PATH = Path(__file__).parents[1] / "vectors" / "task-choices.json"

POLICY = make_policy(Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0))

_NAMES = [*(f"t{number}" for number in range(12)), "葉 17", "leaf\u00e9", "\U0001f343"]
_NEEDS: dict[str, list[int | None]] = {
    "not listed": [None] * len(_NAMES),
    "all alike": [7] * len(_NAMES),
    "by coverage": [3, 1, 2, 3, 3, 1, 1, 2, 2, 3, 1, 2, 3, 3, 2],
    "some settled": [0, 0, 5, 21, 0, 32, 5, 5, 0, 21, 21, 5, 0, 1, 32],
}


def chosen(case: dict[str, Any]) -> dict[str, list[str]]:
    """The order of all tasks, and the most needed ones that are asked, as Python chooses them."""
    needs = {each["task"]: each["need"] for each in case["tasks"]}
    order = own_order(case["campaign"], case["worker"], needs)
    tasks = tuple(Task(name, name, need=needs[name]) for name in order)
    offer = Offer("https://s", case["campaign"], State.OPEN, "t", "q", None, POLICY, tasks)
    return {"order": order, "chosen": list(offer.needed(offer.asked, case["count"]))}


def text() -> str:
    """The file."""
    cases = [
        {
            "title": f"{title}, worker {worker}",
            "campaign": "k7f3q2mzab",
            "worker": worker * 8,
            "count": 5,
            "tasks": [
                {"task": name, "need": need} for name, need in zip(_NAMES, needs, strict=True)
            ],
        }
        for title, needs in _NEEDS.items()
        for worker in ("00ff", "c1d2")
    ]
    return json.dumps([case | chosen(case) for case in cases], indent=1) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="ascii")
