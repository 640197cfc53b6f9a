"""A server and three keyholders in processes of their own, which are killed as power cuts do it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.keyholder.committees import Committee, seated
from tests.service.forked_processes import Forker

from sottovoce.testing.server_process import settled_result, wait_until
from sottovoce.worker.client import Client

WORKERS = 12


def opened_once(committee: Committee, seats: tuple[int, ...]) -> None:
    """Nobody has opened twice, and the truths are those of the answers.

    Twelve votes against none under noise of epsilon 8: a truth is wrong less than once in 10²⁰.
    """
    committee.await_opened()
    for seat in seats:
        wait_until(lambda: committee.standing(seat).opened is not None, "the fact")  # noqa: B023
        facts = [logged.fact["fact"] for logged in committee.standing(seat).facts]
        assert (facts.count("dealt"), facts.count("opened")) == (1, 1)
    result = settled_result(committee.requester, committee.campaign)
    truths = dict(zip(result.tasks.tolist(), result.values.tolist(), strict=True))
    assert (truths["t0"], truths["t1"]) == ("no", "yes")


def test_workers_keyholders_and_server_find_truths_through_a_kill(
    forker: Forker, tmp_path: Path
) -> None:
    with seated(forker, tmp_path) as committee:
        for seat in (1, 2, 3):
            committee.start(seat)
        committee.answers(WORKERS)
        committee.await_said(1, "batch 0: confirmed")
        committee.kill(1)
        committee.requester.close(committee.campaign)
        committee.start(1)
        opened_once(committee, (1, 2, 3))
        for seat in (1, 2, 3):
            assert committee.running[seat].wait(30) == 0
            assert f"{committee.campaign}: done" in committee.out(seat)
        committee.requester.publish(committee.campaign)
        with Client(committee.invite, folder=tmp_path / "worker 0") as client:
            own = client.weigh({"t0": "no", "t1": "no"})
    assert (own.agreement, own.answers) == (0.5, 2)


MOMENTS = {
    "deal": "noise dealt",
    "check": "batch 1: 12 contributions checked",
    "confirm": "batch 1: confirmed, 12",
    "open": "opened:",
}


@pytest.mark.slow
@pytest.mark.parametrize("phase", MOMENTS)
def test_a_keyholder_killed_in_any_phase_goes_on(
    forker: Forker, tmp_path: Path, phase: str
) -> None:
    with seated(forker, tmp_path) as committee:
        committee.answers(WORKERS)
        committee.requester.close(committee.campaign)
        for seat in (1, 2, 3):
            committee.start(seat)
        committee.await_said(1, MOMENTS[phase])
        committee.kill(1)
        committee.start(1)
        opened_once(committee, (1, 2, 3))


@pytest.mark.slow
def test_one_of_three_may_be_gone_when_the_campaign_closes(forker: Forker, tmp_path: Path) -> None:
    # As many as the minimum: all of them are in the first batch, and so certified.
    with seated(forker, tmp_path, minimum=WORKERS) as committee:
        for seat in (1, 2, 3):
            committee.start(seat)
        committee.answers(WORKERS)
        committee.await_said(3, "batch 1: confirmed, 12")
        committee.kill(3)
        committee.requester.close(committee.campaign)
        opened_once(committee, (1, 2))


@pytest.mark.slow
def test_a_server_that_is_killed_is_waited_for(forker: Forker, tmp_path: Path) -> None:
    with seated(forker, tmp_path) as committee:
        for seat in (1, 2, 3):
            committee.start(seat)
        committee.answers(WORKERS)
        for seat in (1, 2, 3):
            committee.await_said(seat, "noise dealt")
        committee.server.kill()
        committee.await_said(1, "waiting: ")
        committee.server.start()
        committee.requester.close(committee.campaign)
        opened_once(committee, (1, 2, 3))
        assert "the server responds again" in committee.out(1)
