"""Transcripts in files: written ones are read again, and nothing else is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.transcript import Transcript

TERMS = EMTerms(("q1", "q2"), ("no", "yes"), Mode.AS_PUBLISHED, scale=10**14)


def transcript() -> Transcript:
    opened = (
        OpenedSum(np.array([1, 2, 3, 0]), 3),
        OpenedSum(np.array([10**16 + 1, 0, 5, 7]), 2),
    )
    return Transcript(TERMS, 3, opened, {"ann": ("q1", "q2"), "bob": ("q2",)})


def changed(**parts: Any) -> str:
    return json.dumps({**json.loads(transcript().text()), **parts})


def test_what_is_written_is_read_again_to_the_integer() -> None:
    found = Transcript.parse(transcript().text())
    assert found.terms == TERMS
    assert [each.totals.tolist() for each in found.opened] == [
        [1, 2, 3, 0], [10**16 + 1, 0, 5, 7],
    ]  # fmt: skip
    assert [each.workers for each in found.opened] == [3, 2]
    assert found.assignments == {"ann": ("q1", "q2"), "bob": ("q2",)}
    assert found.text() == transcript().text()


def test_a_task_is_listed_as_often_as_its_worker_may_answer_it() -> None:
    terms = replace(TERMS, repeats=2)
    tasks = {"ann": ("q1", "q1", "q2"), "bob": ("q2",)}
    seen = Transcript(terms, 3, transcript().opened, tasks)
    assert Transcript.parse(seen.text()).assignments == tasks
    with pytest.raises(UsageError, match="each of them at most 2 times"):
        Transcript(terms, 3, transcript().opened, {"ann": ("q1", "q1", "q1")})


def test_assignments_may_be_unknown() -> None:
    assert Transcript.parse(changed(assignments=None)).assignments is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("worker,task,answer\n", "t.json: not a transcript: no JSON"),
        ('{"format":"sottovoce-policy/1"}', "does not say that its format is sottovoce-transcr"),
        ("[1, 2]", "does not say that its format"),
        (transcript().text()[:-40], "t.json: a transcript that was cut off: write it again"),
        (changed(format="sottovoce-transcript/2"), "transcript/2': this reads sottovoce-transc"),
        (changed(format="sottovoce-transcript/" + "x" * 999), "this reads sottovoce-transcript/1"),
        (changed(workers="3"), "missing or wrong parts"),
        (changed(workers=True), "missing or wrong parts"),
        (changed(more=1), "missing or wrong parts"),
        (changed(rounds=[{"totals": ["1e3"], "workers": 3}]), "missing or wrong parts"),
        (changed(rounds=[{"totals": [1], "workers": 3}]), "missing or wrong parts"),
        (changed(rounds=[{"totals": ["9" * 19], "workers": 3}]), "missing or wrong parts"),
        (changed(rounds=[{"workers": 3}]), "missing or wrong parts"),
        (changed(rounds=[{"totals": ["1"], "workers": 4}]), "round 0 adds up 4 of 3 workers"),
        (changed(workers=0, rounds=[]), "at least one worker"),
        (changed(assignments={"ann": ["q9"]}), "must be tasks of the terms"),
        (changed(assignments={"ann": ["q1", "q1"]}), "each of them once"),
        (changed(assignments=["ann"]), "missing or wrong parts"),
        (changed(em={}), "not the terms of a private EM"),
    ],
)
def test_anything_else_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(DataError) as refused:
        Transcript.parse(text, "t.json")
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_totals_are_integers_from_0() -> None:
    with pytest.raises(UsageError, match="round 0 has totals"):
        Transcript(TERMS, 3, (OpenedSum(np.array([-1]), 3),))


def test_totals_are_not_in_its_repr() -> None:
    assert "10000000000000001" not in repr(transcript())
