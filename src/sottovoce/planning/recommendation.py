"""The best pair at a target guarantee, chosen by simulation, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sottovoce.errors import UsageError
from sottovoce.mechanisms.affordability import Affordability, affordability
from sottovoce.mechanisms.policies import Target, mechanism_of, sealed_of
from sottovoce.model import Alphabet, Domain, Policy, UnitName
from sottovoce.model.budget import DEFAULT_BUDGET, Budget
from sottovoce.model.display import SHOWN, Display, Displayed
from sottovoce.planning.crowds import Assumption, Crowd
from sottovoce.planning.forecast import (
    Forecast,
    band_words,
    check_trials,
    forecasts,
    reason_of,
    score_name,
    score_words,
    sealed_words,
)
from sottovoce.planning.pipelines import Pipeline, Ways, candidates, keeps, target_of
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Progress, Runner, TrialCase

TRIALS = 20
"""Simulated campaigns for each pair that is not clearly worse than another."""

FEWEST_SEALED = 10
"""Keyholders open nothing with fewer contributions, unless the policy sets another minimum."""

CLEARLY = {4: 4.5, 6: 3.4, 10: 2.8}
"""Numbers of trials, and the excess in standard errors at which a pair is clearly worse.

An equally good pair exceeds it once in some 100 times: by Student's law, which allows for standard
errors of few trials. The best one of several equally good ones is left in any case.
"""


FINALISTS = 3
"""The most pairs that are tried in all trials: the best ones after the last early stage."""


@dataclass(frozen=True, slots=True, repr=False)
class Recommendation(Displayed):
    """The chosen pair, its policy, its forecast, and the results of the others.

    `table` has every pair that was tried, best first; those dropped early have fewer trials. If the
    pair is sealed, `local` is the best one that needs no keyholders, if one was tried, and the
    policy is a plan: a campaign's policy also names the keyholders and the server's key. `devices`
    is what workers' devices afford of it: the forecast is for the answers that they send.
    """

    pair: Pipeline
    policy: Policy
    forecast: Forecast
    table: tuple[Forecast, ...]
    reason: str
    local: Forecast | None = None
    devices: Affordability | None = None

    def _display(self) -> Display:
        domain = self.policy.domain
        rows = tuple(
            (_pair(one).name, score_words(domain, one.error), band_words(domain, one), one.trials)
            for one in self.table[:SHOWN]
        )
        facts = (("promise", str(self.policy.promise)), ("reason", self.reason))
        columns = ("mechanism", score_name(domain), "band", "trials")
        return Display(f"Recommendation: {self.pair.name}", facts, columns, rows, len(self.table))


def recommend(
    domain: Domain,
    unit: UnitName,
    epsilon: float,
    delta: float,
    answers_per_worker: int,
    workers: int,
    tasks: int,
    *,
    ability: Assumption | Crowd = "mixed",
    hide_participation: bool = False,
    ways: Ways = "any",
    budget: Budget | None = DEFAULT_BUDGET,
    trials: int = TRIALS,
    seed: int = 0,
    jobs: int = 1,
    cache: bool = True,
    progress: Progress | None = None,
) -> Recommendation:
    """The pair with the smallest simulated error within a guarantee of (epsilon, delta) per unit.

    Every pair that can keep the target is tried on the same simulated campaigns. Calibrations as
    published are never among them. `ways` restricts them to those whose answers are randomised on
    the device ("local"), or those that need keyholders ("sealed"). Devices answer no more tasks
    than their `budget` allows, None for no limit; what they all refuse is refused. `jobs` above 1
    starts processes; a script then needs the usual `if __name__ == "__main__"`.
    """
    scenario = Scenario(domain, tasks, workers, answers_per_worker, ability, hide_participation)
    with Runner(seed, jobs=jobs, cache=cache, progress=progress) as runner:
        return recommended(runner, scenario, Target(epsilon, unit, delta), trials, ways, budget)


def recommended(
    runner: Runner,
    scenario: Scenario,
    target: Target,
    trials: int = TRIALS,
    ways: Ways = "any",
    budget: Budget | None = DEFAULT_BUDGET,
) -> Recommendation:
    """The same for a scenario, with a runner that may have run some of it before."""
    check_trials(trials)
    target = target_of(scenario, target)
    pairs = _pairs(scenario, target, ways)
    devices = _affordable(scenario, pairs, target, budget)
    pairs = [pair for pair in pairs if pair.name in devices]
    # The policy is that of the whole campaign, even if a smaller one is simulated.
    cases = [
        TrialCase(_cut(scenario, devices[pair.name]).smaller(), pair, target) for pair in pairs
    ]
    table = _tried(runner, cases, trials)
    forecast = _chosen([one for one in table if one.trials == trials], pairs)
    pair = _pair(forecast)
    policy = pair.policy(scenario.domain, target)
    _check(pair, policy, target)
    local = _best_local(runner, cases, table, trials) if pair.sealed else None
    held = devices[pair.name]
    asked = _cut(scenario, held)
    reason = reason_of(forecast, table, asked, asked.smaller())
    if pair.sealed:
        reason = f"{reason} {sealed_words(scenario.domain, sealed_of(policy), local)}"
    return Recommendation(pair, policy, forecast, table, reason, local, held)


def affordable(scenario: Scenario, one: Recommendation) -> Scenario:
    """The scenario with as many answers per worker as devices afford."""
    return _cut(scenario, one.devices)


def _cut(scenario: Scenario, devices: Affordability | None) -> Scenario:
    if devices is None or devices.answered >= scenario.answers_per_worker:
        return scenario
    return replace(scenario, answers_per_worker=devices.answered)


def _affordable(
    scenario: Scenario, pairs: Sequence[Pipeline], target: Target, budget: Budget | None
) -> dict[str, Affordability | None]:
    """The affordability of each pair; pairs that devices refuse are left out."""
    if budget is None:
        return {pair.name: None for pair in pairs}
    found = {
        pair.name: affordability(pair.policy(scenario.domain, target), target.answers, budget)
        for pair in pairs
    }
    taken = {name: one for name, one in found.items() if one.answered}
    if not taken:
        raise UsageError(f"at epsilon {target.epsilon:g}: {next(iter(found.values())).warning}")
    return dict(taken)


def _pairs(scenario: Scenario, target: Target, ways: Ways) -> list[Pipeline]:
    """The pairs to try for a scenario."""
    pairs = [
        pair
        for pair in candidates(scenario.domain, target, ways)
        if scenario.domain.is_numeric or not _leads_to_numbers(pair, scenario.domain, target)
        if not pair.sealed or scenario.workers >= FEWEST_SEALED
    ]
    if pairs:
        return pairs
    if ways == "sealed" and scenario.workers < FEWEST_SEALED:
        raise UsageError(
            f"sealed answers are opened for {FEWEST_SEALED} or more workers, not for "
            f"{scenario.workers}: plan more workers or another way"
        )
    raise UsageError(
        f"no mechanism keeps epsilon {target.epsilon:g} per {target.unit} for "
        f"{scenario.domain} answers: ask for a larger epsilon or another domain"
    )


def _leads_to_numbers(pair: Pipeline, domain: Domain, target: Target) -> bool:
    """Whether reports are numbers off the grid, from which no ordinal labels can be inferred."""
    if pair.sealed:
        return False
    return mechanism_of(pair.policy(domain, target)).alphabet is Alphabet.NUMBERS


def _best_local(
    runner: Runner, cases: Sequence[TrialCase], table: Sequence[Forecast], trials: int
) -> Forecast | None:
    """The best pair without keyholders, with all trials; None if none was tried."""
    local = [one for one in table if not _pair(one).sealed]
    if not local:
        return None
    least = min(one.trials for one in local)
    best = min(local, key=lambda one: sum(one.errors[:least]))
    runner.expect(trials - best.trials)
    [found] = forecasts(runner, [case for case in cases if case.pair == best.pair], trials)
    return found


def _tried(runner: Runner, cases: Sequence[TrialCase], trials: int) -> tuple[Forecast, ...]:
    """Every case, best first: a few trials for all, the rest for the best that are left."""
    runner.expect(trials * len(cases))
    left, dropped = list(cases), list[Forecast]()
    for stage, limit in CLEARLY.items():
        if len(left) == 1:
            break
        found = forecasts(runner, left, stage)
        best = min(found, key=lambda one: one.error)
        last = _by_error(found)[:FINALISTS] if stage == max(CLEARLY) else found
        worse = [_clearly_worse(one, best, limit) or one not in last for one in found]
        dropped += [one for one, is_worse in zip(found, worse, strict=True) if is_worse]
        left = [case for case, is_worse in zip(left, worse, strict=True) if not is_worse]
        runner.expect((stage - trials) * sum(worse))
    final = forecasts(runner, left, trials)
    return (*_by_error(final), *_by_error(dropped))


def _by_error(found: Sequence[Forecast]) -> list[Forecast]:
    return sorted(found, key=lambda one: one.error)


def _clearly_worse(one: Forecast, best: Forecast, limit: float) -> bool:
    excess, standard_error = one.difference(best)
    return excess > limit * standard_error


def _chosen(finalists: Sequence[Forecast], pairs: Sequence[Pipeline]) -> Forecast:
    """The simplest of those within one standard error of the best."""
    best = min(finalists, key=lambda one: one.error)
    near = [one for one in finalists if _within_one(one, best)]
    return min(near, key=lambda one: pairs.index(_pair(one)))


def _within_one(one: Forecast, best: Forecast) -> bool:
    excess, standard_error = one.difference(best)
    return excess <= standard_error


def _pair(forecast: Forecast) -> Pipeline:
    if forecast.pair is None:
        raise UsageError("answers without a mechanism keep no guarantee")
    return forecast.pair


def _check(pair: Pipeline, policy: Policy, target: Target) -> None:
    """A final check that the recommendation keeps the target."""
    if pair.published or policy.promise is None or not keeps(policy, target):
        raise UsageError(f"{pair.name} does not keep epsilon {target.epsilon:g} per {target.unit}")
