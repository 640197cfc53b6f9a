"""Perturbing tables and reading them back, from Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sottovoce
from sottovoce.datasets.seeded_randomness import SeededRandomness
from sottovoce.errors import DataError, SottovoceError, UsageError
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Reports, Unit
from sottovoce.worker import SystemRandomness

YES_NO = Domain.categorical(["no", "yes"])
ANSWERS: dict[str, Any] = {
    "worker": ["ann", "bob", "cy"] * 4,
    "task": [f"q{i // 3}" for i in range(12)],
    "answer": ["yes", "yes", "no", "no", "no", "no", "yes", "no", "yes", "no", "no", "yes"],
}
POLICY = make_policy(YES_NO, "randomized-response", Target(1.0, answers=4))


class Counting:
    """Randomness that counts what is asked of it."""

    simulated = True
    asked = 0

    def words(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
        self.asked += count
        return SeededRandomness(1).words(count)


def test_a_seed_stamps_and_the_system_does_not() -> None:
    assert sottovoce.perturb(ANSWERS, POLICY, SeededRandomness(1)).simulated
    assert not sottovoce.perturb(ANSWERS, POLICY, SystemRandomness()).simulated


def test_the_same_seed_gives_the_same_reports() -> None:
    first, second = (sottovoce.perturb(ANSWERS, POLICY, SeededRandomness(7)) for _ in range(2))
    np.testing.assert_array_equal(first.value, second.value)


def test_real_noise_does_not_wash_a_stamp_off() -> None:
    simulated = sottovoce.perturb(ANSWERS, POLICY, SeededRandomness(1))
    assert sottovoce.perturb(simulated, POLICY, SystemRandomness()).simulated


def test_a_result_says_which_policy_and_whether_it_was_simulated() -> None:
    reports = sottovoce.perturb(ANSWERS, POLICY, SeededRandomness(1))
    provenance = sottovoce.infer(reports, "majority-vote", policy=POLICY).provenance
    assert (provenance.policy_hash, provenance.simulated) == (POLICY.hash, True)


def test_hiding_participation_reports_on_every_task() -> None:
    policy = make_policy(YES_NO, "two-layer", Target(1.0, answers=4, hide_participation=True))
    some = {name: column[:7] for name, column in ANSWERS.items()}
    assert len(sottovoce.perturb(some, policy, SeededRandomness(1))) == 9


def test_sampling_sends_two_answers_of_each_worker() -> None:
    policy = make_policy(YES_NO, "randomized-response", Target(2.0, Unit.WORKER, 0.0, 4, sample=2))
    reports = sottovoce.perturb(ANSWERS, policy, SeededRandomness(1))
    assert np.bincount(reports.worker).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": ["CANARY"] * 12}, "not one of the labels"),
        ({"answer": [None] * 12}, "empty cell"),
        ({"answer": [0.5] * 12}, "not one of the labels"),
        ({"task": ["q"] * 11}, "one length"),
        ({"worker": []}, "one length"),
    ],
)
def test_answers_that_cannot_be_used_are_refused_before_any_noise(
    change: dict[str, Any], message: str
) -> None:
    randomness = Counting()
    with pytest.raises(DataError, match=message) as error:
        sottovoce.perturb({**ANSWERS, **change}, POLICY, randomness)
    assert "CANARY" not in str(error.value)
    assert randomness.asked == 0


def test_more_answers_than_promised_are_refused_before_any_noise() -> None:
    policy = make_policy(YES_NO, "randomized-response", Target(1.0, Unit.WORKER, 0.0, 3, sample=3))
    randomness = Counting()
    with pytest.raises(UsageError, match=r"has 4 answers .* for up to 3"):
        sottovoce.perturb(ANSWERS, policy, randomness)
    assert randomness.asked == 0


def test_more_answers_than_promised_are_fine_where_the_promise_still_holds() -> None:
    policy = make_policy(YES_NO, "randomized-response", Target(1.0, answers=1))
    assert len(sottovoce.perturb(ANSWERS, policy, SeededRandomness(1))) == 12


def test_a_policy_that_lies_is_refused_before_any_noise() -> None:
    lying = replace(POLICY, mechanism={**POLICY.mechanism, "other": "1"})
    randomness = Counting()
    with pytest.raises(UsageError, match="cannot be trusted"):
        sottovoce.perturb(ANSWERS, lying, randomness)
    assert randomness.asked == 0


@pytest.mark.parametrize("value", [7077.5, float("nan"), float("inf")])
def test_a_number_outside_the_range_is_not_quoted(value: float) -> None:
    policy = make_policy(Domain.numeric(0, 1), "laplace", Target(1.0))
    answers = {"worker": ["a", "b"], "task": ["t", "t"], "answer": [0.5, value]}
    with pytest.raises(DataError) as error:
        sottovoce.perturb(answers, policy, SeededRandomness(1))
    assert repr(value) not in str(error.value)
    assert "row 2" in str(error.value)


def test_a_table_already_read_is_checked_against_the_policy() -> None:
    table = Reports.of([0, 1], [0, 0], [5.0, 7077.5], domain=Domain.numeric())
    policy = make_policy(Domain.numeric(0, 10), "laplace", Target(1.0))
    with pytest.raises(DataError, match=r"answer 2 is outside the range 0\.\.10") as error:
        sottovoce.perturb(table, policy, SeededRandomness(1))
    assert "7077" not in str(error.value)


def test_the_domain_is_the_policys() -> None:
    with pytest.raises(UsageError, match="drop domain="):
        sottovoce.perturb(ANSWERS, POLICY, SeededRandomness(1), domain=YES_NO)
    with pytest.raises(UsageError, match="drop domain="):
        sottovoce.read_under(ANSWERS, POLICY, domain=YES_NO)


def test_a_task_is_reported_on_once_whatever_the_table_holds() -> None:
    twice = {name: column * 2 for name, column in ANSWERS.items()}
    with pytest.raises(UsageError, match="answers a task twice"):
        sottovoce.perturb(twice, POLICY, SeededRandomness(1), repeats="keep")
    again = Reports.of([0, 0], [0, 0], [0, 1], domain=YES_NO)
    with pytest.raises(UsageError, match="answers a task twice"):
        sottovoce.perturb(again, POLICY, SeededRandomness(1))


def test_noise_has_to_come_from_somewhere() -> None:
    with pytest.raises(UsageError, match="pass a source of randomness"):
        sottovoce.perturb(ANSWERS, POLICY, None)  # type: ignore[arg-type]


def test_reports_of_another_policy_are_refused() -> None:
    other = make_policy(Domain.categorical(["no", "maybe"]), "randomized-response", Target(1.0))
    reports = sottovoce.perturb(ANSWERS, POLICY, SeededRandomness(1))
    columns = {
        "worker": reports.workers[reports.worker],
        "task": reports.tasks[reports.task],
        "report": [YES_NO.labels[code] for code in reports.value],
    }
    with pytest.raises(SottovoceError, match="not one of the labels"):
        sottovoce.infer(columns, policy=other)


def test_packed_answers_are_perturbed_like_others(tmp_path: Path) -> None:
    sottovoce.pack(ANSWERS, tmp_path / "answers.parquet")
    packed = sottovoce.perturb(tmp_path / "answers.parquet", POLICY, SeededRandomness(3))
    plain = sottovoce.perturb(ANSWERS, POLICY, SeededRandomness(3))
    np.testing.assert_array_equal(packed.value, plain.value)
