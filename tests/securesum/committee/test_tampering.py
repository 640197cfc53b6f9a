"""Every message with a change: refused with the culprit's name, and in no other way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.securesum.committees import contributed, keys_of, session_of
from tests.securesum.sealed_policies import COORDINATOR
from tests.securesum.servers import Server, cloned

from sottovoce.errors import SealedRefused
from sottovoce.securesum.committee import server as committee_server
from sottovoce.securesum.committee.state_chain import BEGINNING
from sottovoce.securesum.envelope import (
    Ed25519PrivateKey,
    canonical,
    public_text,
    sha256_hex,
    signed,
)

SESSION = session_of(tasks=2, minimum=2)
Reader = Callable[[bytes], object]

ODD: list[Any] = [
    None,
    True,
    -1,
    10**30,
    "",
    "0" * 64,
    "-1",
    "2305843009213693951",
    "é",
    [],
    [[]],
    {},
]
"""Values that may replace a signed field."""


def digest_of(content: bytes, otherwise: str) -> str:
    """The digest under which a colluding server would propose a changed item."""
    try:
        return sha256_hex(json.loads(content)["text"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return otherwise


class Recorded:
    """One whole session, with every message and its reader, at the moment it is read."""

    def __init__(self) -> None:
        uploads = [contributed(SESSION, f"worker {i}", [1, 0]) for i in range(2)]
        digests = [committee_server.read_contribution(SESSION, each).digest for each in uploads]
        server = Server(SESSION, dict(zip(digests, uploads, strict=True)))
        self.cases: dict[str, tuple[bytes, Ed25519PrivateKey, Reader]] = {}
        one, keys = server.parties[0].keyholder, keys_of(SESSION)
        deals = list(server.deals)
        items = server.items(1, deals)
        before = cloned(one)
        self._add("deal", server.deals[deals[1]], keys[1].signing,
                  lambda each: committee_server.read_message(SESSION, each))  # fmt: skip

        def check_deal(each: bytes) -> object:
            named = server.propose(0, BEGINNING, [deals[0], digest_of(each, deals[1]), deals[2]])
            return cloned(before).check(named, [items[0], each, items[2]])

        self._add("item of a deal", items[1], keys[1].signing, check_deal)
        start = server.begin()
        self._add("contribution", uploads[0], None,
                  lambda each: committee_server.read_contribution(SESSION, each))  # fmt: skip
        ordered = sorted(digests)
        propose, given = server.propose(1, start.state, ordered), server.items(1, ordered)
        at_start = cloned(one)

        def check_contribution(each: bytes) -> object:
            named = sorted([(digest_of(each, ordered[0]), each), (ordered[1], given[1])])
            proposed = server.propose(1, start.state, [digest for digest, _ in named])
            return cloned(at_start).check(proposed, [item for _, item in named])

        self._add("item of a contribution", given[0], None, check_contribution)
        self._add("propose", propose, COORDINATOR, lambda each: cloned(at_start).check(each, given))
        checks = server.checks(1, start.state, ordered)
        checking = cloned(one)
        self._add(
            "check", checks[1], keys[1].signing,
            lambda each: cloned(checking).confirm(1, [checks[0], each, checks[2]]),
        )  # fmt: skip
        confirms = [party.keep(party.keyholder.confirm(1, checks)) for party in server.parties]
        state = server.certified(confirms)
        close = server.close(state)
        confirmed = cloned(one)
        self._add(
            "confirm", confirms[1], keys[1].signing,
            lambda each: cloned(confirmed).open(close, [confirms[0], each, confirms[2]]),
        )  # fmt: skip
        self._add("close", close, COORDINATOR, lambda each: cloned(confirmed).open(each, confirms))
        closing = [cloned(party.keyholder) for party in server.parties]
        opens = [each.open(close, confirms).message for each in closing]
        self._add(
            "open", opens[1], keys[1].signing,
            lambda each: committee_server.opened_total(SESSION, [opens[0], each, opens[2]], 2),
        )  # fmt: skip

    def _add(
        self, name: str, content: bytes, key: Ed25519PrivateKey | None, reader: Reader
    ) -> None:
        reader(content)
        self.cases[name] = (content, key or Ed25519PrivateKey.generate(), reader)


RECORDED = Recorded()
NAMES = list(RECORDED.cases)


def refused(reader: Reader, content: bytes) -> bool:
    """Whether it is refused; any other error is raised."""
    try:
        reader(content)
    except SealedRefused as error:
        return bool(error.culprit and error.reason)
    return False


def flipped(content: bytes, every: int) -> Iterator[bytes]:
    """One bit changed, in one of every `every` bytes, a different bit each time."""
    for place in range(0, len(content), every):
        changed = bytearray(content)
        changed[place] ^= 1 << (place // every) % 8
        yield bytes(changed)


@pytest.mark.parametrize("name", NAMES)
def test_no_bit_of_a_message_can_be_changed(name: str) -> None:
    content, _, reader = RECORDED.cases[name]
    assert all(refused(reader, changed) for changed in flipped(content, 11))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_bit_of_any_byte_of_a_message_can_be_changed(name: str) -> None:
    content, _, reader = RECORDED.cases[name]
    for bit in range(8):
        for place in range(len(content)):
            changed = bytearray(content)
            changed[place] ^= 1 << bit
            assert refused(reader, bytes(changed)), (place, bit)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_message_is_refused(name: str) -> None:
    content, _, reader = RECORDED.cases[name]
    wire = json.loads(content)
    for wrong in (
        b"", b"{}", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, content[:-1], content + b" ",
        canonical({**wire, "more": 1}).encode(), canonical({**wire, "text": None}).encode(),
        canonical({**wire, "text": "[]"}).encode(), canonical({**wire, "signature": 7}).encode(),
        canonical({**wire, "text": "\ud800"}).encode(), content.replace(b":", b": ", 1),
        json.dumps(wire, sort_keys=False, separators=(",", ":"))[::-1].encode(),
    ):  # fmt: skip
        assert refused(reader, wrong), wrong[:40]


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values, including lists and objects."""
    if path:
        yield path
    if isinstance(document, dict):
        for name, value in document.items():
            yield from leaves(value, (*path, name))
    elif isinstance(document, list):
        for place, value in enumerate(document):
            yield from leaves(value, (*path, place))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    copied = json.loads(json.dumps(document))
    inner = copied
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    return copied


