"""Policies that the randomiser of the pages must refuse, and why."""

# ruff: noqa: E501 - one line for each

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, make_policy, mechanism_of
from sottovoce.model import Calibration, Domain, Policy, Unit

__all__ = ["refused_policies"]

Document = dict[str, Any]
Change = Callable[[Document], None]

LABELS = make_policy(
    Domain.categorical(["a", "b", "c"]), "randomized-response", Target(1.0, answers=9)
)
NUMBERS = make_policy(Domain.numeric(0, 10, 1), "laplace", Target(1.0, answers=9))
SETS = make_policy(Domain.ordinal(range(8)), "subset-selection", Target(1.0, answers=9))
BINS = make_policy(Domain.numeric(0, 10, 1), "subset-selection", Target(1.0, answers=9))
WINDOW = make_policy(Domain.numeric(0, 10, 1), "piecewise", Target(1.0, answers=9))
ENDS = make_policy(Domain.numeric(0, 10, 1), "duchi", Target(1.0, answers=9))
SIDES = make_policy(Domain.numeric(0, 10, 1), "threshold", Target(1.0, answers=9))
STARS = make_policy(Domain.ordinal(range(4)), "laplace", Target(1.0, answers=9))
SAMPLE = make_policy(
    Domain.categorical("ab"), "randomized-response",
    Target(4.0, unit=Unit.WORKER, answers=9, sample=2),
)  # fmt: skip
HIDING = make_policy(
    Domain.categorical("ab"), "null-randomized-response",
    Target(1.0, answers=9, hide_participation=True),
)  # fmt: skip


def _set(*path: str, to: Any) -> Change:
    def change(document: Document) -> None:
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = to

    return change


def _drop(*path: str) -> Change:
    def change(document: Document) -> None:
        for name in path[:-1]:
            document = document[name]
        del document[path[-1]]

    return change


def _both(*changes: Change) -> Change:
    def change(document: Document) -> None:
        for each in changes:
            each(document)

    return change


