"""Live sessions over real processes, of which some are killed: what is opened stays right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.service.forked_processes import ForkedServer, Forker
from tests.service.live_crowds import ROUNDS, Crowd

from sottovoce.testing.server_process import wait_until

PATIENCE = {"masked": 2.0, "damgard_jurik": 3.0}
"""Seconds that a phase of 8 workers waits for who was killed, on a machine that is busy."""

PLACES = [
    *(("masked", phase) for phase in ("share", "contribute", "confirm", "open")),
    *(("damgard_jurik", phase) for phase in ("commit", "contribute", "confirm", "open")),
]
SIZES = [(8, 2), (20, 6)]
"""The number of workers, and how many may be killed: the threshold is 6 of 8, and 14 of 20."""


@contextmanager
def crowd(
    forker: Forker, folder: Path, size: int, fates: Mapping[int, str], **asked: Any
) -> Iterator[Crowd]:
    """A session in which everybody has started."""
    with ForkedServer(folder / "server", forker) as server:
        made = Crowd(server, forker, folder, size)
        suite = asked.get("suite", "masked")
        if suite == "damgard_jurik":
            asked |= {"bits": 1024, "dealer": made.dealer()}
        try:
            made.begin(fates, patience=PATIENCE[suite] * size / 8, **asked)
            yield made
        finally:
            for each in made.started:
                each.kill()


def killed_in(round: int, phase: str, size: int, count: int) -> dict[int, str]:
    """Faults of several workers: the first ones that are asked to open in round 1."""
    first = -(-2 * (size + 1) // 3)
    return {(first + i) % size + 1: f"{round}/{phase} die" for i in range(count)}


def check_done(made: Crowd, killed: set[int]) -> None:
    """It came to its end without those who were killed, and every total is right."""
    found = made.ended()
    assert (found["state"], found["opened"]) == ("done", ROUNDS + 1), found
    assert {int(number) for number in found["excluded"]} == killed
    check_totals(made, killed)
    for worker in made.workers - killed:
        outcome = made.outcome(worker)
        assert (outcome["number"], outcome["state"]) == (worker, "done")
        assert outcome["rounds"] == ROUNDS + 1
        check_replies(made, worker)


def check_totals(made: Crowd, killed: set[int]) -> None:
    """Each opened total is the plain sum over its contributors; excluded workers stay excluded."""
    terms, rounds = made.stored()
    before = made.workers
    for each, plain in zip(rounds, made.recomputed(), strict=True):
        among = set(each.contributors)
        assert np.array_equal(each.totals, plain)
        assert made.workers - killed <= among <= before
        assert len(among) >= terms.minimum
        before = among - each.excluded.keys()


def check_replies(made: Crowd, worker: int) -> None:
    """A worker answered each place once, and drew afresh in each round what it began with."""
    said = made.said(worker)
    places = [(round, phase, step) for round, phase, step, _, _ in said]
    assert len(set(places)) == len(places)
    assert len({whole for *_, whole in said}) == len(said)
    keys = [content for _, phase, _, content, _ in said if phase in ("share", "commit")]
    assert len(set(keys)) == len(keys) == ROUNDS + 1


def check_aborted(made: Crowd, killed: set[int], *, opened: int) -> None:
    """It ended when too few were left, says who was gone, and opened nothing after that."""
    found = made.ended()
    assert (found["state"], found["opened"]) == ("aborted", opened), found
    assert {int(number) for number in found["excluded"]} == killed
    assert all("did not answer" in reason for reason in found["excluded"].values())
    assert len(made.stored()[1]) == opened
    check_totals(made, killed)
    for worker in made.workers - killed:
        assert made.outcome(worker)["state"] == "aborted"
        # A worker learns what a round opened with the next turn, and after the last there is none.
        assert made.outcome(worker)["rounds"] <= opened


def test_two_workers_and_the_server_are_killed_and_every_total_is_right(
    forker: Forker, tmp_path: Path
) -> None:
    fates = {3: "0/contribute die", 6: "1/open die", 2: "2/confirm wait"}
    with crowd(forker, tmp_path, 8, fates) as made:
        wait_until((tmp_path / "reached").exists, "a worker that is to confirm")
        made.server.kill()
        made.server.start()
        (tmp_path / "go").touch()
        check_done(made, {3, 6})


def test_with_three_of_eight_killed_nothing_is_opened_any_more(
    forker: Forker, tmp_path: Path
) -> None:
    fates = killed_in(1, "share", 8, 3)
    with crowd(forker, tmp_path, 8, fates) as made:
        check_aborted(made, set(fates), opened=1)


@pytest.mark.slow
def test_two_workers_who_hold_shares_of_a_dealt_key_are_killed(
    forker: Forker, tmp_path: Path
) -> None:
    fates = killed_in(1, "open", 8, 2)
    with crowd(forker, tmp_path, 8, fates, suite="damgard_jurik", mode="as_published") as made:
        check_done(made, set(fates))


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "phase"), PLACES)
@pytest.mark.parametrize(("size", "few"), SIZES)
def test_as_many_as_may_be_killed_in_any_phase(
    forker: Forker, tmp_path: Path, suite: str, phase: str, size: int, few: int
) -> None:
    fates = killed_in(1, phase, size, few)
    with crowd(forker, tmp_path, size, fates, suite=suite) as made:
        check_done(made, set(fates))


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "phase"), PLACES)
@pytest.mark.parametrize(("size", "few"), SIZES)
def test_one_more_than_may_be_killed_in_any_phase(
    forker: Forker, tmp_path: Path, suite: str, phase: str, size: int, few: int
) -> None:
    """With a dealt key the server's own share opens the round, though nothing follows it."""
    fates = killed_in(1, phase, size, few + 1)
    opened = 2 if (suite, phase) == ("damgard_jurik", "open") else 1
    with crowd(forker, tmp_path, size, fates, suite=suite) as made:
        check_aborted(made, set(fates), opened=opened)


@pytest.mark.slow
@pytest.mark.parametrize(("size", "few"), SIZES)
def test_two_more_than_may_be_killed_while_a_dealt_key_opens(
    forker: Forker, tmp_path: Path, size: int, few: int
) -> None:
    fates = killed_in(1, "open", size, few + 2)
    with crowd(forker, tmp_path, size, fates, suite="damgard_jurik") as made:
        check_aborted(made, set(fates), opened=1)


@pytest.mark.slow
@pytest.mark.parametrize(("suite", "phase"), PLACES)
def test_the_server_is_killed_in_any_phase(
    forker: Forker, tmp_path: Path, suite: str, phase: str
) -> None:
    # Number 7 of 8 is asked to open in round 1.
    with crowd(forker, tmp_path, 8, {7: f"1/{phase} wait"}, suite=suite) as made:
        wait_until((tmp_path / "reached").exists, "a worker that is asked")
        made.server.kill()
        made.server.start()
        (tmp_path / "go").touch()
        check_done(made, set())
