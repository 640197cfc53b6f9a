"""The server of a committee: the messages it reads, its requests, and the totals it opens."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.securesum.committees import committee, keys_of, noise_of, session_of, votes

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import SealedRefused
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.messages import MessageKind, written
from sottovoce.securesum.committee.simulation import Committee
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.envelope import b64, canonical, unb64
from sottovoce.securesum.field import P, from_bytes, to_bytes


def ready(session: Session) -> tuple[Committee, list[bytes]]:
    """A committee at its end, and the openings of all keyholders."""
    made = committee(session)
    made.take(votes(session, 4))
    close = server.close(session, made.coordinator, made.state)
    return made, [each.open(close, made.confirms).message for each in made.keyholders]


def falsified(session: Session, message: bytes, seat: int) -> bytes:
    """The same opening with one element increased by one."""
    body = server.read_message(session, message).body
    shares = from_bytes(unb64(body["total"]) or b"")
    shares[0] = (shares[0] + np.uint64(1)) % np.uint64(P)
    fields = {name: body[name] for name in ("number", "state", "count")}
    key = keys_of(session)[seat - 1].signing
    return written(session, MessageKind.OPEN, seat, {**fields, "total": b64(to_bytes(shares))}, key)


def test_a_false_opening_is_seen() -> None:
    session = session_of()
    made, opens = ready(session)
    opens[1] = falsified(session, opens[1], 2)
    with pytest.raises(SealedRefused, match="a share of the total is false: one of keyholder 1"):
        server.opened_total(session, opens, made.state.count)


def test_who_opened_falsely_is_named_where_enough_others_agree() -> None:
    session = session_of(seats=5, degree=2)
    made, opens = ready(session)
    opens[1] = falsified(session, opens[1], 2)
    with pytest.raises(SealedRefused, match="its share of the total is false") as refused:
        server.opened_total(session, opens, made.state.count)
    assert refused.value.culprit == "keyholder 2 (Union)"
    rest = server.opened_total(session, [opens[0], *opens[2:]], made.state.count)
    assert np.array_equal(rest - noise_of(session, 1), np.full((3, 1), 2))


def test_a_total_beyond_what_workers_and_noise_can_make_is_refused() -> None:
    session = session_of()
    made, opens = ready(session)
    with pytest.raises(SealedRefused, match="impossible for 4 workers and the noise"):
        server.opened_total(session, [opens[0], falsified(session, opens[2], 3)], made.state.count)


def test_an_opening_of_another_count_is_refused() -> None:
    session = session_of()
    _, opens = ready(session)
    with pytest.raises(SealedRefused, match="it has opened a different state"):
        server.opened_total(session, opens, 5)


def test_an_item_has_one_share_and_the_signed_text() -> None:
    session = session_of()
    content = next(iter(votes(session, 1).values()))
    whole, item = json.loads(content), json.loads(server.item_for(content, 2))
    assert item == {
        "share": whole["shares"][1], "signature": whole["signature"], "text": whole["text"],
    }  # fmt: skip


def test_a_deal_with_another_share_than_signed_is_refused() -> None:
    session = session_of()
    made = committee(session, seed=None)
    from_one = made.keyholders[0].deal(SeededRandomness(1)).message
    wire = json.loads(from_one)
    swapped = {**wire, "shares": wire["shares"][::-1]}
    with pytest.raises(SealedRefused, match=r"keyholder 1 .*: a share of the deal is not the one"):
        server.read_message(session, canonical(swapped).encode())


def test_verdicts_are_those_the_keyholders_reach() -> None:
    session = session_of()
    made, _ = ready(session)
    last = made.verdicts[-1]
    assert (last.number, last.state, len(last.passed)) == (1, made.state.state, 4)
    assert last.failed == ()
