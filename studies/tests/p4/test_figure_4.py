"""Tests of study `p4-figure-4`: the text's comparison of large and small data."""

from __future__ import annotations

from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.p4.figure_4 import RANGE, judge
from sottovoce_studies.p4.sparse_tables import OURS, Found, Place
from sottovoce_studies.p4.sparse_trials import CLEAN, peak_gib
from sottovoce_studies.study import Outcome


def made_up(workers: int, tasks: int, **changes: float) -> Found:
    seen = {"LP": 3.0, "RR": 3.5, "MF d 2": 0.0, "MF d 1": 0.1, OURS: -0.2, CONSTANT: 0.0}
    seen |= {"MF d 10, ridge 0.01": 0.1, "MF d 2, V 0 to 1": 0.5}
    seen |= {name.replace("_", " "): change for name, change in changes.items()}
    places = [Place(workers, tasks, s, e) for e in (0.1, 3.0) for s in (0.5, 0.9)]
    trial = {CLEAN: 0.8, **{name: 0.8 + change for name, change in seen.items()}}
    return {
        place: [{**trial, "LP": trial["LP"] + (workers < 10_000) * (place.epsilon < 1)}] * 2
        for place in places
    }


def judged(peaks: tuple[float, ...] = (1.5, 0.5), **large: float) -> Outcome:
    return judge(made_up(10_000, 1_000, **large), made_up(2_000, 200), peaks)


def test_alike_with_less_noise_holds() -> None:
    outcome = judged()
    assert outcome.rulings.verdicts == ("not claimed", "holds", "partly")
    assert [choice.met for choice in outcome.choices] == [4, 4, 4, 4]


def test_changes_that_leave_the_range_are_a_false_statement() -> None:
    shape = judged(RR=3.5 - RANGE - 0.01).rulings.shape
    assert (shape.verdict, "LP, RR in the same range" in shape.reason) == ("partly", True)


def test_a_choice_that_is_another_on_large_data_is_not_judged() -> None:
    outcome = judged(MF_d_2=4.0)
    assert outcome.rulings.shape.reason == "with MF d 1"
    assert outcome.choices[0].met == 2


def test_noise_that_does_not_average_out_is_a_false_statement() -> None:
    outcome = judged(LP=4.2)
    assert "LP at epsilon 0.1" in outcome.rulings.shape.reason
    assert outcome.claims["P4-VI.C-11"].verdict == "fails"


def test_the_reason_for_the_smaller_change_is_inexact() -> None:
    assert judged().claims["P4-VI.C-11"].verdict == "partly"


def test_the_largest_peak_is_shown_and_none_where_the_system_does_not_tell() -> None:
    assert next(row["peak GiB"] for row in judged().rows if "peak GiB" in row) == 1.5
    assert not any("peak GiB" in row for row in judged(()).rows)


def test_the_peak_is_that_of_this_process() -> None:
    before = peak_gib()
    assert before is not None
    held = bytearray(b"x" * (1 << 26))
    after = peak_gib()
    assert after is not None
    assert after >= len(held) / 2**30
    assert after >= before > 0
