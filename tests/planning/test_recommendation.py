"""The best pair at a target guarantee."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sottovoce import recommend
from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Calibration, Domain, Unit
from sottovoce.planning import recommendation
from sottovoce.planning.pipelines import Pipeline, keeps
from sottovoce.planning.recommendation import recommended
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Runner, TrialCase

SMALL = Scenario(Domain.categorical("abc"), 24, 8, 12)
FIRST, SECOND = Pipeline("first", "randomized-response"), Pipeline("second", "subset-selection")

Errors = Callable[[TrialCase, int, int], float]


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "cache"))


def choose(
    monkeypatch: pytest.MonkeyPatch, errors: Errors, pairs: list[Pipeline] | None = None
) -> recommendation.Recommendation:
    """The recommendation for given errors."""
    monkeypatch.setattr(TrialCase, "error", errors)
    monkeypatch.setattr(recommendation, "candidates", lambda *_: pairs or [FIRST, SECOND])
    with Runner(cache=False) as runner:
        return recommended(runner, SMALL, Target(1.0), 20, budget=None)


def named(case: TrialCase) -> str:
    return case.pair.name if case.pair else ""


def test_the_pair_with_the_smaller_error_is_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    found = choose(
        monkeypatch, lambda case, _, trial: 0.1 + trial / 1000 + 0.1 * (named(case) == "first")
    )
    assert found.pair == SECOND
    assert "second" in found.reason


def test_a_pair_that_is_clearly_worse_gets_few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    found = choose(
        monkeypatch,
        lambda case, _, trial: (0.5 + trial % 2 / 50) if named(case) == "first" else 0.1,
    )
    assert [(one.pair and one.pair.name, one.trials) for one in found.table] == [
        ("second", 20),
        ("first", 4),
    ]


def test_between_equals_the_simpler_is_taken_and_the_reason_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second is better by 0.001 on average, of which the standard error is about 0.02."""
    found = choose(
        monkeypatch,
        lambda case, _, trial: 0.3 + (trial % 2 * 0.2 - 0.1 if named(case) == "first" else -0.001),
    )
    assert found.pair == FIRST
    assert "simpler" in found.reason


def test_a_calibration_as_published_is_never_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    published = Pipeline("paper", "two-layer", published=True)
    with pytest.raises(UsageError, match="paper does not keep epsilon 1 per answer"):
        choose(monkeypatch, lambda *_: 0.1, [published])


def test_a_pair_beyond_the_target_is_never_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    loose = Pipeline("loose", "randomized-response", delta=0.3)
    with pytest.raises(UsageError, match="loose does not keep"):
        choose(monkeypatch, lambda *_: 0.1, [loose])


@pytest.mark.parametrize("unit", list(Unit))
def test_what_is_recommended_keeps_what_was_asked_for(unit: Unit) -> None:
    found = recommend(
        SMALL.domain, unit, 2.0, 0.0, answers_per_worker=12, workers=8, tasks=24, trials=19
    )
    assert found.policy.calibration is Calibration.SOUND
    assert keeps(found.policy, Target(2.0, unit, answers=12))
    assert found.forecast.trials == 19
    assert found.forecast.band is not None
    assert {one.pair.name for one in found.table if one.pair} == {
        "randomized-response",
        "subset-selection",
    }


def test_a_recommendation_is_found_again_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> recommendation.Recommendation:
        return recommend(Domain.categorical("ab"), Unit.ANSWER, 1.0, 0.0, 6, 6, 12, trials=19)

    first = ask()

    def never(*_: object) -> float:
        raise AssertionError("simulated again")

    monkeypatch.setattr(TrialCase, "error", never)
    assert ask() == first
    with pytest.raises(AssertionError):
        recommend(Domain.categorical("ab"), Unit.ANSWER, 1.0, 0.0, 6, 7, 12, trials=19)


def test_a_large_campaign_is_simulated_smaller_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    def error(case: TrialCase, seed: int, trial: int) -> float:
        sizes.append(case.scenario.cells)
        return 0.2

    monkeypatch.setattr(TrialCase, "error", error)
    found = recommend(Domain.categorical("ab"), Unit.ANSWER, 1.0, 0.0, 50, 40_000, 100_000)
    assert max(sizes) < 110_000
    assert "a smaller one was simulated" in found.reason
    assert found.policy.promise is not None
    assert found.policy.promise.answers == 50


def test_numbers_are_recommended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        TrialCase, "error", lambda case, *_: 1.0 if named(case) == "piecewise" else 2.0
    )
    found = recommend(Domain.numeric(0, 10), Unit.ANSWER, 1.0, 0.0, 5, 10, 20)
    assert found.policy.name == "piecewise"
    assert "mean error 1" in found.reason


def test_ordinal_labels_are_not_recommended_what_leads_to_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(TrialCase, "error", lambda *_: 0.2)
    scenario = Scenario(Domain.ordinal(range(3)), 8, 6, 4, hide_participation=True)
    with Runner(cache=False) as runner:
        found = recommended(runner, scenario, Target(4.0), 19)
    assert "matrix-factorization" not in [one.pair.name for one in found.table if one.pair]


@pytest.mark.parametrize(
    ("epsilon", "delta", "words"), [(0.0, 0.0, "epsilon"), (1.0, 1.0, "delta"), (-1.0, 0, "eps")]
)
def test_what_cannot_be_promised_is_refused(epsilon: float, delta: float, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        recommend(SMALL.domain, Unit.ANSWER, epsilon, delta, 5, 5, 10)
