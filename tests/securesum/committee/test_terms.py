"""Sessions that differ in anything have different names."""

from __future__ import annotations

import hashlib
import json

import pytest
from tests.securesum.sealed_policies import POLICIES

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Domain
from sottovoce.securesum.committee.terms import Session, committee_of

POLICY = POLICIES["sum of 6 steps, hidden"]
SESSION = Session("leaf0", POLICY, ("b", "a"))


def test_the_name_of_a_session_is_the_hash_of_what_it_is_about() -> None:
    names = hashlib.sha256(b'["b","a"]').hexdigest()
    terms = {
        "campaign": "leaf0", "names": names, "policy": POLICY.hash, "round": 1,
        "suite": "committee", "tasks": 2,
    }  # fmt: skip
    text = json.dumps(terms, sort_keys=True, separators=(",", ":"))
    assert SESSION.id == hashlib.sha256(text.encode()).hexdigest()
    assert SESSION.slots == 2 * SESSION.ballot.slots == 4
    assert isinstance(SESSION.sealed, SealedSum)


def test_another_campaign_policy_task_order_or_round_is_another_session() -> None:
    others = [
        Session("leaf1", POLICY, ("b", "a")),
        Session("leaf0", POLICIES["votes of 2"], ("b", "a")),
        Session("leaf0", POLICY, ("b", "c")),
        Session("leaf0", POLICY, ("a", "b")),
        Session("leaf0", POLICY, ("b", "a"), 2),
    ]
    assert len({SESSION.id, *(other.id for other in others)}) == 6
    assert Session("leaf0", POLICY, ("b", "a")) == SESSION


@pytest.mark.parametrize("names", [(), ("a", "a")])
def test_tasks_must_be_there_and_differ(names: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="at least one task"):
        Session("leaf0", POLICY, names)


def test_rounds_are_counted_from_one() -> None:
    with pytest.raises(UsageError, match="from 1"):
        Session("leaf0", POLICY, ("a",), 0)


def test_only_policies_with_keyholders_seal() -> None:
    domain = Domain.categorical(["no", "yes"])
    with pytest.raises(UsageError, match="randomised"):
        committee_of(make_policy(domain, "randomized-response", Target(1.0)))
    with pytest.raises(UsageError, match="no keyholders yet"):
        committee_of(make_policy(domain, "sealed-sum", Target(1.0)))
