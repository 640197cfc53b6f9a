"""The published schema accepts every policy that the library writes, and refuses invalid ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from sottovoce import (
    MECHANISMS,
    Calibration,
    Domain,
    Keyholder,
    Policy,
    ShowDraw,
    SottovoceError,
    Target,
    Threshold,
    TwoLayer,
    Unit,
    make_policy,
    mechanism_of,
    release_of,
)
from sottovoce.mechanisms.laws.hyper_weights import LevelWeights
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.registry import mechanism_class
from sottovoce.model import WORDS

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA: dict[str, Any] = json.loads(
    (DOCS / "reference" / "policy.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA)

YES_NO = Domain.categorical(["no", "yes"])
DIGITS = Domain.ordinal(range(10))
TENTHS = Domain.numeric(-1, 1.5, step=0.1)
HIDING = (
    "laplace", "matrix-factorization", "null-randomized-response", "subset-selection",
    "threshold", "two-layer",
)  # fmt: skip
PUBLISHED = ("two-layer", "random-variance-gaussian", "laplace", "matrix-factorization")
WHOLE = "matrix-factorization"  # takes all answers of a worker, so it is never sampled


def _made() -> Iterator[tuple[str, Callable[[], Policy]]]:
    for name in MECHANISMS:
        for domain in (YES_NO, DIGITS, TENTHS):
            if domain.kind in mechanism_class(name).takes:
                yield from _variants(name, domain)
    hiding = Target(1.0, hide_participation=True)
    laplace = partial(make_policy, DIGITS, "laplace", hiding)
    yield "laplace with a point for NULL", partial(laplace, null=3)
    yield "laplace with a random NULL", partial(laplace, null="random")
    threshold = partial(make_policy, DIGITS, "threshold", hiding)
    yield "threshold with a coin", partial(threshold, null=True, coin=True, salt="é")
    yield "threshold with windows", _windows
    yield "two-layer with levels", _levels
    small = Domain.numeric(0, 1e-7)
    yield "a small range without a step", partial(make_policy, small, "duchi", Target(1e-3))
    later = Target(1.0, show_draw=ShowDraw.AFTER_SEND)
    yield "a draw that is shown later", partial(make_policy, YES_NO, "randomized-response", later)
    yield from _sealed()
    mixed = Domain.categorical(["é", 3, True, 0.5])
    yield "labels of all kinds", partial(make_policy, mixed, "randomized-response", Target(20.0))


def _variants(name: str, domain: Domain) -> Iterator[tuple[str, Callable[[], Policy]]]:
    delta = 0.01 if name == "random-variance-gaussian" else 0.0
    make, case = partial(make_policy, domain, name), f"{name}, {domain.kind}"
    target = Target(1.0, delta=delta, answers=4)
    yield case, partial(make, target)
    if name in HIDING:
        yield f"{case}, hiding", partial(make, replace(target, hide_participation=True))
    if name in PUBLISHED:
        published = partial(make, target, calibration=Calibration.AS_PUBLISHED)
        yield f"{case}, as published", published
    if name != WHOLE:
        yield f"{case}, sampled", partial(make, replace(target, epsilon=3.0, unit=Unit.WORKER))


def _sealed() -> Iterator[tuple[str, Callable[[], Policy]]]:
    keys = [f"{letter * 42}A" for letter in "BCDEFGH"]
    pairs = zip(("Zoë", "Library", "Union"), keys[:3], keys[3:6], strict=True)
    named: dict[str, Any] = {
        "keyholders": tuple(Keyholder(*one) for one in pairs), "coordinator": keys[6],
    }  # fmt: skip
    for domain, layout in ((YES_NO, None), (DIGITS, None), (TENTHS, "sum"), (TENTHS, "histogram")):
        make = partial(make_policy, domain, "sealed-sum", layout=layout, **named)
        yield f"sealed, {domain.kind}, {layout}", partial(make, Target(0.3, answers=4))
    hiding = Target(1.0, Unit.WORKER, answers=7, hide_participation=True)
    yield "a sealed plan", partial(make_policy, TENTHS, "sealed-sum", hiding, seats=5, degree=2)


def _windows() -> Policy:
    moved = Threshold.calibrated(DIGITS, 1.0).moved({"t1": (2, 5), "ü": (1, 9)})
    return policy_of(moved, DIGITS, Target(1.0).promise)


def _levels() -> Policy:
    others = tuple(WORDS * level // 20 for level in range(1, 8))
    weights = (*(WORDS // 8,) * 6, WORDS // 4)
    return policy_of(TwoLayer(2, LevelWeights(others, weights)), YES_NO, None)


CASES = dict(_made())


def check_page(case: str, document: dict[str, Any]) -> None:
    """Every field of a mechanism is on its page."""
    for part in (document, document.get("of", document)):
        name = "sampling" if part["name"] == "sampled" else part["name"]
        text = (DOCS / "reference" / "mechanisms" / f"{name}.md").read_text(encoding="utf-8")
        fields = text.split("## In a policy", 1)[1].split("\n## ", 1)[0]
        assert [key for key in part if key != "name" and f"`{key}`" not in fields] == [], case


def test_the_schema_and_the_pages_tell_all_that_is_written_and_every_definition_is_used() -> None:
    """So every mechanism, and every form of one, is among the cases."""
    defined = {
        name
        for name, part in SCHEMA["$defs"].items()
        if "const" in part.get("properties", {}).get("name", {})
    }
    taken = set()
    for case, make in CASES.items():
        policy = make()
        assert not [*VALIDATOR.iter_errors(json.loads(policy.text()))], case
        document = policy.as_json()["mechanism"]
        check_page(case, document)
        for part in (document, document.get("of", document)):
            taken |= {name for name in defined if _definition(name).is_valid(part)}
    assert taken == defined


def _definition(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$defs": SCHEMA["$defs"], "$ref": f"#/$defs/{name}"})


def _without(path: str) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            document = document[parent]
        del document[last]

    return change


def _with(path: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(document: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        for parent in parents:
            document = document[parent]
        document[last] = value

    return change


def _sampled_twice(document: dict[str, Any]) -> None:
    once = {"name": "sampled", "answers": 1, "of": document["mechanism"]}
    document["mechanism"] = {"name": "sampled", "answers": 2, "of": once}


BROKEN: dict[str, Callable[[dict[str, Any]], None]] = {
    "another format": _with("format", "sottovoce-policy/2"),
    "no domain": _without("domain"),
    "an unknown field": _with("remark", "hello"),
    "an unknown field of the mechanism": _with("mechanism.remark", "hello"),
    "an unknown field of the domain": _with("domain.low", "0.0"),
    "an unknown mechanism": _with("mechanism.name", "shouting"),
    "a mechanism without a weight": _without("mechanism.other"),
    "a weight that is a number": _with("mechanism.other", 4961093570831980307),
    "a weight with a sign": _with("mechanism.other", "-4"),
    "a weight with a point": _with("mechanism.other", "4.0"),
    "a weight beyond 20 digits": _with("mechanism.other", "1" * 21),
    "one label": _with("mechanism.labels", 1),
    "no labels": _with("domain.labels", []),
    "an unknown kind": _with("domain.kind", "numbers"),
    "an unknown calibration": _with("calibration", "good"),
    "a sound policy without a promise": _with("promise", None),
    "a promise without a unit": _without("promise.unit"),
    "a promise of a float": _with("promise.epsilon", 1.0),
    "a promise of nothing sayable": _with("promise.epsilon", "nan"),
    "a promise for no answers": _with("promise.answers", 0),
    "a sample of a sample": _sampled_twice,
    "the default way to show draws": _with("show_draw", "before_send"),
    "an unknown way to show draws": _with("show_draw", "never"),
    "no way to show draws": _with("show_draw", None),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_both_the_schema_and_the_library_refuse(fault: str) -> None:
    document = copy.deepcopy(make_policy(YES_NO, "randomized-response", Target(1.0)).as_json())
    BROKEN[fault](document)
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(SottovoceError):
        mechanism_of(Policy.parse(json.dumps(document)))


BROKEN_SEALS: dict[str, Callable[[dict[str, Any]], None]] = {
    "no suite": _without("mechanism.suite"),
    "another suite": _with("mechanism.suite", "trust-me"),
    "an unknown layout": _with("mechanism.layout", "median"),
    "too many labels": _with("mechanism.size", 257),
    "an epsilon that is a number": _with("mechanism.epsilon", 1),
    "an epsilon of 0": _with("mechanism.epsilon", ["0", "1"]),
    "an epsilon of large integers": _with("mechanism.epsilon", ["1000001", "1000000"]),
    "an epsilon with a leading zero": _with("mechanism.epsilon", ["01", "2"]),
    "two seats": _with("mechanism.seats", 2),
    "nobody in league": _with("mechanism.degree", 0),
    "one contribution": _with("mechanism.minimum", 1),
    "a text for hidden": _with("mechanism.hidden", "no"),
    "a short key": _with("mechanism.coordinator", "A" * 42),
    "a key with a second spelling": _with("mechanism.coordinator", "A" * 42 + "B"),
    "a keyholder without keys": _with("mechanism.keyholders", [{"name": "Library"}] * 3),
    "a sample of sealed answers": lambda document: document.update(
        mechanism={"name": "sampled", "answers": 1, "of": document["mechanism"]}
    ),
}


@pytest.mark.parametrize("fault", BROKEN_SEALS)
def test_both_the_schema_and_the_library_refuse_of_a_sealed_policy(fault: str) -> None:
    document = copy.deepcopy(make_policy(YES_NO, "sealed-sum", Target(1.0)).as_json())
    BROKEN_SEALS[fault](document)
    assert not VALIDATOR.is_valid(document)
    with pytest.raises(SottovoceError):
        release_of(Policy.parse(json.dumps(document)))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)