def near(value: Any) -> list[Any]:
    """Values close to the original."""
    if isinstance(value, int):
        return [value + 1]
    if isinstance(value, str) and value:
        return [value[:-1], ("0" if value[0] != "0" else "1") + value[1:]]
    if isinstance(value, list):
        return [value[:-1], value[::-1], [*value, *value[-1:]]]
    return []


HARMLESS = {
    # A keyholder may send false values of a check: contributions are then dropped, and named.
    ("check", "values"),
    # A contribution may name fewer tasks, another worker or key, if it is signed for them: its
    # shares then do not open, which only a keyholder sees.
    ("item of a contribution", "worker"), ("contribution", "worker"),
    # A deal that is signed with wrong hashes of other keyholders' shares is detected by them.
    ("item of a deal", "shares"), ("item of a contribution", "shares"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_field_can_be_something_else_even_if_it_is_signed(name: str) -> None:
    content, key, reader = RECORDED.cases[name]
    wire = json.loads(content)
    body = json.loads(wire["text"])
    beside = {field: wire[field] for field in wire.keys() - {"text", "signature"}}
    if "contribution" in name:  # nobody else has the worker's key
        body["key"] = public_text(key)
        assert not refused(reader, signed(body, key, **beside))
    for path in leaves(body):
        value = body
        for step in path:
            value = value[step]
        for other in [*ODD, *near(value)]:
            if other == value and type(other) is type(value):
                continue
            tampered = signed(changed(body, path, other), key, **beside)
            if not refused(reader, tampered):
                assert (name, path[0]) in HARMLESS, (path, other)
