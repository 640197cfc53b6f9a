"""A submission holds what may leave and nothing else, and is read back only as it was written."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model import Submission

SUBMISSION = Submission("f4a3", "ada", ("t1", "t2"), ("no", 2.5))
DOCUMENT = SUBMISSION.as_json()
CANARY = "CANARY"

labels = (
    st.text()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
)  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@st.composite
def submissions(draw: st.DrawFn) -> Submission:
    tasks = sorted(draw(st.sets(st.text(), max_size=6)))
    reports = draw(st.lists(labels, min_size=len(tasks), max_size=len(tasks)))
    names = (draw(st.text()), draw(st.text()))
    return Submission(*names, tuple(tasks), tuple(reports), draw(st.booleans()))


def test_it_has_these_fields_and_no_others() -> None:
    fields = [field.name for field in dataclasses.fields(Submission)]
    assert fields == ["policy_hash", "worker", "tasks", "reports", "simulated"]


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


@given(submissions())
def test_it_is_read_back_as_it_was_written(submission: Submission) -> None:
    read = Submission.parse(submission.text().encode())
    assert read == submission
    assert [type(report) for report in read.reports] == [type(r) for r in submission.reports]
    assert read.text() == submission.text()


def said_of(content: bytes) -> str:
    """The error message for bytes that are no submission; empty where they are one."""
    try:
        Submission.parse(content)
    except UsageError as error:
        return str(error)
    return ""


@given(st.binary() | anything.map(lambda value: json.dumps(value).encode()))
def test_whatever_arrives_is_read_or_refused(content: bytes) -> None:
    assert said_of(content)


@given(field=st.sampled_from(sorted(DOCUMENT)), value=anything)
def test_whatever_is_in_a_field_is_read_or_refused(field: str, value: Any) -> None:
    said_of(json.dumps({**DOCUMENT, field: value}).encode())


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"format": CANARY}, "format is not 'sottovoce-submission/1'"),
        ({"policy": [CANARY]}, "policy must be a text"),
        ({"worker": {CANARY: 1}}, "worker must be a text"),
        ({"tasks": CANARY}, "tasks must be a list"),
        ({"reports": {CANARY: 1}}, "reports must be a list"),
        ({"tasks": ["t1", 7]}, "tasks must be texts"),
        ({"reports": [CANARY, None]}, "reports must be texts or numbers"),
        ({"reports": [CANARY, True]}, "reports must be texts or numbers"),
        ({"reports": [CANARY, [1]]}, "reports must be texts or numbers"),
        ({"reports": [CANARY]}, "one report for each task"),
        ({"tasks": [CANARY, CANARY]}, "in order, each of them once"),
        ({"simulated": CANARY}, "simulated must be true or false"),
        ({CANARY: 1}, "a field that is not known"),
    ],
)
def test_what_is_wrong_is_said_and_not_quoted(changed: dict[str, Any], fault: str) -> None:
    said = said_of(json.dumps({**DOCUMENT, **changed}).encode())
    assert fault in said
    assert CANARY not in said


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"CANARY"', "not JSON"),
        ("[1, 2]", "must be a JSON object"),
        ("{}", "lacks format, policy, reports, tasks, worker"),
        ('{"a":1,"a":2}', "a field twice"),
        ('{"a":NaN}', "not finite"),
        ('{"a":-Infinity}', "not finite"),
        ("[" * 100_000, "not JSON"),
        ("9" * 10_000, "not JSON"),
        (SUBMISSION.text().replace("2.5", "1e999"), "not finite"),
        (SUBMISSION.text().replace("2.5", "-1e999"), "not finite"),
        ("\ufeff" + SUBMISSION.text(), "not JSON"),
    ],
    ids=["cut", "list", "empty", "twice", "nan", "infinity", "deep", "long", "huge", "low", "mark"],
)
def test_what_two_readers_could_take_for_two_things_is_refused(text: str, fault: str) -> None:
    assert fault in said_of(text.encode())


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32-le"])
def test_only_utf8_is_read(encoding: str) -> None:
    assert "not JSON" in said_of(SUBMISSION.text().encode(encoding))
