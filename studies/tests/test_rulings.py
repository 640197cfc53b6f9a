"""Tests of verdicts, and of the distance of printed numbers under each choice."""

from __future__ import annotations

import pytest

from sottovoce.errors import UsageError
from sottovoce.planning.trials import Spread
from sottovoce_studies.choices import Choice, best, choice_rows, distances, numbers
from sottovoce_studies.rulings import Ruling, Rulings, Statement, ruling_on

OURS = Spread.of([0.1, 0.3] * 50)


def choice(met: int, of: int, distance: float | None = 1.0, name: str = "first") -> Choice:
    return Choice({"ties": name}, met, of, distance)


def test_what_does_not_hold_says_why() -> None:
    with pytest.raises(UsageError, match="'fails' needs its reason"):
        Ruling("fails")


def test_an_unknown_verdict_is_refused() -> None:
    with pytest.raises(UsageError, match="a verdict is one of holds, partly, fails"):
        Ruling("true")  # type: ignore[arg-type]


def test_a_study_that_cannot_run_has_no_verdict_on_anything() -> None:
    assert set(Rulings.unchecked("no data").verdicts) == {"cannot be checked"}


def test_statements_hold_together_in_part_or_not_at_all() -> None:
    true, false = Statement("it falls", True), Statement("it is flat", False, "by .2")
    assert ruling_on([true, true]) == Ruling("holds")
    assert ruling_on([true, false]) == Ruling("partly", "false: it is flat (by .2)")
    assert ruling_on([false]) == Ruling("fails", "false: it is flat (by .2)")
    assert ruling_on([]).verdict == "not claimed"


def test_a_printed_number_within_three_standard_errors_of_both_runs_is_met() -> None:
    # One of our trials deviates by .1005, so 100 trials of either run by .0142 together.
    near = distances({}, [(OURS, 0.242), (OURS, 0.158)], paper_trials=100, unit=0.0001)
    assert (near.met, near.of) == (2, 2)
    assert near.distance == pytest.approx(2.955, abs=0.01)
    far = distances({}, [(OURS, 0.244)], paper_trials=100, unit=0.0001)
    assert far.met == 0


def test_numbers_without_trials_are_met_within_their_rounding() -> None:
    exact = Spread.of([0.87205])
    assert distances({}, [(exact, 0.8721)], paper_trials=1, unit=0.0001).met == 1
    assert distances({}, [(exact, 0.8722)], paper_trials=1, unit=0.0001).met == 0


def test_the_choice_with_most_numbers_met_is_judged() -> None:
    first, second = choice(38, 52, 2.0, "random"), choice(50, 52, 1.2, "label 0")
    assert best([first, second]) is second
    assert [row["judged"] for row in choice_rows([first, second])] == [None, "yes"]
    reason = "50 of 52 within 3 s.e. with ties: label 0, of 2 choices tried"
    assert numbers([first, second]) == Ruling("holds", reason)


@pytest.mark.parametrize(
    ("met", "verdict"),
    [(52, "holds"), (50, "holds"), (49, "partly"), (26, "partly"), (25, "fails")],
)
def test_numbers_hold_if_nineteen_of_twenty_are_met(met: int, verdict: str) -> None:
    assert numbers([choice(met, 52)]).verdict == verdict
