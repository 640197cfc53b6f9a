"""The whole protocol, through bytes, against the specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.securesum.committees import CAMPAIGN, contributed, keys_of, noise_of, session_of
from tests.securesum.sealed_policies import COORDINATOR

from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import assigned
from sottovoce.securesum.committee.simulation import run_in_memory
from sottovoce.securesum.committee.terms import Session
from sottovoce.securesum.committee.worker import contribute
from sottovoce.securesum.plain import PlainSum

LAYOUTS: list[tuple[Layout, int, bool]] = [
    (layout, size, hidden)
    for layout, size in [
        (Layout.VOTES, 2), (Layout.VOTES, 4), (Layout.SUM, 6), (Layout.HISTOGRAM, 3),
    ]
    for hidden in (False, True)
]  # fmt: skip


def random_codes(session: Session, rng: np.random.Generator) -> Any:
    least = -1 if session.sealed.hidden else 0
    return rng.integers(least, session.ballot.codes, len(session.names))


@pytest.mark.parametrize(("seats", "degree"), [(3, 1), (5, 2)])
@pytest.mark.parametrize(("layout", "size", "hidden"), LAYOUTS)
def test_opens_to_the_plain_sum(
    layout: Layout, size: int, hidden: bool, seats: int, degree: int
) -> None:
    session = session_of(layout, size, hidden=hidden, seats=seats, degree=degree)
    rng = np.random.default_rng(size)
    answers = [random_codes(session, rng) for _ in range(5)]
    uploads = [contributed(session, f"w{i}", codes) for i, codes in enumerate(answers)]
    run = run_in_memory(
        session, uploads, keys_of(session), COORDINATOR, SeededRandomness(7), batch=2
    )
    places = [session.names.index(name) for name in sorted(session.names)]
    plain = PlainSum(session.ballot, len(session.names)).total(
        np.tile(places, len(answers)), np.concatenate(answers), noise_of(session, 7)
    )
    assert np.array_equal(run.totals, plain)
    assert sorted(run.workers) == [f"w{i}" for i in range(5)]
    assert len(run.verdicts) == 4


def test_workers_that_answer_different_tasks_are_added_up_where_they_answered() -> None:
    session = session_of(tasks=7, answers=3)
    given = {
        worker: sorted(session.names[place] for place in assigned(CAMPAIGN, worker, 7, 3))
        for worker in ("a", "b", "c", "d")
    }
    uploads = [
        contribute(
            CAMPAIGN, session.policy, worker, names[: 1 + place % 3], np.ones(1 + place % 3, int)
        )
        for place, (worker, names) in enumerate(given.items())
    ]
    run = run_in_memory(session, uploads, keys_of(session), COORDINATOR, SeededRandomness(7))
    answered = [
        name for place, names in enumerate(given.values()) for name in names[: 1 + place % 3]
    ]
    expected = np.array([[answered.count(name)] for name in session.names])
    assert np.array_equal(run.totals - noise_of(session, 7), expected)


def test_an_upload_out_of_order_is_left_out_and_named() -> None:
    session = session_of()
    uploads = [contributed(session, worker, [1, 1, 1]) for worker in ("a", "b", "a")]
    run = run_in_memory(
        session, [*uploads, b"{}"], keys_of(session), COORDINATOR, SeededRandomness(7)
    )
    assert run.refused[0] == "worker 'a': it has already contributed"
    assert run.refused[1].startswith("a worker: ")
    assert np.array_equal(run.totals - noise_of(session, 7), np.full((3, 1), 2))


def test_the_seconds_of_every_party_are_counted() -> None:
    session = session_of()
    uploads = [contributed(session, worker, [1, 1, 1]) for worker in ("a", "b")]
    run = run_in_memory(session, uploads, keys_of(session), COORDINATOR, SeededRandomness(7))
    assert set(run.seconds) == {"server", "keyholder 1", "keyholder 2", "keyholder 3"}
    assert min(run.seconds.values()) > 0
