"""Plans with and without keyholders: the choice follows the predicted error."""

from __future__ import annotations

import pytest

from sottovoce import recommend
from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, sealed_of
from sottovoce.model import Domain, Kind, Unit
from sottovoce.planning.crowds import Assumption
from sottovoce.planning.forecast import simulate
from sottovoce.planning.pipelines import Pipeline, Ways
from sottovoce.planning.recommendation import Recommendation
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import TrialCase

LABELS = Domain.categorical(["no", "yes"])


def recommended(
    epsilon: float, ability: Assumption, workers: int = 40, ways: Ways = "any"
) -> Recommendation:
    return recommend(
        LABELS, Unit.ANSWER, epsilon, 0.0, 30, workers, 40, ability=ability, ways=ways,
        trials=19, cache=False,
    )  # fmt: skip


def told(monkeypatch: pytest.MonkeyPatch, sealed: float, local: float) -> None:
    """Make trials return these errors."""

    def error(case: TrialCase, _: int, trial: int) -> float:
        assert case.pair is not None
        return (sealed if case.pair.sealed else local) + trial / 1000

    monkeypatch.setattr(TrialCase, "error", error)


def test_what_is_sealed_says_what_it_needs_and_what_is_best_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told(monkeypatch, sealed=0.1, local=0.2)
    found = recommended(1.0, "able")
    assert found.pair.sealed
    assert sealed_of(found.policy).keyholders == ()
    assert found.local is not None
    assert found.local.trials == 19
    assert "needs 3 keyholders, of whom at most one colludes" in found.reason
    assert "Without keyholders the best is randomized-response (accuracy 0.791" in found.reason


def test_keyholders_are_not_asked_for_where_they_do_not_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told(monkeypatch, sealed=0.2, local=0.2)
    found = recommended(1.0, "able")
    assert found.pair.name == "randomized-response"
    assert found.local is None
    assert "keyholders" not in found.reason


@pytest.mark.parametrize(("ways", "sealed"), [("local", False), ("sealed", True)])
def test_one_way_can_be_asked_for(
    ways: Ways, sealed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(monkeypatch, sealed=0.2, local=0.2)
    found = recommended(1.0, "able", ways=ways)
    assert [one.pair.sealed for one in found.table if one.pair] == [sealed]
    assert found.local is None


def test_too_few_workers_are_not_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, sealed=0.1, local=0.2)
    assert not recommended(0.7, "able", workers=9).pair.sealed
    with pytest.raises(UsageError, match="opened for 10 or more workers"):
        recommended(0.7, "able", workers=9, ways="sealed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "ability", "sealed"), [(0.7, "able", True), (4.0, "mixed", False)]
)
def test_alike_workers_are_better_sealed_and_unlike_ones_better_told_apart(
    epsilon: float, ability: Assumption, sealed: bool
) -> None:
    assert recommended(epsilon, ability).pair.sealed == sealed


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("domain", [LABELS, Domain.ordinal(range(4)), Domain.numeric(0, 10)])
def test_sealed_pairs_are_simulated_on_every_domain(domain: Domain, hidden: bool) -> None:
    scenario = Scenario(domain, 12, 40, 12, "able", hide_participation=hidden)
    [found] = simulate(
        scenario, [Pipeline("sealed-sum", "sealed-sum")], [Target(2.0)], trials=4, cache=False
    )
    assert found.error < (1.0 if domain.kind is Kind.NUMERIC else 0.25)
