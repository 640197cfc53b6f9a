"""Totals are the plain sums of the contributors, with any dropouts at any time, or absent."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.securesum.masked.stars import COORDINATOR, Fixed, Same, Star, keys, suites, terms_of

from sottovoce.errors import UsageError
from sottovoce.model.sum_rounds import SumSpec
from sottovoce.securesum.masked.messages import ORDER
from sottovoce.securesum.masked.server import MaskedServer
from sottovoce.securesum.star.simulation import StarRun, run_in_memory
from sottovoce.securesum.star.suite import Phase

Faults = Mapping[tuple[int, Phase], Collection[int]]


def run(star: Star, faults: Faults | None = None) -> StarRun:
    """The whole session in memory."""
    return run_in_memory(
        star.terms, star.planner, [Fixed(rows) for rows in star.values], keys(star.workers),
        COORDINATOR, suites(star.workers), MaskedServer(), faults,
    )  # fmt: skip


def check_totals(star: Star, outcome: StarRun) -> None:
    for number, record in enumerate(outcome.records):
        assert record.totals.tolist() == star.total(record.contributors, number)


def test_everybody_there_opens_the_sum_of_all() -> None:
    star = Star(rounds=3)
    outcome = run(star)
    assert (outcome.state, outcome.excluded, outcome.refused) == ("done", {}, {})
    assert [record.contributors for record in outcome.records] == [(1, 2, 3, 4, 5)] * 3
    check_totals(star, outcome)


@pytest.mark.parametrize("phase", ORDER)
def test_one_who_falls_silent_is_out_and_the_sum_is_that_of_the_others(phase: Phase) -> None:
    star = Star(rounds=2)
    outcome = run(star, {(0, phase): {2}})
    late = phase in (Phase.CONFIRM, Phase.OPEN)
    first = (1, 2, 3, 4, 5) if late else (1, 3, 4, 5)
    assert outcome.state == "done"
    assert [record.contributors for record in outcome.records] == [first, (1, 3, 4, 5)]
    assert outcome.excluded == {2: f"it did not answer in phase {phase}"}
    check_totals(star, outcome)


@pytest.mark.parametrize("phase", ORDER)
def test_one_more_than_may_be_missing_ends_the_session_without_totals(phase: Phase) -> None:
    star = Star(workers=5, threshold=4, rounds=2)
    outcome = run(star, {(0, phase): {1, 4}})
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.reason == f"3 workers are left after phase {phase}; 4 are needed"


@pytest.mark.parametrize("phase", ORDER)
def test_too_few_one_by_one_end_the_session_after_the_rounds_that_were_opened(
    phase: Phase,
) -> None:
    star = Star(workers=5, threshold=3, rounds=3)
    outcome = run(star, {(0, Phase.SHARE): {1}, (1, Phase.OPEN): {2}, (2, phase): {3}})
    assert (outcome.state, len(outcome.records)) == ("aborted", 2)
    assert outcome.records[1].contributors == (2, 3, 4, 5)
    check_totals(star, outcome)


def test_nobody_answering_at_all_ends_the_session() -> None:
    outcome = run(Star(), {(0, Phase.SHARE): {1, 2, 3, 4, 5}})
    assert outcome.state == "aborted"


def test_fewer_than_the_minimum_are_not_opened_even_if_enough_would_confirm() -> None:
    star = Star(workers=6, threshold=4, minimum=6)
    outcome = run(star, {(0, Phase.CONTRIBUTE): {5}})
    assert (outcome.state, outcome.records) == ("aborted", ())
    assert outcome.reason == "5 workers are left after phase contribute; 6 are needed"


def test_fewer_than_the_minimum_begin_no_further_round() -> None:
    star = Star(workers=6, threshold=4, minimum=6, rounds=2)
    outcome = run(star, {(0, Phase.OPEN): {5}})
    assert (outcome.state, len(outcome.records)) == ("aborted", 1)
    assert outcome.reason == "5 workers are left; 6 are needed"


@given(data=st.data())
@settings(max_examples=6)
def test_with_any_dropouts_totals_are_right_or_absent(data: st.DataObject) -> None:
    workers = data.draw(st.integers(3, 7), "workers")
    threshold = data.draw(st.integers(workers // 2 + 1, workers), "threshold")
    places = st.tuples(st.integers(0, 1), st.sampled_from(ORDER))
    silent = st.sets(st.integers(1, workers), max_size=2)
    faults = data.draw(st.dictionaries(places, silent, max_size=3), "faults")
    greatest = data.draw(st.sampled_from([1, 1000, 2**63 // workers - 1]), "greatest")
    star = Star(workers, threshold, spec=SumSpec(4, greatest), rounds=2)
    outcome = run(star, faults)
    check_totals(star, outcome)
    assert outcome.refused == {}
    assert (outcome.state == "done") == (len(outcome.records) == 2)
    gone = {number for (_, _), some in faults.items() for number in some}
    assert (outcome.state == "done") >= (len(gone) <= workers - threshold)


def test_the_greatest_sum_that_fits_comes_out() -> None:
    spec = SumSpec(2, (2**63 - 1) // 5)
    star = Star(spec=spec)
    rows = np.full((1, 2), spec.greatest)
    outcome = run_in_memory(
        star.terms, star.planner, [Fixed(rows)] * 5, keys(5), COORDINATOR, suites(5),
        MaskedServer(),
    )  # fmt: skip
    assert outcome.records[0].totals.tolist() == [5 * spec.greatest] * 2


def test_a_sum_that_could_leave_its_half_of_the_ring_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match=r"5 values of up to .* may add up to 2\^63 or more"):
        Star(spec=SumSpec(1, 2**63 // 5 + 1))


def test_a_value_out_of_range_is_not_sent() -> None:
    star = Star().until(Phase.CONTRIBUTE)
    star.values[0, 0, 1] = star.spec.greatest + 1
    with pytest.raises(UsageError, match="a value is not from 0 to 1,000: nothing is sent"):
        star.members[1].on(star.turn(1))


def test_seconds_are_those_of_workers_and_server_in_every_phase() -> None:
    outcome = run(Star())
    assert set(outcome.phases) == {*map(str, ORDER), "end"}
    for party in ("workers", "server"):
        spent = sum(phase[party] for phase in outcome.phases.values())
        assert outcome.seconds[party] == pytest.approx(spent)
        assert spent > 0


def test_a_run_needs_as_many_contributors_as_workers() -> None:
    terms = terms_of(5, 4)
    with pytest.raises(UsageError, match="5 workers need as many contributors, keys and suites"):
        run_in_memory(
            terms, Same(SumSpec(1, 1), 1), [], keys(5), COORDINATOR, suites(5),
            MaskedServer(),
        )  # fmt: skip
