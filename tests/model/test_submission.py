"""A submission holds what may leave and nothing else."""

from __future__ import annotations

import dataclasses
import json

import pytest

from sottovoce.errors import UsageError
from sottovoce.worker import Submission

SUBMISSION = Submission("f4a3", "ada", ("t1", "t2"), ("no", 2.5))


def test_it_has_these_fields_and_no_others() -> None:
    fields = [field.name for field in dataclasses.fields(Submission)]
    assert fields == ["policy_hash", "worker", "tasks", "reports"]


def test_its_text_is_its_document() -> None:
    assert json.loads(SUBMISSION.text()) == SUBMISSION.as_json()


def test_equal_reports_have_equal_bytes() -> None:
    assert SUBMISSION.text() == dataclasses.replace(SUBMISSION).text()


def test_its_text_is_ascii() -> None:
    assert Submission("f4a3", "ada", ("Zürich?",), ("no",)).text().isascii()


@pytest.mark.parametrize("tasks", [("t2", "t1"), ("t1", "t1")])
def test_tasks_out_of_order_or_twice_are_refused(tasks: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="in order, each of them once"):
        Submission("f4a3", "ada", tasks, ("no", "yes"))


def test_a_task_without_a_report_is_refused() -> None:
    with pytest.raises(UsageError, match="one report for each task"):
        Submission("f4a3", "ada", ("t1",), ())
