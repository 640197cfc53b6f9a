"""An answer hides itself."""

from __future__ import annotations

import copy
import io
import json
import logging
import pickle
import pprint
from collections.abc import Callable

import pytest

from sottovoce.errors import UsageError
from sottovoce.model import Label
from sottovoce.worker import Answer

CANARY = "canary-7f3a"
ANSWER = Answer("t1", CANARY)


def logged(answer: Answer) -> str:
    stream = io.StringIO()
    logger = logging.Logger("device")
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("gave %s and %r, %s", answer, answer, [answer])
    try:
        raise ValueError(answer)
    except ValueError:
        logger.exception("failed")
    return stream.getvalue()


@pytest.mark.parametrize(
    "show",
    [repr, str, format, pprint.pformat, logged, lambda a: f"{[a]} {a!s:>40} {a!r} { ({'a': a}) }"],
)
def test_no_way_of_showing_an_answer_shows_its_value(show: Callable[[Answer], str]) -> None:
    shown = show(ANSWER)
    assert "t1" in shown
    assert CANARY not in shown


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy])
def test_an_answer_is_not_copied(copied: Callable[[Answer], object]) -> None:
    with pytest.raises(UsageError, match="stays on the worker's device") as caught:
        copied(ANSWER)
    assert CANARY not in str(caught.value)


def test_an_answer_cannot_be_changed() -> None:
    with pytest.raises(AttributeError) as caught:
        ANSWER.value = "no"  # type: ignore[misc]
    assert CANARY not in str(caught.value)


def test_an_answer_does_not_slip_into_json() -> None:
    with pytest.raises(TypeError) as caught:
        json.dumps({"answer": ANSWER})
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("value", ["yes", 3, 2.5, True, None])
def test_an_answer_is_a_text_a_number_a_truth_value_or_none(value: Label | None) -> None:
    assert Answer("t1", value).value == value


@pytest.mark.parametrize("value", [[CANARY], {CANARY: 1}, CANARY.encode(), object()])
def test_anything_else_is_refused_without_quoting_it(value: object) -> None:
    with pytest.raises(UsageError, match="must be a text, a number, true, false or None") as caught:
        Answer("t1", value)  # type: ignore[arg-type]
    assert CANARY not in str(caught.value)


def test_a_number_that_is_none_is_not_taken_for_skipping() -> None:
    with pytest.raises(UsageError, match="use None to skip"):
        Answer("t1", float("nan"))


@pytest.mark.parametrize("task", ["", None, 3])
def test_an_answer_needs_a_task(task: object) -> None:
    with pytest.raises(UsageError, match="needs the name of its task"):
        Answer(task, "yes")  # type: ignore[arg-type]
