"""Tests of study `p2-figure-4`: the measurements, their consequences, and the verdict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sottovoce.api.simulate_private_em import simulate_private_em
from sottovoce_studies.p2 import figure_4
from sottovoce_studies.p2.crowds import GoldTasks, Repeats
from sottovoce_studies.p2.figure_4 import (
    EACH,
    PUBLIC_ROUNDS,
    STUDY,
    TASKS,
    Timing,
    by_the_paper,
    judge,
    slope,
    sums_opened,
)
from sottovoce_studies.p2.real_transcripts import gold_answers
from sottovoce_studies.p2.secure_sum_time import measured, threshold


def timed(workers: int, power: float = 1.0, second: float = 1e-3) -> Timing:
    """Times that grow with a power of the workers."""
    seconds = second * workers**power
    return Timing(
        workers,
        [
            {
                "primes": 0.1,
                "dealing": seconds,
                "blinds as published": [0.0, seconds],
                "blinds": [0.0, 0.0],
                "rest": [seconds, seconds],
                "ciphertexts": [2, 14],
            }
        ],
    )


def timings(power: float = 1.0, second: float = 1e-3) -> list[Timing]:
    return [timed(workers, power, second) for workers in (3, 10, 20, 40)]


def test_the_sums_of_the_protocol_take_minutes_by_the_papers_own_time() -> None:
    assert sums_opened() == 15 * 318 + 159
    assert by_the_paper() == pytest.approx(259_364, abs=1)


def test_a_round_of_the_protocol_opens_two_sums_a_task() -> None:
    answers = {"worker": list("aabbcc"), "task": list("121212"), "answer": list("yyynyn")}
    run = simulate_private_em(answers, suite="plain", mode="as_published")
    assert {len(record.totals) for record in run.records[1:]} == {2 * 2}
    assert EACH == 2 * TASKS


def test_two_thirds_of_workers_and_server_open() -> None:
    assert [threshold(workers) for workers in (3, 10, 20, 100)] == [3, 8, 14, 68]


def test_growth_is_that_of_the_quickest_runs_from_ten_workers_on() -> None:
    slow = Timing(10, [*timed(10).runs, *timed(10, second=9.0).runs])
    assert slope([timed(3, second=5.0), slow, timed(40)], 1) == pytest.approx(1.0)
    assert slope(timings(power=1.5), 0) == pytest.approx(1.5)


def test_times_of_the_whole_protocol_are_keys_and_sums() -> None:
    timing = timed(20)  # keys 120 ms; a sum 20 or 40 ms as published, 20 ms with our blinds
    assert timing.single_sums() == pytest.approx(120 + 15 * 30)
    assert timing.one_by_one() == pytest.approx(120 + 4929 * 30)
    assert timing.packed() == pytest.approx(120 + (2 + 15 * 14) * 20)


def test_numbers_fail_where_all_sums_take_longer_than_one_a_round() -> None:
    outcome = judge(timings(), {"rounds": 15, "seconds": 20.0})
    assert outcome.rulings.verdicts == ("fails", "holds", "not claimed")
    assert outcome.rulings.numbers.reason == (
        "789.3 ms is keys and one sum per round; the protocol opens 318: for all of them and 20 "
        "workers it would leave 8 microseconds per encryption; at most 259 s by P2's own time of a "
        "sum"
    )
    assert "would leave 8 microseconds per encryption" in outcome.explanation
    assert "A whole session of 15 rounds" in outcome.explanation


def test_a_practical_time_is_a_claim_apart_from_the_printed_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claims = judge(timings()).claims
    assert claims["P2-6.3.2-2"].verdict == "holds"
    assert "at most 259 s by P2's own time of a sum with 15 rounds" in claims["P2-6.3.2-2"].reason
    assert claims["P2-6.3.2-3"].verdict == "partly"
    monkeypatch.setattr(figure_4, "PRACTICAL", 200)
    claims = judge(timings()).claims
    assert [claims[f"P2-6.3.2-{number}"].verdict for number in (2, 3)] == ["fails", "fails"]


def test_public_answers_take_the_rounds_that_the_ruling_tells(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    if GoldTasks.of("duchenne") is None:
        pytest.skip("needs the dataset duchenne")
    policies: dict[str, Repeats] = {"repeats kept": "keep", "first answers": "first"}
    seen = {
        name: simulate_private_em(
            gold_answers("duchenne", repeats), suite="plain", mode="as_published", scale=10**10
        )
        for name, repeats in policies.items()
    }
    assert {name: len(run.records) - 1 for name, run in seen.items()} == PUBLIC_ROUNDS


def test_shape_fails_where_times_grow_faster_than_workers() -> None:
    outcome = judge(timings(power=1.5, second=1e-9))
    assert outcome.rulings.shape.verdict == "fails"
    assert "one sum grows almost linearly (like J^1.50)" in outcome.rulings.shape.reason


def test_shape_holds_in_part_where_only_dealing_grows_faster() -> None:
    fast = [
        Timing(each.workers, [{**each.runs[0], "dealing": 1e-3 * each.workers**2}])
        for each in timings()
    ]
    assert judge(fast).rulings.shape.verdict == "partly"


def test_numbers_hold_where_all_sums_are_as_quick_as_that() -> None:
    quick = [
        Timing(each.workers, [{**each.runs[0], "primes": 0.0}]) for each in timings(second=1e-9)
    ]
    assert judge(quick).rulings.numbers.verdict == "holds"


def test_without_the_extra_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> Any:
        return None if name == "gmpy2" else object()

    monkeypatch.setattr(figure_4, "find_spec", absent)
    outcome = STUDY.run("quick")
    assert outcome.rulings.verdicts == ("fails", "cannot be checked", "not claimed")
    assert "sottovoce[secure]" in outcome.rulings.shape.reason
    assert outcome.claims.keys() == judge(timings()).claims.keys()
    assert [row["paper"] for row in outcome.rows] == pytest.approx([0.7893, 259.364], abs=1e-3)


def test_a_sum_is_opened_under_a_fresh_key() -> None:
    pytest.importorskip("gmpy2")
    seen = measured(3, 159, 2, 0)  # it checks each total
    assert [len(seen[name]) for name in ("blinds as published", "blinds", "rest")] == [2, 2, 2]
    assert seen["ciphertexts"] == [1, 13]  # 318 sums of 40 bits in ciphertexts of 1,023
    assert min(seen["rest"]) > 0
