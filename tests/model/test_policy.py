"""Policies as documents: one text, one hash, and nothing that can be read in two ways."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.errors import UsageError
from sottovoce.model import WORDS, Calibration, Domain, Policy, Promise, ShowDraw, Unit

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "policies.json").read_text())

BASE: dict[str, Any] = {
    "format": "sottovoce-policy/1",
    "domain": {"kind": "categorical", "labels": ["a", "b", "c"]},
    "mechanism": {"name": "randomized-response", "labels": 3, "other": str(WORDS // 4)},
    "calibration": "sound",
    "promise": {"unit": "answer", "epsilon": "1.0", "delta": "0.0", "answers": 5},
}


def changed(value: Any, *path: str) -> str:
    document = copy.deepcopy(BASE)
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return json.dumps(document)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["what"])
def test_golden_policies_keep_their_canonical_text_and_hash(vector: dict[str, Any]) -> None:
    policy = Policy.of_json(vector["policy"])
    assert policy.text() == vector["canonical"]
    assert policy.hash == vector["sha256"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["what"])
def test_the_hash_can_be_had_without_this_library(vector: dict[str, Any]) -> None:
    text = json.dumps(vector["policy"], sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(text.encode()).hexdigest() == vector["sha256"]


def test_the_default_way_to_show_draws_is_not_written_down() -> None:
    assert Policy.of_json(BASE).show_draw is ShowDraw.BEFORE_SEND
    assert "show_draw" not in Policy.of_json(BASE).as_json()


def test_draws_shown_after_sending_are_another_policy() -> None:
    later = Policy.parse(changed("after_send", "show_draw"))
    assert later.show_draw is ShowDraw.AFTER_SEND
    assert Policy.parse(later.text()) == later
    assert later.hash != Policy.of_json(BASE).hash


def test_the_order_of_fields_and_spaces_do_not_change_the_hash() -> None:
    backwards = {name: BASE[name] for name in reversed(BASE)}
    assert Policy.parse(json.dumps(backwards, indent=7)).hash == Policy.of_json(BASE).hash


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ("maybe", ("calibration",)),
        ("before_send", ("show_draw",)),
        ("never", ("show_draw",)),
        (None, ("show_draw",)),
        ([], ("show_draw",)),
        ({}, ("calibration",)),
        ("sottovoce-policy/2", ("format",)),
        (1, ("unknown",)),
        (None, ("domain",)),
        ("everything", ("domain", "kind")),
        ([], ("domain", "kind")),
        ("abc", ("domain", "labels")),
        ([True, False], ("domain", "labels")),
        ([1, "1"], ("domain", "labels")),
        (["a", "a"], ("domain", "labels")),
        ([], ("domain", "labels")),
        (["", "a"], ("domain", "labels")),
        (["x" * 1001, "a"], ("domain", "labels")),
        (["\ud800", "a"], ("domain", "labels")),
        (["a\0", "a"], ("domain", "labels")),
        ("0", ("domain", "low")),
        ([], ("mechanism",)),
        (7, ("mechanism", "name")),
        ([], ("promise",)),
        ("crowd", ("promise", "unit")),
        (1.0, ("promise", "epsilon")),
        (1, ("promise", "epsilon")),
        ("0", ("promise", "epsilon")),
        ("-1", ("promise", "epsilon")),
        ("nan", ("promise", "epsilon")),
        ("inf", ("promise", "epsilon")),
        ("1e400", ("promise", "epsilon")),
        ("1_0", ("promise", "epsilon")),
        (" 1", ("promise", "epsilon")),
        ("1\n", ("promise", "epsilon")),
        ("\u0661", ("promise", "epsilon")),
        ("0x1", ("promise", "epsilon")),
        ("1", ("promise", "delta")),
        (True, ("promise", "answers")),
        ("5", ("promise", "answers")),
        (0, ("promise", "answers")),
        (10**400, ("promise", "answers")),
    ],
)
def test_what_is_no_policy_is_refused_in_one_short_line(value: Any, path: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as refusal:
        Policy.parse(changed(value, *path))
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 200


@pytest.mark.parametrize("field", ["format", "domain", "mechanism", "calibration", "promise"])
def test_a_missing_field_is_named(field: str) -> None:
    document = {name: value for name, value in BASE.items() if name != field}
    with pytest.raises(UsageError, match=field):
        Policy.of_json(document)


@pytest.mark.parametrize("number", ["1.0", "1e2", "NaN", "Infinity", "-Infinity"])
def test_floats_are_refused_wherever_they_stand(number: str) -> None:
    with pytest.raises(UsageError, match="written as strings"):
        Policy.parse(json.dumps(BASE).replace('"labels": 3', f'"labels": {number}'))


@pytest.mark.parametrize("field", ['"format": "sottovoce-policy/1"', '"labels": 3', '"answers": 5'])
def test_a_field_that_stands_twice_is_refused(field: str) -> None:
    with pytest.raises(UsageError, match="twice"):
        Policy.parse(json.dumps(BASE).replace(field, f"{field}, {field}"))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "", "{", b"\xff\xfe\x00", "[]"])
def test_text_that_is_no_object_is_refused(text: str | bytes) -> None:
    with pytest.raises(UsageError):
        Policy.parse(text)


@given(st.lists(st.text(min_size=1, max_size=20), min_size=1, max_size=6, unique=True))
def test_any_labels_survive_the_round_trip(labels: list[str]) -> None:
    try:
        policy = Policy(Domain.categorical(labels), BASE["mechanism"], Calibration.SOUND, None)
    except UsageError:
        assert any("\0" in label or not label.isprintable() for label in labels)
        return
    assert Policy.parse(policy.text()) == policy


@given(st.floats(1e-300, 1e300), st.floats(0, 1, exclude_max=True), st.integers(1, 10**7))
def test_any_promise_survives_the_round_trip(epsilon: float, delta: float, answers: int) -> None:
    promise = Promise(Unit.WORKER, epsilon, delta, answers)
    policy = Policy(Domain.numeric(0, 1), BASE["mechanism"], Calibration.SOUND, promise)
    assert Policy.parse(policy.text()).promise == promise


def test_fractions_and_booleans_as_labels_become_text() -> None:
    policy = Policy(Domain.categorical([0.5, True]), {"name": "x"}, Calibration.SOUND, None)
    assert policy.as_json()["domain"]["labels"] == ["0.5", "true"]


def test_a_hundred_thousand_labels_are_read() -> None:
    document = {**BASE, "domain": {"kind": "categorical", "labels": list(range(100_000))}}
    assert Policy.parse(json.dumps(document)).domain.size == 100_000


@pytest.mark.parametrize(
    ("epsilon", "delta", "answers", "field"),
    [
        (0.0, 0.0, 1, "epsilon"),
        (-1.0, 0.0, 1, "epsilon"),
        (float("nan"), 0.0, 1, "epsilon"),
        (float("inf"), 0.0, 1, "epsilon"),
        (1.0, -0.1, 1, "delta"),
        (1.0, 1.0, 1, "delta"),
        (1.0, float("nan"), 1, "delta"),
        (1.0, 0.0, 0, "answers"),
        (1.0, 0.0, 1 << 40, "answers"),
    ],
)
def test_an_impossible_promise_is_refused_by_its_field(
    epsilon: float, delta: float, answers: int, field: str
) -> None:
    with pytest.raises(UsageError, match=f"^{field} must be"):
        Promise(Unit.ANSWER, epsilon, delta, answers)
