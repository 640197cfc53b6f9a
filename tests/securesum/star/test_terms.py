"""Terms of a session: validated, with a name that changes with anything in them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.securesum.masked.stars import COORDINATOR, keys, terms_of

from sottovoce.errors import UsageError
from sottovoce.securesum.envelope import b64, public_text
from sottovoce.securesum.star.terms import Member, StarTerms, Suite, default_threshold

TERMS = terms_of(5, 4)


def test_terms_come_back_from_their_json() -> None:
    assert StarTerms.of_json(json.loads(json.dumps(TERMS.as_json()))) == TERMS


@pytest.mark.parametrize("changes", [
    {"name": "another"}, {"purpose": {"sums": 2}}, {"threshold": 3}, {"minimum": 5},
    {"coordinator": public_text(keys(6)[5])}, {"members": terms_of(4, 4).members},
])  # fmt: skip
def test_the_id_is_another_if_anything_is(changes: dict[str, Any]) -> None:
    assert replace(TERMS, **changes).id != TERMS.id


@pytest.mark.parametrize(("changes", "reason"), [
    ({"threshold": 2, "minimum": 4}, "more than half of 5 workers must agree"),
    ({"threshold": 6, "minimum": 6}, "more than half of 5 workers must agree"),
    ({"minimum": 3}, "minimum 3 is not from the threshold 4 to the 5 workers"),
    ({"minimum": 6}, "minimum 6 is not from the threshold 4"),
    ({"members": TERMS.members[:2]}, "a session needs 3 to 10,000 workers, not 2"),
    ({"members": TERMS.members[::-1]}, "numbered 1, 2, 3"),
    ({"coordinator": TERMS.members[0].signing}, "the same signing key"),
    ({"coordinator": "?"}, "the server's signing key is not 32 bytes"),
    ({"suite": Suite.DAMGARD_JURIK}, "needs a key and its dealer"),
])  # fmt: skip
def test_terms_that_protect_nobody_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        replace(TERMS, **changes)


@pytest.mark.parametrize("document", [None, [], {}, {**TERMS.as_json(), "more": 1},
                                      {**TERMS.as_json(), "suite": "plain"},
                                      {**TERMS.as_json(), "members": [1]}])  # fmt: skip
def test_what_are_no_terms_is_refused(document: Any) -> None:
    with pytest.raises(UsageError, match="these are not the terms of a session"):
        StarTerms.of_json(document)


def test_a_member_has_two_keys_and_a_number() -> None:
    key = public_text(COORDINATOR)
    with pytest.raises(UsageError, match="members are counted from 1, not 0"):
        Member(0, key, key)
    with pytest.raises(UsageError, match="member 1: its sealing key is not 32 bytes"):
        Member(1, key, b64(bytes(31)))


def test_the_default_threshold_leaves_no_two_sets_to_less_than_a_third_of_corrupt_workers() -> None:
    for workers in range(3, 200):
        threshold = default_threshold(workers)
        assert workers < 2 * threshold <= 2 * workers
        assert 2 * threshold - workers > workers / 3


def test_the_split_is_how_many_it_takes_to_confirm_two_sets() -> None:
    assert TERMS.split == 2 * 4 - 5
