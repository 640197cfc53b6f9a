"""A worker's output: shares of its ballots, sealed, signed, and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.securesum.rfc9180 import open_base
from tests.securesum.sealed_policies import KEYS, POLICIES
from tests.securesum.sealing_vectors import PATH, Entropy, contribution, text

from sottovoce.errors import UsageError
from sottovoce.model import Domain, Policy
from sottovoce.securesum.ballot import Ballot, ballot_codes
from sottovoce.securesum.committee import worker
from sottovoce.securesum.committee.terms import ContributionTerms, committee_of
from sottovoce.securesum.committee.worker import contribute
from sottovoce.securesum.envelope import Envelope, read_envelope, unb64
from sottovoce.securesum.field import Elements, from_bytes
from sottovoce.securesum.hpke import unseal
from sottovoce.securesum.shamir import interpolate, lies_on

VECTORS: dict[str, Any] = json.loads(PATH.read_text(encoding="ascii"))
CASES: list[dict[str, Any]] = VECTORS["policies"]
VOTES = POLICIES["votes of 2"]
YES = np.array([1])


def _read(content: bytes) -> Envelope:
    return read_envelope(content, lambda body: str(body["key"]), culprit="w", extra={"shares"})


def _unsealed(policy: Policy, content: bytes) -> Elements:
    """The shares of all keyholders in a contribution, one row each; opened by the RFC alone."""
    envelope = _read(content)
    body = envelope.body
    terms = ContributionTerms(
        body["campaign"], body["policy"], body["worker"], tuple(body["tasks"]), body["key"]
    )
    seats = committee_of(policy).seats
    rows = []
    for keys, sealed, info in zip(
        KEYS[:seats], envelope.extra["shares"], terms.infos(seats), strict=True
    ):
        plaintext = open_base(keys.sealing.private_bytes_raw(), unb64(sealed) or b"", info)
        rows.append(from_bytes(plaintext))
    return np.array(rows)


def test_the_file_is_what_the_library_makes_today() -> None:
    assert PATH.read_text(encoding="ascii") == text()


@pytest.mark.parametrize("case", CASES, ids=[case["title"] for case in CASES])
def test_the_vectors_hold_the_ballots_of_their_answers(case: dict[str, Any]) -> None:
    """Opened with the private keys: independent of how they were made."""
    policy = Policy.of_json(case["policy"])
    sealed = committee_of(policy)
    ballot, points = Ballot.of(sealed), range(1, sealed.seats + 1)
    for draw in case["draws"]:
        content = draw["contribution"].encode("ascii")
        rows = _unsealed(policy, content)
        body, answers = _read(content).body, dict(draw["answers"])
        given = [task for task in sorted(answers) if sealed.hidden or answers[task] is not None]
        assert body["tasks"] == given
        bits = ballot.encode(ballot_codes([answers[t] for t in given], policy.domain, ballot))
        shares, zeros, masks = rows[:, : bits.size], rows[:, bits.size : -2], rows[:, -2:]
        assert np.array_equal(interpolate(points, shares), bits.ravel())
        assert lies_on(sealed.degree, points, shares)
        assert zeros.shape == masks.shape == (sealed.seats, 2)
        assert not interpolate(points, zeros).any()
        assert lies_on(2 * sealed.degree, points, zeros)
        assert not lies_on(2 * sealed.degree - 1, points, zeros)
        assert lies_on(sealed.degree, points, masks)


def test_elements_that_are_drawn_again_are_among_the_vectors() -> None:
    entropies = [bytes.fromhex(draw["entropy"]) for case in CASES for draw in case["draws"]]
    assert sum(b"\xff" * 8 in entropy[32:] for entropy in entropies) > len(entropies) / 2


def test_given_entropy_is_used_up_to_its_last_byte() -> None:
    draw = CASES[0]["draws"][0]
    entropy = Entropy(bytes.fromhex(draw["entropy"]))
    answered = [(task, answer) for task, answer in draw["answers"] if answer is not None]
    made = contribution(VOTES, answered, draw["tasks"], entropy)
    assert made.decode("ascii") == draw["contribution"]
    assert entropy.drawn.hex() == draw["entropy"]


@pytest.mark.parametrize("case", VECTORS["refused"], ids=lambda case: str(case["title"]))
def test_nothing_is_sealed_under_a_bad_policy(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "entropy", _nothing_is_drawn)
    with pytest.raises(UsageError):
        contribute("leaf0", Policy.of_json(case["policy"]), "ada", ["t"], YES)


def _nothing_is_drawn(_: int) -> bytes:
    raise AssertionError("something was drawn")


@pytest.mark.parametrize(
    ("tasks", "codes"),
    [
        ([], []),
        (["a"], []),
        (["a", "b"], [1]),
        (["b", "a"], [1, 1]),
        (["a", "a"], [1, 1]),
        (["\N{OWL}", "\N{LATIN SMALL LIGATURE FI}"], [0, 1]),
        ([f"{task:03}" for task in range(21)], [1] * 21),
        (["a"], [2]),
        (["a"], [-1]),
        (["a"], [987654321]),
    ],
)
def test_bad_tasks_and_codes_are_refused_before_anything_is_drawn(
    tasks: list[str], codes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "entropy", _nothing_is_drawn)
    with pytest.raises(UsageError) as refusal:
        contribute("leaf0", VOTES, "ada", tasks, np.array(codes, np.int64))
    assert "987654321" not in str(refusal.value)


def test_all_that_leaves_is_named_in_the_contract() -> None:
    content = contribute("leaf0", VOTES, "ada", ["t1", "t2"], np.array([0, 1]))
    envelope = _read(content)
    shares = [unb64(share) for share in envelope.extra["shares"]]
    assert envelope.body == {
        "campaign": "leaf0",
        "format": "sottovoce-contribution/1",
        "key": envelope.body["key"],
        "phase": "contribute",
        "policy": VOTES.hash,
        "round": 1,
        "shares": [hashlib.sha256(share or b"").hexdigest() for share in shares],
        "suite": "committee",
        "tasks": ["t1", "t2"],
        "worker": "ada",
    }
    assert json.loads(content).keys() == {"shares", "signature", "text"}
    assert {len(share or b"") for share in shares} == {8 * (2 + 4) + 48}


def test_contributions_of_the_same_answers_have_nothing_in_common() -> None:
    first, second = (contribute("leaf0", VOTES, "ada", ["t"], YES) for _ in range(2))
    a, b = _read(first), _read(second)
    assert a.body["key"] != b.body["key"]
    rows = np.concatenate([_unsealed(VOTES, first), _unsealed(VOTES, second)])
    assert len(np.unique(rows)) == rows.size


def test_a_share_opens_for_no_other_worker_key_task_or_seat() -> None:
    content = contribute("leaf0", VOTES, "ada", ["t"], YES)
    envelope = _read(content)
    key, sealed = envelope.body["key"], unb64(envelope.extra["shares"][0]) or b""
    right = ContributionTerms("leaf0", VOTES.hash, "ada", ("t",), key)
    private = KEYS[0].sealing
    assert unseal(private, sealed, right.info(1)) is not None
    wrong = [
        right.info(2),
        replace(right, campaign="leaf1").info(1),
        replace(right, policy="0" * 64).info(1),
        replace(right, worker="eve").info(1),
        replace(right, tasks=("t", "u")).info(1),
        replace(right, key=KEYS[0].keyholder.signing).info(1),
    ]
    assert [unseal(private, sealed, info) for info in wrong] == [None] * 6


def test_the_length_tells_nothing_of_the_answers() -> None:
    policy = POLICIES["sum of 256 steps, hidden"]
    lengths = {
        len(contribute("leaf0", policy, "ada", ["a", "b"], np.array(codes)))
        for codes in ([-1, -1], [0, 0], [256, 3], [128, -1])
    }
    assert len(lengths) == 1


def test_a_domain_that_is_not_sealed_seals_nothing() -> None:
    policy = Policy(
        Domain.categorical(["no", "yes"]),
        {"name": "randomized-response", "labels": 2, "other": "4611686018427387904"},
        VOTES.calibration,
        VOTES.promise,
    )
    with pytest.raises(UsageError):
        contribute("leaf0", policy, "ada", ["t"], YES)