_ORDINARY: list[tuple[str, Policy, str, Change]] = [
    ("another format", LABELS, "format", _set("format", to="sottovoce-policy/2")),
    ("an unknown field", LABELS, "format", _set("note", to="hello")),
    ("no format", LABELS, "format", _drop("format")),
    ("no mechanism", LABELS, "format", _drop("mechanism")),
    ("a default that is said", LABELS, "format", _set("show_draw", to="before_send")),
    ("an unknown time to show", LABELS, "format", _set("show_draw", to="never")),
    ("another calibration", LABELS, "calibration", _set("calibration", to="hopeful")),
    ("no promise", LABELS, "promise", _set("promise", to=None)),
    ("a promise that is not kept", LABELS, "promise", _set("promise", "epsilon", to="0.999999")),
    ("a promise of nothing", LABELS, "promise", _set("promise", "epsilon", to="0.0")),
    ("a negative promise", LABELS, "promise", _set("promise", "epsilon", to="-1.0")),
    ("an endless promise", LABELS, "promise", _set("promise", "epsilon", to="1e999")),
    ("a promise that is a number", LABELS, "promise", _set("promise", "epsilon", to=1)),
    ("a promise in words", LABELS, "promise", _set("promise", "epsilon", to="one")),
    ("a promise per answer for a worker", LABELS, "promise", _set("promise", "unit", to="worker")),
    ("another unit", LABELS, "promise", _set("promise", "unit", to="household")),
    ("no answers", LABELS, "promise", _set("promise", "answers", to=0)),
    ("too many answers", LABELS, "promise", _set("promise", "answers", to=(1 << 24) + 1)),
    ("answers in words", LABELS, "promise", _set("promise", "answers", to="9")),
    ("more in a promise", LABELS, "promise", _set("promise", "rho", to="1.0")),
    ("no weight", LABELS, "mechanism", _set("mechanism", "other", to="0")),
    ("a weight too large", LABELS, "mechanism", _set("mechanism", "other", to=str((1 << 64) // 3 + 1))),
    ("a negative weight", LABELS, "mechanism", _set("mechanism", "other", to="-5")),
    ("a weight that is a number", LABELS, "mechanism", _set("mechanism", "other", to=5)),
    ("a weight in hexadecimal", LABELS, "mechanism", _set("mechanism", "other", to="0x10")),
    ("a weight of other digits", LABELS, "mechanism", _set("mechanism", "other", to="１２")),
    ("more labels", LABELS, "mechanism", _set("mechanism", "labels", to=4)),
    ("labels in words", LABELS, "mechanism", _set("mechanism", "labels", to="3")),
    ("labels that are true", LABELS, "mechanism", _set("mechanism", "labels", to=True)),
    ("an unknown mechanism", LABELS, "mechanism", _set("mechanism", "name", to="constructor")),
    ("more in a mechanism", LABELS, "mechanism", _set("mechanism", "keep", to="9")),
    ("less in a mechanism", LABELS, "mechanism", _drop("mechanism", "other")),
    ("a list of mechanisms", LABELS, "mechanism", _set("mechanism", to=[])),
    ("labels for numbers", LABELS, "mechanism", _set("domain", to={"kind": "numeric", "low": "0.0", "high": "1.0"})),
    ("another kind of domain", LABELS, "domain", _set("domain", "kind", to="nominal")),
    ("the same label twice", LABELS, "domain", _set("domain", "labels", to=["a", "b", "a"])),
    ("a number that is a label too", LABELS, "domain", _set("domain", "labels", to=["1", 1, "c"])),
    ("an empty label", LABELS, "domain", _set("domain", "labels", to=["", "b", "c"])),
    ("a label that is true", LABELS, "domain", _set("domain", "labels", to=[True, "b", "c"])),
    ("a label that is none", LABELS, "domain", _set("domain", "labels", to=[None, "b", "c"])),
    ("half a letter", LABELS, "domain", _set("domain", "labels", to=["\ud800", "b", "c"])),
    ("a label too long", LABELS, "domain", _set("domain", "labels", to=["a" * 1001, "b", "c"])),
    ("a label with nothing", LABELS, "domain", _set("domain", "labels", to=["a\0", "b", "c"])),
    ("labels in a text", LABELS, "domain", _set("domain", "labels", to="abc")),
    ("more in a domain", LABELS, "domain", _set("domain", "low", to="0.0")),
    ("a label that means no answer", HIDING, "domain", _set("domain", "labels", to=["NULL", "b"])),
    ("numbers for labels", NUMBERS, "mechanism", _set("domain", to={"kind": "categorical", "labels": ["a", "b"]})),
    ("another step", NUMBERS, "mechanism", _set("domain", "step", to="2.0")),
    ("a step that does not fit", NUMBERS, "domain", _set("domain", "step", to="3.0")),
    ("no step", NUMBERS, "domain", _set("domain", "step", to="0.0")),
    ("a step backwards", NUMBERS, "domain", _set("domain", "step", to="-1.0")),
    ("steps too fine", NUMBERS, "domain", _set("domain", "step", to="1e-05")),
    ("steps too far away", NUMBERS, "domain", _set("domain", to={"kind": "numeric", "low": "1e+16", "high": "1.000000000000001e+16", "step": "1.0"})),
    ("a range that is none", NUMBERS, "domain", _set("domain", "high", to="0.0")),
    ("a range that does not end", NUMBERS, "domain", _set("domain", "high", to="inf")),
    ("a range of numbers", NUMBERS, "domain", _set("domain", "high", to=10)),
    ("an odd centre", NUMBERS, "mechanism", lambda d: d["mechanism"].update(centre=str(int(d["mechanism"]["centre"]) + 1))),
    ("a centre too large", NUMBERS, "mechanism", _set("mechanism", "centre", to=str((1 << 64) - 2))),
    ("noise that ends", NUMBERS, "mechanism", _set("mechanism", "ratio", to="1000")),
    ("a reach too short", NUMBERS, "mechanism", _set("mechanism", "reach", to=9)),
    ("a reach too long", NUMBERS, "mechanism", _set("mechanism", "reach", to=(1 << 17) + 1)),
    ("a point outside for no answer", NUMBERS, "mechanism", _set("mechanism", "null", to=11)),
    ("an unknown way for no answer", NUMBERS, "mechanism", _set("mechanism", "null", to="hidden")),
    ("true for no answer", NUMBERS, "mechanism", _set("mechanism", "null", to=True)),
    ("less noise than promised", NUMBERS, "promise", lambda d: d["mechanism"].update(ratio=str(int(d["mechanism"]["ratio"]) - (1 << 58)))),
    ("labels unevenly spaced", STARS, "mechanism", _set("domain", "labels", to=[0, 1, 2, 4])),
    ("labels that fall", STARS, "domain", _set("domain", "labels", to=[3, 2, 1, 0])),
    ("labels without an order", STARS, "mechanism", _set("domain", "kind", to="categorical")),
    ("sets of none", SETS, "mechanism", _set("mechanism", "size", to=0)),
    ("sets of all", SETS, "mechanism", _set("mechanism", "size", to=8)),
    ("sets that lie", SETS, "mechanism", _set("mechanism", "include", to="1")),
    ("sets that tell", SETS, "promise", _set("mechanism", "include", to=str((1 << 64) - 1))),
    ("bins of labels", SETS, "mechanism", _both(_set("mechanism", "bins", to=4), _set("mechanism", "steps", to=7))),
    ("null in words", SETS, "mechanism", _set("mechanism", "null", to="false")),
    ("more bins than points", BINS, "mechanism", _set("mechanism", "bins", to=12)),
    ("one bin", BINS, "mechanism", _set("mechanism", "bins", to=1)),
    ("bins without steps", BINS, "mechanism", _drop("mechanism", "steps")),
    ("bins and labels", BINS, "mechanism", _set("mechanism", "labels", to=2)),
    ("a window of all", WINDOW, "mechanism", lambda d: d["mechanism"].update(width=11 + 2 * d["mechanism"]["beyond"])),
    ("a window of none", WINDOW, "mechanism", _set("mechanism", "width", to=0)),
    ("a window far outside", WINDOW, "mechanism", _set("mechanism", "beyond", to=1 << 18)),
    ("nothing outside a window", WINDOW, "mechanism", _set("mechanism", "outside", to="0")),
    ("little outside a window", WINDOW, "promise", _set("mechanism", "outside", to="1")),
    ("ends that say nothing", ENDS, "mechanism", _set("mechanism", "other", to=str(1 << 63))),
    ("ends that tell", ENDS, "promise", _set("mechanism", "other", to="1")),
    ("sides that say nothing", SIDES, "mechanism", _set("mechanism", "other", to=str(1 << 63))),
    ("a coin for nobody", SIDES, "mechanism", _set("mechanism", "coin", to=True)),
    ("salt that is a number", SIDES, "mechanism", _set("mechanism", "salt", to=7)),
    ("a window before the first", SIDES, "mechanism", _set("mechanism", "windows", to={"t": [0, 3]})),
    ("a window behind the last", SIDES, "mechanism", _set("mechanism", "windows", to={"t": [1, 11]})),
    ("a window backwards", SIDES, "mechanism", _set("mechanism", "windows", to={"t": [4, 3]})),
    ("a window of three", SIDES, "mechanism", _set("mechanism", "windows", to={"t": [1, 2, 3]})),
    ("windows in a list", SIDES, "mechanism", _set("mechanism", "windows", to=[[1, 2]])),
    ("a sample of none", SAMPLE, "mechanism", _set("mechanism", "answers", to=0)),
    ("a larger sample", SAMPLE, "promise", _set("mechanism", "answers", to=3)),
    ("more in a sample", SAMPLE, "mechanism", _set("mechanism", "seed", to=3)),
    ("a sample of a sample", SAMPLE, "mechanism", lambda d: d.update(mechanism={"name": "sampled", "answers": 1, "of": copy.deepcopy(d["mechanism"])})),
    ("nothing at all", LABELS, "format", lambda d: d.clear()),
]  # fmt: skip
"""The fault, the policy, the reason given for refusal, and the change that makes the fault."""

_BY_THE_LIBRARY = [
    ("a promise with a delta", "delta", make_policy(
        Domain.categorical("ab"), "randomized-response",
        Target(1.0, unit=Unit.WORKER, delta=1e-6, answers=50),
    )),
    ("parameters as published", "calibration", make_policy(
        Domain.ordinal(range(5)), "laplace", Target(1.0), calibration=Calibration.AS_PUBLISHED,
    )),
    ("two layers", "mechanism", make_policy(
        Domain.categorical("ab"), "two-layer", Target(1.0),
    )),
    ("a random variance", "delta", make_policy(
        Domain.numeric(0, 1, 0.1), "random-variance-gaussian", Target(1.0, delta=1e-6),
    )),
]  # fmt: skip
"""Sound policies of the library, or honest ones, that a browser does not verify."""


def refused_policies() -> Iterator[Document]:
    """Each with its reason, and whether the library refuses it too."""
    for title, policy, code, change in _ORDINARY:
        document = copy.deepcopy(policy.as_json())
        change(document)
        yield _vector(title, document, code)
    for title, code, policy in _BY_THE_LIBRARY:
        yield _vector(title, policy.as_json(), code)
    yield _vector("labels in other digits", _renamed(["٠", "١", "٢", "٣"]), "domain")
    yield _vector("labels with underscores", _renamed(["1_0", "2_0", "3_0", "4_0"]), "domain")
    exact = LABELS.as_json()
    exact["domain"]["labels"] = [1, 2, 1 << 53]
    yield _vector("a label that is too large a number", exact, "domain")


def _renamed(labels: list[str]) -> Document:
    document = STARS.as_json()
    document["domain"]["labels"] = labels
    return document


def _vector(title: str, document: Document, code: str) -> Document:
    try:
        mechanism_of(Policy.of_json(document))
    except UsageError:
        everywhere = True
    else:
        everywhere = False
    return {"title": title, "policy": document, "code": code, "everywhere": everywhere}
