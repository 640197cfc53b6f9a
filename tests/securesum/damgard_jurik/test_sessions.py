"""Sessions without faults, and with missing workers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.securesum.damgard_jurik.stars import (
    COORDINATOR,
    SIGNING,
    SPEC,
    TERMS,
    Answers,
    Rounds,
    Star,
    public_and_shares,
    terms_of,
    total,
)

from sottovoce.errors import UsageError
from sottovoce.securesum.damgard_jurik.keys import KeyShare
from sottovoce.securesum.damgard_jurik.server import ThresholdServer, _rotated
from sottovoce.securesum.damgard_jurik.worker import ThresholdWorker
from sottovoce.securesum.star.server import CoordinatorSession
from sottovoce.securesum.star.simulation import run_in_memory
from sottovoce.securesum.star.suite import Phase
from sottovoce.securesum.star.worker import WorkerSession

ALL = {1, 2, 3, 4, 5, 6}
PHASES = [
    Phase.COMMIT,
    Phase.CONTRIBUTE,
    Phase.CONTRIBUTE,
    Phase.CONFIRM,
    Phase.OPEN,
]


def test_every_round_opens_to_the_plain_sum() -> None:
    public, shares = public_and_shares()
    run = run_in_memory(
        TERMS, Rounds(3), [Answers(number) for number in sorted(ALL)], SIGNING, COORDINATOR,
        [ThresholdWorker(public, share) for share in shares[:-1]],
        ThresholdServer(public, shares[-1]),
    )  # fmt: skip
    assert (run.state, run.refused, run.excluded) == ("done", {}, {})
    assert [each.totals.tolist() for each in run.records] == [total(ALL, r) for r in range(3)]
    assert {each.contributors for each in run.records} == {(1, 2, 3, 4, 5, 6)}
    assert set(run.phases) == {"commit", "contribute", "confirm", "open", "end"}


def test_workers_learn_what_was_opened() -> None:
    star = Star(rounds=2).play()
    turn = star.server.turn(1)
    assert turn is not None
    star.workers[1].on(turn)
    assert [each.totals.tolist() for each in star.workers[1].opened] == [
        total(ALL, 0),
        total(ALL, 1),
    ]


def test_one_more_than_needed_opens_and_others_every_round() -> None:
    star = Star(rounds=2).play(Phase.OPEN)
    assert star.server.waiting == {1, 2, 3, 4}
    assert star.play(Phase.OPEN, 1).server.waiting == {5, 6, 1, 2}


def test_over_the_rounds_all_open_equally_often() -> None:
    opened = [number for round_ in range(6) for number in _rotated(sorted(ALL), round_, 4)]
    assert np.bincount(opened)[1:].tolist() == [4] * 6


def test_nobody_proves_anything_where_nothing_is_wrong() -> None:
    star, phases = Star(), []
    while star.server.state == "running":
        phases.append(star.server.phase)
        star.phase()
    assert phases == PHASES


@pytest.mark.parametrize("phase", PHASES[:2])
def test_who_is_missing_before_the_set_is_confirmed_is_in_no_total(phase: Phase) -> None:
    star = Star(rounds=2).play(phase)
    star.phase(silent=[2])
    star.play()
    assert star.server.state == "done"
    assert star.server.excluded == {2: f"it did not answer in phase {phase}"}
    left = ALL - {2}
    assert [each.totals.tolist() for each in star.server.records] == [
        total(left, 0),
        total(left, 1),
    ]


def test_who_does_not_answer_for_its_contribution_is_in_no_total() -> None:
    star = Star(rounds=2).play(Phase.CONTRIBUTE)
    star.phase()
    star.phase(silent=[2])
    star.play()
    assert star.server.excluded == {2: "it did not answer in phase contribute"}
    opened = [each.totals.tolist() for each in star.server.records]
    assert opened == [total(ALL - {2}, 0), total(ALL - {2}, 1)]


def test_who_is_missing_once_the_set_is_known_is_in_this_total_and_in_no_later_one() -> None:
    star = Star(rounds=2).play(Phase.CONFIRM)
    star.phase(silent=[2])
    star.play()
    assert star.server.excluded == {2: "it did not answer in phase confirm"}
    assert [each.totals.tolist() for each in star.server.records] == [
        total(ALL, 0), total(ALL - {2}, 1),
    ]  # fmt: skip


def test_who_does_not_open_is_replaced_by_its_proofs_or_by_others() -> None:
    """With one missing, the other three and the server open, and prove it."""
    star = Star(rounds=2).play(Phase.OPEN)
    star.phase(silent=[2])
    assert star.server.phase is Phase.PROVE
    assert star.server.waiting == {1, 3, 4}
    star.play()
    assert [each.totals.tolist() for each in star.server.records] == [
        total(ALL, 0), total(ALL - {2}, 1),
    ]  # fmt: skip
    assert star.server.excluded == {2: "it did not answer in phase open"}


def test_where_two_do_not_open_the_others_are_asked() -> None:
    star = Star().play(Phase.OPEN)
    star.phase(silent=[2, 3])
    assert star.server.phase is Phase.OPEN
    assert star.server.waiting == {5, 6}
    star.play()
    assert star.server.records[0].totals.tolist() == total(ALL, 0)
    assert star.server.excluded.keys() == {2, 3}


def test_who_does_not_prove_what_it_sent_is_not_used() -> None:
    star = Star().play(Phase.OPEN)
    star.phase(silent=[2])
    star.phase(silent=[3])
    assert (star.server.phase, set(star.server.waiting)) == (Phase.OPEN, {5, 6})
    star.phase()
    assert (star.server.phase, set(star.server.waiting)) == (Phase.PROVE, {5, 6})
    star.play()
    assert star.server.records[0].totals.tolist() == total(ALL, 0)
    assert star.server.excluded == {
        2: "it did not answer in phase open", 3: "it did not answer in phase prove",
    }  # fmt: skip


def test_too_few_to_open_end_the_session_and_no_smaller_set_is_asked_for() -> None:
    star = Star().play(Phase.OPEN)
    star.phase(silent=[1, 2, 3])
    star.phase(silent=[5])
    assert (star.server.state, star.server.records) == ("aborted", ())
    assert "too few workers are left to open the sum: 3 and the server" in star.server.reason


@pytest.mark.parametrize(("phase", "words"), [
    (Phase.COMMIT, "3 workers have committed to a contribution; 4 are needed"),
    (Phase.CONTRIBUTE, "3 workers have contributed; 4 are needed"),
    (Phase.CONFIRM, "3 workers have confirmed the set; 4 are needed"),
])  # fmt: skip
def test_too_few_workers_end_the_session(phase: Phase, words: str) -> None:
    star = Star().play(phase)
    star.phase(silent=[1, 2, 3])
    assert (star.server.state, star.server.records) == ("aborted", ())
    assert star.server.reason == words


@pytest.mark.parametrize("silent", [[1, 2, 3], [1, 2, 3, 4, 5, 6]])
def test_too_few_answers_end_the_session(silent: list[int]) -> None:
    star = Star().play(Phase.CONTRIBUTE)
    star.phase()
    star.phase(silent=silent)
    assert star.server.state == "aborted"
    assert star.server.reason.endswith("have answered for their contributions; 4 are needed")


def _state(server: CoordinatorSession) -> tuple[object, ...]:
    turns = [server.turn(number) for number in sorted(ALL)]
    return server.state, server.reason, server.round, server.phase, server.waiting, turns


def test_the_server_is_restored_at_every_point() -> None:
    """From its records and the replies of this round, byte for byte; also amid proofs."""
    star = Star(rounds=2)
    seen, silent, marks = [_state(star.server)], {0: [5], 4: [1]}, [(0, 0)]
    for turn in range(40):
        if star.server.state != "running":
            break
        quiet = silent.get(turn, [])
        for number, reply in star.replies(quiet).items():
            star.take(reply, number)
            seen.append(_state(star.server))
            marks.append((len(star.server.records), len(star.events)))
        if star.server.waiting & set(quiet):
            star.close()
            seen.append(_state(star.server))
            marks.append((len(star.server.records), len(star.events)))
    assert star.server.state == "done"
    assert Phase.PROVE in {state[3] for state in seen}
    begins = {done: min(at for d, at in marks if d == done) for done, _ in marks}
    for state, (done, at) in zip(seen, marks, strict=True):
        server = star.restored(star.server.records[:done])
        for event in star.events[begins[done] : at]:
            server.close() if event is None else server.take(*event)
        assert _state(server) == state


def test_a_share_of_another_holder_is_refused() -> None:
    public, shares = public_and_shares()
    session = WorkerSession(
        TERMS, 1, SIGNING[0], Rounds(1), Answers(1), ThresholdWorker(public, shares[1])
    )
    turn = Star().server.turn(1)
    assert turn is not None
    with pytest.raises(UsageError, match="the key share of worker 2, not 1"):
        session.on(turn)


def test_the_server_has_the_last_share() -> None:
    public, shares = public_and_shares()
    with pytest.raises(UsageError, match="holder 7, not 1"):
        ThresholdServer(public, shares[0])


def test_a_key_for_another_threshold_is_refused() -> None:
    public, shares = public_and_shares()
    with pytest.raises(UsageError, match="4 of 7 holders, but the session needs 5 of 7"):
        CoordinatorSession(
            terms_of(threshold=5, minimum=5), COORDINATOR, Rounds(1),
            ThresholdServer(public, KeyShare(7, shares[-1].value)),
        )  # fmt: skip


def test_blinds_are_made_ahead_for_another_round() -> None:
    public, shares = public_and_shares()
    suite = ThresholdWorker(public, shares[0])
    suite.prepare()
    assert len(suite._blinds) == 0  # the number needed is not known yet
    star = Star(rounds=2, suites={1: suite}).play(Phase.CONTRIBUTE)
    star.workers[1].prepare()
    assert len(suite._blinds) == 2
    star.play()
    assert star.server.state == "done"
    assert SPEC.values == len(star.server.records[1].totals)
