"""A keyholder at work: killed anywhere it goes on where it was, and opens one total, once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.keyholder.relay import Desk, Killed, Relay, small_session
from tests.securesum.committees import keys_of

from sottovoce.errors import DataError, SealedRefused
from sottovoce.keyholder.agreement import Agreement
from sottovoce.keyholder.fact_log import FactLog
from sottovoce.keyholder.seat import Seat, SeatRecord, serve
from sottovoce.securesum.committee import server
from sottovoce.securesum.committee.messages import MessageKind, WorkKind

SESSION = small_session()
SERVER = "https://answers.example"
Make = Callable[..., tuple[Seat, Desk]]


@pytest.fixture
def relay() -> Relay:
    return Relay(SESSION)


@pytest.fixture
def seated(tmp_path: Path, relay: Relay) -> Make:
    """The keyholder of a seat as it starts, from what is in its folder."""

    def seated(seat: int, **faults: Any) -> tuple[Seat, Desk]:
        desk = Desk(relay, seat, **faults)
        home = tmp_path / str(seat)
        agreement = Agreement.find(home, SERVER, SESSION, seat) or Agreement.join(
            home, SERVER, SESSION, seat
        )
        keys = keys_of(SESSION)[seat - 1]
        return Seat(agreement, keys, desk, lambda _: None), desk  # type: ignore[arg-type]

    return seated


def run(*seats: Seat, rounds: int = 40) -> None:
    """Let all of them work in turn until there is nothing to do."""
    for _ in range(rounds):
        if {seat.work(0).kind for seat in seats} <= {WorkKind.WAIT, WorkKind.DONE}:
            return


def opened(relay: Relay) -> tuple[int, ...]:
    total = server.opened_total(relay.session, list(relay.opens.values()), 10)
    return tuple(np.ravel(total).tolist())


def phase_of(message: bytes) -> MessageKind:
    return server.read_message(SESSION, message).phase


def test_three_keyholders_open_one_total(relay: Relay, seated: Make, tmp_path: Path) -> None:
    run(*(seated(seat)[0] for seat in (1, 2, 3)))
    # Five of ten workers said yes to each task; the rest is noise.
    assert all(abs(each - 5) < 200 for each in opened(relay))
    [folder] = Agreement.all(tmp_path / "1")
    standing = SeatRecord.of(folder)
    assert [logged.fact["fact"] for logged in standing.facts] == [
        "joined", "dealt", "confirmed", "confirmed", "confirmed", "opened",
    ]  # fmt: skip
    assert standing.confirmed is not None
    assert standing.confirmed.fact["count"] == 10


MOMENTS = [
    (phase, moment)
    for phase in (MessageKind.DEAL, MessageKind.CHECK, MessageKind.CONFIRM, MessageKind.OPEN)
    for moment in ("before", "after")
]


@pytest.mark.parametrize(("phase", "moment"), MOMENTS)
def test_a_keyholder_killed_around_a_message_says_the_same_again(
    relay: Relay, seated: Make, phase: MessageKind, moment: str
) -> None:
    said: list[bytes] = []

    def die(message: bytes) -> None:
        if phase_of(message) is phase and not said:
            said.append(message)
            raise Killed

    seat, _ = seated(1, **{moment: die})
    others = [seated(2)[0], seated(3)[0]]
    with pytest.raises(Killed):
        run(seat, *others)
    run(seated(1)[0], *others)
    again = [each for each in relay.sent if phase_of(each) is phase and each in said]
    assert len(again) == 1
    assert len(relay.opens) == 3
    opened(relay)


@pytest.mark.parametrize("fact", ["dealt", "confirmed", "opened"])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_keyholder_killed_while_it_writes_a_fact_goes_on(
    relay: Relay, seated: Make, monkeypatch: pytest.MonkeyPatch, fact: str, moment: str
) -> None:
    killed: list[dict[str, Any]] = []
    real = FactLog.add

    def add(self: FactLog, added: dict[str, Any]) -> None:
        fatal = added["fact"] == fact and not killed
        if fatal and moment == "before":
            killed.append(added)
            raise Killed
        real(self, added)
        if fatal:
            killed.append(added)
            raise Killed

    monkeypatch.setattr(FactLog, "add", add)
    seats = [seated(number)[0] for number in (1, 2, 3)]
    with pytest.raises(Killed):
        run(*seats)
    run(*(seated(number)[0] for number in (1, 2, 3)))
    assert len(relay.opens) == 3
    opened(relay)


def test_one_of_three_may_be_gone_at_the_opening(relay: Relay, seated: Make) -> None:
    seats = [seated(number)[0] for number in (1, 2, 3)]
    while not (relay.batches and relay.is_closed):
        for seat in seats:
            if relay.work(seat._session.seat).kind is not WorkKind.OPEN:
                seat.work(0)
    run(*seats[:2])
    assert sorted(relay.opens) == [1, 2]
    opened(relay)


def test_a_batch_that_changed_while_away_is_refused_and_kept_as_evidence(
    relay: Relay, seated: Make, tmp_path: Path
) -> None:
    seats = [seated(number)[0] for number in (1, 2, 3)]
    while len(relay.batches) < 3:
        for seat in seats:
            seat.work(0)

    def forged(kind: str, document: Any) -> Any:
        if len(document.get("items", ())) == 5:
            document["checks"] = document["checks"][:2]
        return document

    again, _ = seated(1, change=forged)
    for _ in range(2):
        with pytest.raises(SealedRefused):
            again.work(0)
    [folder] = Agreement.all(tmp_path / "1")
    [refusal] = SeatRecord.of(folder).refusals
    kept = folder / "evidence" / f"{refusal.fact['evidence']}.json"
    assert b"propose" in kept.read_bytes()


def test_an_opening_of_an_earlier_state_is_refused(relay: Relay, seated: Make) -> None:
    def backwards(kind: str, document: Any) -> Any:
        if kind == "close":
            relay.batches, whole = relay.batches[:2], relay.batches
            document, relay.batches = relay.closing(), whole
        return document

    seats = [seated(1, change=backwards)[0], seated(2)[0], seated(3)[0]]
    with pytest.raises(SealedRefused, match="the difference of two sums could be computed"):
        run(*seats)
    assert len(relay.batches) == 3
    assert 1 not in relay.opens


def test_a_deal_that_was_changed_on_the_disk_is_not_sent(
    relay: Relay, seated: Make, tmp_path: Path
) -> None:
    def die(_: bytes) -> None:
        raise Killed

    with pytest.raises(Killed):
        seated(1, before=die)[0].work(0)
    [path] = (tmp_path / "1").rglob("deal.json")
    path.write_bytes(path.read_bytes().replace(b"A", b"B"))
    with pytest.raises(DataError, match="changed or damaged"):
        seated(1)[0].work(0)
    assert relay.deals == {}


def test_a_conflict_is_refused_and_kept(relay: Relay, seated: Make, tmp_path: Path) -> None:
    def conflict(_: bytes) -> None:
        raise SealedRefused("the server", "it has another message")

    with pytest.raises(SealedRefused):
        seated(1, before=conflict)[0].work(0)
    [folder] = Agreement.all(tmp_path / "1")
    assert [each.fact["reason"] for each in SeatRecord.of(folder).refusals] == [
        "it has another message"
    ]


def test_a_silent_server_is_asked_until_it_answers(relay: Relay, seated: Make) -> None:
    seat, desk = seated(1)
    desk.silent = 3
    said: list[str] = []
    paused: list[float] = []

    def pause(seconds: float) -> None:
        paused.append(seconds)
        if len(paused) > 3:
            raise Killed

    with pytest.raises(Killed):
        serve(seat, said.append, pause=pause)
    assert said == [
        "waiting: https://answers.example does not answer (no connection); try again later",
        "the server responds again",
    ]
    assert 1 in relay.deals


def test_serving_once_ends_when_there_is_nothing_to_do(relay: Relay, seated: Make) -> None:
    serve(seated(1)[0], lambda _: None, once=True)
    assert list(relay.deals) == [1]
