"""The order and choice of tasks on the worker's page and in the library, held to one file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.server.web.node import RANDOMIZER, node
from tests.worker.task_choices import PATH, chosen, text

from sottovoce.server.web.worker_page import STATIC

CASES = json.loads(PATH.read_text(encoding="ascii"))


def test_the_file_is_what_the_library_makes_today() -> None:
    assert PATH.read_text(encoding="ascii") == text()


def test_the_page_chooses_the_same_tasks_in_the_same_order() -> None:
    script = Path(__file__).parent / "choice.mjs"
    modules = map(str, (RANDOMIZER, STATIC / "worker" / "choice.js"))
    found = json.loads(node(script, *modules, feed=json.dumps(CASES)))
    assert found == [chosen(case) for case in CASES]


@pytest.mark.parametrize("case", CASES[-2:], ids=[case["title"] for case in CASES[-2:]])
def test_the_most_needed_tasks_are_chosen_and_settled_ones_never(case: dict[str, Any]) -> None:
    needs = {each["task"]: each["need"] for each in case["tasks"]}
    taken = [needs[task] for task in case["chosen"]]
    assert sorted(taken, reverse=True) == [32, 32, 21, 21, 21]


def test_workers_have_orders_of_their_own() -> None:
    assert len({tuple(case["order"]) for case in CASES}) == 2
