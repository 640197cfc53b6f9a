"""Tests of true guarantees against formulas, integrals and known values, and of the verdict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.integrate

from sottovoce.mechanisms.laws.task_profiles import real_profiles
from sottovoce_studies.beyond import published_guarantees as published
from sottovoce_studies.beyond.true_guarantees import (
    LAYERS,
    MANY,
    SOUND,
    SPARSE,
    VALUES,
    VARIANCE_ANSWERS,
    VARIANCES,
    judge,
    promises,
)


def _found(**changed: Any) -> dict[tuple[Any, ...], Any]:
    """Results in which every stated claim holds, except for given changes."""
    found: dict[tuple[Any, ...], Any] = {}
    for symbols, epsilon in LAYERS:
        for k in (1, 2, MANY):
            kept = {"answer": epsilon, "worker": k * epsilon + 0.1, "delta": 0.0}
            found["two", symbols, epsilon, k] = {"claimed": epsilon, **kept, **changed}
            found["one", symbols, epsilon, k] = kept
    for _, delta in VARIANCES:
        for answers in VARIANCE_ANSWERS:
            found["variance", delta, answers] = {"answer": 0.0, "worker": 0.5, "pure": None}
    for name in VALUES:
        found["laplace", name] = {"answer": 1.0, "drawn": 1.0}
    found["response",] = {"answer": 1.0, "worker": 1.0}
    found["mf", SPARSE] = {
        "value": 0.9,
        "losses": [0.1, 0.5, 0.7, 0.8, 0.9],
        "delta": 0.0,
        "s.e.": 0.0,
    }
    found["2-layer", 200] = {"answer": 2.0}
    for name, _, _ in SOUND:
        found["sound", name] = {"epsilon": 1.0, "delta": 0.0, "answers": MANY}
    return found


def test_two_layers_at_a_claimed_0_have_the_known_epsilon_of_a_uniform_coin() -> None:
    seen = published.two_layer(2, 0.0, 14)
    assert seen["claimed"] == pytest.approx(0, abs=1e-12)
    assert seen["answer"] == pytest.approx(math.log(14))
    assert seen["worker"] == pytest.approx(math.log(math.comb(14, 7)))


@pytest.mark.parametrize(
    ("answers", "answer", "worker", "delta"),
    [
        (5, 1.6805, 3.7096, 0.15144),
        (14, 2.6392, 9.3070, 0.20469),
        (100, 4.6052, 67.2, 0.2433),
    ],
)
def test_two_layers_at_a_claimed_1_are_near_known_values_of_their_rounded_range(
    answers: int, answer: float, worker: float, delta: float
) -> None:
    seen = published.two_layer(2, 1.0, answers)  # U(0, 0.53788); the values are those of 0.538
    assert seen["answer"] == pytest.approx(answer, abs=5e-4)
    assert seen["worker"] == pytest.approx(worker, abs=2e-2)
    assert seen["delta"] == pytest.approx(delta, abs=2e-4)


def test_two_layers_over_five_labels_are_the_extremes_of_an_integral() -> None:
    symbols, epsilon, k = 5, 1.0, 6
    most = 2 * (symbols - 1) / (symbols - 1 + math.exp(epsilon))
    low, high = max(0.0, most - 1), min(1.0, most)

    def submission(m: int) -> float:
        whole = scipy.integrate.quad(lambda p: p**m * (1 - p) ** (k - m), low, high)[0]
        return float(whole / (high - low) / (symbols - 1) ** m)

    logs = np.log([submission(m) for m in range(k + 1)])
    seen = published.two_layer(symbols, epsilon, k)
    assert seen["answer"] == pytest.approx(np.abs(np.diff(logs)).max(), rel=1e-9)
    assert seen["worker"] == pytest.approx(logs.max() - logs.min(), rel=1e-9)


def test_one_layer_keeps_what_it_claims_and_adds_up_per_worker() -> None:
    seen = published.one_layer(5, 1.0, 30)
    assert seen["answer"] == pytest.approx(1.0, abs=1e-9)
    assert seen["worker"] == pytest.approx(30.0, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "loss", "delta"),
    [
        (1.0, 0.1, 0.0875372),
        (0.5, 1.0, 0.3934693),
        (2.0, 0.3, 0.2327258),
    ],
)
def test_random_variance_has_its_known_limit(epsilon: float, loss: float, delta: float) -> None:
    claimed = -math.expm1(-loss)  # the claim at which the published rate is 2 epsilon loss
    seen = published.random_variance(epsilon, claimed, None)
    assert seen["claimed"] == pytest.approx(claimed)
    assert seen["answer"] == pytest.approx(delta, abs=1e-7)


def test_random_variance_of_one_answer_is_laplace_noise() -> None:
    seen = published.random_variance(1.0, 0.1, 1)
    assert seen["pure"] == pytest.approx(math.sqrt(4 * -math.log(0.9)))
    assert published.random_variance(1.0, 0.1, 2)["pure"] is None


def test_random_variance_per_worker_is_one_answer_over_a_longer_way() -> None:
    seen = published.random_variance(1.0, 0.1, 2)
    assert seen["worker"] is not None
    assert seen["answer"] is not None
    assert seen["worker"] > seen["answer"] > 0


def test_laplace_noise_counts_values_where_the_range_counts() -> None:
    assert published.laplace(tuple(range(10)), 1.0)["answer"] == pytest.approx(0.9)
    assert published.laplace((0, 100), 1.0)["answer"] == pytest.approx(50.0)
    assert published.laplace(tuple(range(10)), 1.0)["drawn"] == pytest.approx(0.9, abs=1e-6)


def test_randomised_response_with_null_keeps_what_it_claims() -> None:
    assert published.null_response(10, 1.0, 7)["answer"] == pytest.approx(1.0, abs=1e-9)


def test_a_drawn_budget_has_an_epsilon_between_its_mean_and_its_largest() -> None:
    few, many = (published.sparse_two_layer(10, 1.0, k)["answer"] for k in (1, 200))
    assert 1 < few < many < 2


@pytest.mark.parametrize("answers", [2, 3])
def test_the_density_of_a_profile_has_the_same_mass_for_any_participation(answers: int) -> None:
    profiles = real_profiles([f"task {j}" for j in range(answers)], 1, "")
    u = np.linspace(-400, 400, 400_001)
    scale = 10.0
    logs = published.log_density(u[None], profiles, np.full(answers, 3.0), scale)
    mass = np.exp(logs).sum() * (u[1] - u[0])
    assert mass == pytest.approx(2 * scale, rel=1e-3)


def test_the_loss_between_null_and_a_value_grows_with_the_profile() -> None:
    seen = published.factorization(1.0, 15, 2_000, seed=3)
    assert seen["value"] == pytest.approx(0.9)
    assert seen["losses"][-1] == pytest.approx(10 * seen["losses"][-2], rel=0.1)
    assert seen["delta"] > 20 * seen["s.e."]


def test_more_answers_hide_better_that_one_of_them_is_missing() -> None:
    few, many = (published.factorization(1.0, k, 2_000, seed=3)["delta"] for k in (15, 60))
    assert many < few


@pytest.mark.parametrize("mechanism", ["two-layer", "laplace"])
def test_a_sound_calibration_keeps_the_claim(mechanism: str) -> None:
    true = published.sound(mechanism, 1.0, 0.0, 30, mechanism == "laplace")["epsilon"]
    assert true == pytest.approx(1.0, abs=1e-5)
    assert true <= 1.0


def test_the_claims_hold_when_none_is_exceeded() -> None:
    outcome = judge(_found())
    assert str(outcome.rulings) == "guarantee holds"


def test_what_no_paper_states_does_not_count() -> None:
    broken = [claim for claim in promises(_found()) if not claim.kept]
    assert broken
    assert not any(claim.stated for claim in broken)


def test_the_worst_of_the_claims_that_are_exceeded_is_named() -> None:
    found = _found(answer=3.0)
    found["laplace", "{0, 100}"] = {"answer": 50.0, "drawn": 41.0}
    outcome = judge(found)
    assert outcome.rulings.guarantee.verdict == "partly"
    assert "P4 Thm. 1: epsilon per answer 50, claimed 1" in outcome.rulings.guarantee.reason


def test_a_loss_that_goes_on_growing_has_no_bound_and_is_the_worst() -> None:
    found = _found(answer=3.0)
    found["mf", SPARSE] |= {"losses": [0.1, 0.2, 0.3, 30.0, 300.0]}
    outcome = judge(found)
    assert "P4 Thm. 4: epsilon per answer has no bound" in outcome.rulings.guarantee.reason
    assert len(outcome.rulings.guarantee.reason) <= 90
