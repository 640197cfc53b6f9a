"""Cheating workers: detectable faults are dropped and named, and the rest is added up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.securesum.committees import (
    CAMPAIGN,
    committee,
    contributed,
    crafted,
    noise_of,
    rows_of,
    session_of,
)

from sottovoce.errors import SealedRefused
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import assigned
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.worker import contribute
from sottovoce.securesum.envelope import Ed25519PrivateKey, canonical, public_text, signed
from sottovoce.securesum.field import P
from sottovoce.securesum.plain import PlainSum

HALF = pow(2, -1, P)
YES_NO = session_of()
HIDDEN = session_of(hidden=True)
LABELS = session_of(Layout.VOTES, 3)
HIDDEN_LABELS = session_of(Layout.VOTES, 3, hidden=True)
HIDDEN_SUM = session_of(Layout.SUM, 6, hidden=True)
FIVE = session_of(seats=5, degree=2)
SPARE = session_of(seats=5, degree=1)

SESSIONS = {
    "yes or no": YES_NO, "five keyholders": FIVE, "more keyholders than needed": SPARE,
    "labels": LABELS, "hidden labels": HIDDEN_LABELS, "hidden": HIDDEN, "hidden sum": HIDDEN_SUM,
}  # fmt: skip
FALSE_BALLOTS: dict[str, list[list[int]]] = {
    # Two votes, a vote against, half a vote.
    "yes or no": [[2, 0, 0], [0, -1, 0], [0, 0, HALF]],
    "five keyholders": [[2, 0, 0]],
    "more keyholders than needed": [[2, 0, 0]],
    # Two labels, none, and one that is taken from another.
    "labels": [
        [1, 1, 0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0, 1, 0, 0], [2, -1, 0, 1, 0, 0, 1, 0, 0],
    ],
    "hidden labels": [[1, 1, 0, 0, 0, 0, 0, 0, 0]],
    # Yes in the place of NULL, and an answer that counts twice.
    "hidden": [[1, 0, 0, 1, 1, 1], [1, 2, 0, 1, 1, 1]],
    # Six in the place of NULL.
    "hidden sum": [[1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 0, 1]],
}  # fmt: skip


def judged(session: Session, cheats: list[bytes]) -> list[str | None]:
    """Why each was dropped (None: it was not); the total of two honest workers must be right."""
    honest = [contributed(session, f"honest {i}", [1, 0, 1]) for i in range(2)]
    uploads = {server.read_contribution(session, each).digest: each for each in [*honest, *cheats]}
    made = committee(session, seed=3)
    made.take(uploads)
    failed = dict(made.verdicts[-1].failed)
    if len(failed) == len(cheats):
        plain = PlainSum(session.ballot, 3).total(
            np.array([2, 1, 0] * 2), np.array([1, 0, 1] * 2), noise_of(session, 3)
        )
        assert np.array_equal(made.open(), plain)
    return [failed.get(digest) for digest in list(uploads)[2:]]


@pytest.mark.parametrize("name", SESSIONS)
def test_false_ballots_are_dropped_and_the_rest_added_up(name: str) -> None:
    session, ballots = SESSIONS[name], FALSE_BALLOTS[name]
    cheats = [
        crafted(session, f"cheat {i}", rows_of(session, values)) for i, values in enumerate(ballots)
    ]
    assert judged(session, cheats) == ["invalid"] * len(ballots)


def test_what_is_crafted_honestly_passes() -> None:
    assert judged(YES_NO, [crafted(YES_NO, "fair", rows_of(YES_NO, [1, 0, 1]))]) == [None]


@pytest.mark.parametrize("session", [YES_NO, FIVE, SPARE], ids=["three", "five", "spare"])
def test_shares_on_no_polynomial_of_the_right_degree_are_dropped(session: Session) -> None:
    rows = rows_of(session, [1, 0, 1], session.sealed.degree + 1)
    assert judged(session, [crafted(session, "cheat", rows)]) == ["inconsistent"]


def test_no_element_of_any_share_can_be_changed() -> None:
    cheats, expected = [], []
    for seat in range(3):
        for column in range(7):
            rows = rows_of(YES_NO, [1, 0, 1])
            rows[seat, column] = (rows[seat, column] + np.uint64(1)) % np.uint64(P)
            cheats.append(crafted(YES_NO, f"cheat {seat} {column}", rows))
            expected.append("invalid" if column in (3, 4) else "inconsistent")
    assert judged(YES_NO, cheats) == expected


def test_a_share_that_is_no_field_elements_is_dropped() -> None:
    rows = rows_of(YES_NO, [1, 0, 1])
    rows[1, 0] = np.uint64(P)
    assert judged(YES_NO, [crafted(YES_NO, "cheat", rows)]) == ["unreadable"]


def test_a_contribution_copied_under_another_name_is_dropped() -> None:
    copied = contributed(YES_NO, "victim", [1, 1, 1])
    wire = json.loads(copied)
    body = json.loads(wire["text"])
    key = Ed25519PrivateKey.generate()
    stolen = {**body, "worker": "thief", "key": public_text(key)}
    assert judged(YES_NO, [signed(stolen, key, shares=wire["shares"])]) == ["unreadable"]


REFUSED: dict[str, tuple[Session, Callable[[dict[str, Any]], None], str]] = {
    "another campaign": (YES_NO, lambda body: body.update(campaign="other"), "another campaign"),
    "another policy": (YES_NO, lambda body: body.update(policy="0" * 64), "another campaign"),
    "another round": (YES_NO, lambda body: body.update(round=2), "another campaign"),
    "a round that is no number": (YES_NO, lambda body: body.update(round=True), "malformed"),
    "tasks out of order": (YES_NO, lambda body: body["tasks"].reverse(), "not in order"),
    "a task twice": (YES_NO, lambda body: body.update(tasks=["task 0"] * 3), "not in order"),
    "an unknown task": (YES_NO, lambda body: body["tasks"].append("task 9"), "does not have"),
    "no task": (YES_NO, lambda body: body["tasks"].clear(), "it answers 0 tasks"),
    "tasks that are no names": (YES_NO, lambda body: body.update(tasks=[1, 2, 3]), "malformed"),
    "a task left out": (HIDDEN, lambda body: body["tasks"].pop(), "it leaves out tasks"),
    "a share left out": (YES_NO, lambda body: body["shares"].pop(), "one share for each"),
    "another share": (YES_NO, lambda body: body["shares"].reverse(), "not the one that was signed"),
    "shares of another length": (YES_NO, lambda body: body["tasks"].pop(), "bytes in base64"),
    "a name that is no text": (YES_NO, lambda body: body.update(worker=7), "must be a text"),
    "one field more": (YES_NO, lambda body: body.update(more=1), "another campaign"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_contribution_against_the_rules_is_refused_by_the_server(name: str) -> None:
    session, change, words = REFUSED[name]
    rows = rows_of(session, session.ballot.encode(np.array([1, 0, 1])).ravel().tolist())
    with pytest.raises(SealedRefused, match=words) as refused:
        server.read_contribution(session, crafted(session, "cheat", rows, change=change))
    assert refused.value.culprit in ("worker 'cheat'", "a worker")


def test_tasks_that_were_not_given_are_refused() -> None:
    session = session_of(tasks=9, answers=2)
    given = {session.names[place] for place in assigned(CAMPAIGN, "cheat", 9, 2)}
    other = next(name for name in session.names if name not in given)
    wanted = sorted([next(iter(given)), other])
    upload = contribute(CAMPAIGN, session.policy, "cheat", wanted, np.ones(2, int))
    with pytest.raises(SealedRefused, match="worker 'cheat': it answers tasks that were not"):
        server.read_contribution(session, upload)


def test_more_tasks_than_promised_are_refused() -> None:
    session = session_of(tasks=9, answers=2)
    upload = crafted(session, "cheat", rows_of(session, [1] * 9))
    with pytest.raises(SealedRefused, match="it answers 9 tasks; 1 to 2 are allowed"):
        server.read_contribution(session, upload)


def test_a_forged_signature_is_refused() -> None:
    wire = json.loads(contributed(YES_NO, "victim", [1, 1, 1]))
    forged = canonical({**wire, "text": wire["text"].replace("victim", "thief")}).encode()
    with pytest.raises(SealedRefused, match="signature is invalid"):
        server.read_contribution(YES_NO, forged)
