"""Policies under which no answer may be sealed, and why."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from tests.securesum.sealed_policies import KEYS, POLICIES

from sottovoce.model import Policy

__all__ = ["refused_policies"]

Document = dict[str, Any]
Change = Callable[[Document], None]

VOTES = POLICIES["votes of 2"]
SUM = POLICIES["sum of 4 steps"]
HISTOGRAM = POLICIES["histogram of 16"]
WHOLE = POLICIES["votes of 4"]


def _set(*path: str | int, to: Any) -> Change:
    def change(document: Any) -> None:
        for name in path[:-1]:
            document = document[name]
        document[path[-1]] = to

    return change


def _drop(*path: str | int) -> Change:
    def change(document: Any) -> None:
        for name in path[:-1]:
            document = document[name]
        del document[path[-1]]

    return change


def _all(*changes: Change) -> Change:
    def change(document: Document) -> None:
        for each in changes:
            each(document)

    return change


def _mechanism(field: str, to: Any) -> Change:
    return _set("mechanism", field, to=to)


def _keyholder(seat: int, field: str, to: Any) -> Change:
    return _set("mechanism", "keyholders", seat, field, to=to)


def _cards(count: int) -> list[dict[str, str]]:
    return [keys.keyholder.as_json() for keys in KEYS[:count]]


def _odd_last(text: str) -> str:
    """Another encoding of the same bytes: the last two bits of 43 letters are not read."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + letters[letters.index(text[-1]) + 1]


_FIRST = KEYS[0].keyholder
_KEY_33 = "A" * 44

CHANGES: list[tuple[str, Policy, Change]] = [
    ("a promise that its epsilon does not keep", VOTES, _mechanism("epsilon", ["2", "1"])),
    ("a promise per worker for too many", WHOLE, _set("promise", "answers", to=21)),
    ("a promise just above its epsilon", VOTES, _mechanism("epsilon", ["999999", "999998"])),
    ("no promise", VOTES, _set("promise", to=None)),
    ("a calibration as published", VOTES, _all(
        _set("calibration", to="as-published"), _set("promise", to=None))),
    ("two keyholders", VOTES, _all(_mechanism("seats", 2), _mechanism("keyholders", _cards(2)))),
    ("more seats than keyholders", VOTES, _mechanism("seats", 4)),
    ("more keyholders than seats", VOTES, _mechanism("keyholders", _cards(4))),
    ("no keyholders", VOTES, _mechanism("keyholders", [])),
    ("keyholders that are no list", VOTES, _mechanism("keyholders", {})),
    ("a majority in league", VOTES, _mechanism("degree", 2)),
    ("half of four in league", VOTES, _all(
        _mechanism("seats", 4), _mechanism("keyholders", _cards(4)), _mechanism("degree", 2))),
    ("degree 0", VOTES, _mechanism("degree", 0)),
    ("a negative degree", VOTES, _mechanism("degree", -1)),
    ("a degree as text", VOTES, _mechanism("degree", "1")),
    ("a degree that is true", VOTES, _mechanism("degree", True)),
    ("one keyholder twice", VOTES, _mechanism("keyholders", [*_cards(2), _cards(1)[0]])),
    ("two keyholders of one name", VOTES, _keyholder(1, "name", _FIRST.name)),
    ("one sealing key twice", VOTES, _keyholder(1, "sealing", _FIRST.sealing)),
    ("one signing key twice", VOTES, _keyholder(1, "signing", _FIRST.signing)),
    ("one key for sealing and signing", VOTES, _keyholder(0, "signing", _FIRST.sealing)),
    ("a keyholder who is the coordinator", VOTES, _mechanism("coordinator", _FIRST.signing)),
    ("a keyholder without a name", VOTES, _keyholder(0, "name", "")),
    ("a keyholder without a key", VOTES, _drop("mechanism", "keyholders", 0, "sealing")),
    ("a keyholder with an unknown field", VOTES, _keyholder(0, "address", "here")),
    ("a key of 33 bytes", VOTES, _keyholder(0, "sealing", _KEY_33)),
    ("a key with padding", VOTES, _keyholder(0, "sealing", _FIRST.sealing + "=")),
    ("a key in another base64", VOTES, _keyholder(0, "sealing", "+" + _FIRST.sealing[1:])),
    ("a key not written as it must be", VOTES, _keyholder(0, "sealing", _odd_last(_FIRST.sealing))),
    ("no coordinator", VOTES, _mechanism("coordinator", "")),
    ("a coordinator that is no key", VOTES, _mechanism("coordinator", "server")),
    ("a mechanism without a coordinator", VOTES, _drop("mechanism", "coordinator")),
    ("an unknown field", VOTES, _set("note", to="")),
    ("an unknown field of the mechanism", VOTES, _mechanism("noise", "none")),
    ("an unknown suite", VOTES, _mechanism("suite", "plain")),
    ("an unknown layout", VOTES, _mechanism("layout", "median")),
    ("a layout for numbers", VOTES, _all(_mechanism("layout", "sum"), _mechanism("size", 2))),
    ("a histogram of labels", WHOLE, _mechanism("layout", "histogram")),
    ("a layout for labels", SUM, _mechanism("layout", "votes")),
    ("votes for other labels", VOTES, _mechanism("size", 3)),
    ("a size as text", VOTES, _mechanism("size", "2")),
    ("an odd number of steps", SUM, _mechanism("size", 5)),
    ("no steps", SUM, _mechanism("size", 0)),
    ("too many steps", SUM, _mechanism("size", 4098)),
    ("two bins", HISTOGRAM, _mechanism("size", 2)),
    ("too many bins", HISTOGRAM, _mechanism("size", 65)),
    ("hidden as text", VOTES, _mechanism("hidden", "false")),
    ("hidden as a number", VOTES, _mechanism("hidden", 0)),
    ("epsilon as a text", VOTES, _mechanism("epsilon", "1")),
    ("epsilon as integers", VOTES, _mechanism("epsilon", [1, 1])),
    ("epsilon not in lowest terms", VOTES, _mechanism("epsilon", ["2", "2"])),
    ("epsilon with a leading zero", VOTES, _mechanism("epsilon", ["01", "1"])),
    ("epsilon 0", VOTES, _mechanism("epsilon", ["0", "1"])),
    ("epsilon by 0", VOTES, _mechanism("epsilon", ["1", "0"])),
    ("a negative epsilon", VOTES, _mechanism("epsilon", ["-1", "1"])),
    ("a minimum of 1", VOTES, _mechanism("minimum", 1)),
    ("a minimum of 0", VOTES, _mechanism("minimum", 0)),
    ("a range without an end", SUM, _set("domain", "high", to="inf")),
]  # fmt: skip


def refused_policies() -> Iterator[dict[str, Any]]:
    """Each with its title."""
    for title, policy, change in CHANGES:
        document = copy.deepcopy(policy.as_json())
        change(document)
        yield {"title": title, "policy": document}
