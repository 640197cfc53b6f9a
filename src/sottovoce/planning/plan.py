"""A plan: the recommendation at each guarantee, its forecast, and the requirements of a goal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.mechanisms.policies import Target, release_of, weakest_guarantee
from sottovoce.model import Domain, Unit, UnitName
from sottovoce.model.budget import DEFAULT_BUDGET, Budget
from sottovoce.model.display import SHOWN, Display, Displayed
from sottovoce.model.guarantee import rounded_up
from sottovoce.planning.forecast import (
    Forecast,
    band_words,
    constant_error,
    forecasts,
    scaled_words,
    score_name,
    score_of,
    score_words,
)
from sottovoce.planning.pipelines import Ways, target_of
from sottovoce.planning.recommendation import TRIALS, Recommendation, affordable, recommended
from sottovoce.planning.requirements import Needed, epsilon_needed, workers_needed
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import Progress, Runner, TrialCase
from sottovoce.planning.trials import BAND


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Displayed):
    """A recommendation for each target, with the best constant and the result without privacy.

    `constant` is the error of the best constant, `clean` that of the answers themselves. `goal` is
    the error to reach, and `needed` what reaches it: an epsilon, and workers at each target, with
    as many tasks each as their devices afford.
    """

    scenario: Scenario
    targets: tuple[Target, ...]
    recommendations: tuple[Recommendation, ...]
    clean: Forecast
    constant: float
    goal: float | None
    needed: tuple[Needed, ...]

    def _display(self) -> Display:
        columns, rows = tuple(plan_columns(self)), plan_rows(self)
        title = f"Plan: {plan_title(self)}"
        return Display(title, (), columns, tuple(map(tuple, rows[:SHOWN])), len(rows))

    def notes(self) -> list[str]:
        """All assumptions, in sentences."""
        scenario, target = self.scenario, self.targets[0]
        whole = f" for a worker's {target.answers:,} reports" if target.unit is Unit.WORKER else ""
        return [
            f"simulated: {self.clean.trials} campaigns for each figure; one campaign is within "
            f"its band in {100 * BAND:g} % of cases, if the assumptions hold",
            f"the guarantee is per {target.unit}{whole}, delta {target.delta:g}"
            + ("; participation is hidden too" if scenario.hide_participation else ""),
            scenario.crowd.sentence(scenario.domain),
            f"every worker answers {scenario.answers_per_worker:,} random tasks, so a task has "
            f"{scenario.answers_per_task:.3g} answers on average and some may have none",
            *filter(None, [scaled_words(scenario, scenario.smaller())]),
            *filter(None, map(_cut_words, self.recommendations)),
            *(_useless(one) for one in self.recommendations if _learns_little(one, self.constant)),
        ]

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON data."""
        domain, clean = self.scenario.domain, self.clean
        return {
            "tasks": self.scenario.tasks,
            "workers": self.scenario.workers,
            "answers_per_worker": self.scenario.answers_per_worker,
            "hide_participation": self.scenario.hide_participation,
            "unit": str(self.targets[0].unit),
            "delta": self.targets[0].delta,
            "score": score_name(domain),
            "simulated": True,
            "plans": [_row(domain, one) for one in self.recommendations],
            "clean": _forecast(domain, clean),
            "best_constant": score_of(domain, self.constant),
            "goal": None if self.goal is None else score_of(domain, self.goal),
            "needed": [_needed(domain, one) for one in self.needed],
            "notes": self.notes(),
        }


def plan(
    scenario: Scenario,
    epsilons: Sequence[float],
    *,
    unit: UnitName = Unit.ANSWER,
    delta: float = 0.0,
    goal: float | None = None,
    ways: Ways = "any",
    budget: Budget | None = DEFAULT_BUDGET,
    trials: int = TRIALS,
    seed: int = 0,
    jobs: int = 1,
    cache: bool = True,
    progress: Progress | None = None,
) -> Plan:
    """The forecast of a campaign at each epsilon, by simulation.

    `goal` is a score to reach: an accuracy for labels, a mean error for numbers. It is reached when
    the mean is beyond it by two standard errors. `ways` is how answers may leave a device, as in
    `recommend`, and `budget` what a worker's device allows in total: it answers no more tasks than
    that, and a plan that all devices refuse is refused. `jobs` above 1 starts processes; a script
    then needs the usual `if __name__ == "__main__"`.
    """
    targets = _targets(scenario, epsilons, unit, delta)
    error = None if goal is None else _error(scenario.domain, goal)
    with Runner(seed, jobs=jobs, cache=cache, progress=progress) as runner:
        found = tuple(
            recommended(runner, scenario, target, trials, ways, budget) for target in targets
        )
        runner.expect(trials)
        [clean] = forecasts(runner, [TrialCase(scenario.smaller())], trials)
        needed = (
            () if error is None else _all_needed(runner, scenario, found, error, trials, budget)
        )
    constant = constant_error(scenario.smaller(), trials, seed)
    return Plan(scenario, targets, found, clean, constant, error, needed)


def _targets(
    scenario: Scenario, epsilons: Sequence[float], unit: UnitName, delta: float
) -> tuple[Target, ...]:
    if not epsilons:
        raise UsageError("a plan needs at least one epsilon")
    targets = (Target(epsilon, unit, delta) for epsilon in sorted(set(epsilons)))
    return tuple(target_of(scenario, target) for target in targets)


def _error(domain: Domain, goal: float) -> float:
    if domain.is_numeric:
        if not 0 < goal < domain.high - domain.low:
            raise UsageError(f"the target error must be above 0 and within the range, not {goal:g}")
        return goal
    if not 0 < goal < 1:
        hint = f"; for {goal:g} % write {goal / 100:g}" if 1 < goal < 100 else ""
        raise UsageError(f"the target accuracy must be above 0 and below 1, not {goal:g}{hint}")
    return 1 - goal


def _all_needed(
    runner: Runner,
    scenario: Scenario,
    found: Sequence[Recommendation],
    goal: float,
    trials: int,
    budget: Budget | None,
) -> tuple[Needed, ...]:
    """The smallest epsilon for the planned crowd, and the workers at each target."""
    near = min(found, key=lambda one: (one.forecast.error > goal, abs(one.forecast.error - goal)))
    epsilon = epsilon_needed(runner, scenario, near.pair, _target(near), goal, trials, budget)
    workers = (
        workers_needed(runner, affordable(scenario, one), one.pair, _target(one), goal, trials)
        for one in found
    )
    return (epsilon, *workers)


def _target(recommendation: Recommendation) -> Target:
    target = recommendation.forecast.target
    if target is None:
        raise UsageError("answers without a mechanism have no target")
    return target


def _cut_words(one: Recommendation) -> str:
    """A warning that devices do not answer all of their tasks, or nothing."""
    if one.devices is None or one.devices.warning is None:
        return ""
    return (
        f"at epsilon {_target(one).epsilon:g} the forecast is for the answers that devices send. "
        f"{one.devices.warning.rstrip('.')}"
    )


def total_epsilon(one: Recommendation) -> float:
    """The privacy loss of all answers that a device sends, per worker."""
    target = _target(one)
    answered = target.answers if one.devices is None else one.devices.answered
    return weakest_guarantee(release_of(one.policy), answered, Unit.WORKER, target.delta).epsilon


def _learns_little(one: Recommendation, constant: float) -> bool:
    return one.forecast.error + 2 * one.forecast.standard_error >= constant


def _useless(one: Recommendation) -> str:
    return (
        f"at epsilon {_target(one).epsilon:g} truths would be no better than the best constant: "
        "plan more workers, more answers or a larger epsilon"
    )


def _row(domain: Domain, one: Recommendation) -> dict[str, Any]:
    return {
        "epsilon": _target(one).epsilon,
        "total_epsilon": total_epsilon(one),
        "answered": None if one.devices is None else one.devices.answered,
        "warning": None if one.devices is None else one.devices.warning,
        "mechanism": one.pair.mechanism,
        "parameters": dict(one.pair.parameters),
        "sealed": one.pair.sealed,
        "method": one.pair.method,
        **_forecast(domain, one.forecast),
        "policy_hash": one.policy.hash,
        "reason": one.reason,
        "local": None if one.local is None else _tried(domain, one.local),
        "tried": [_tried(domain, each) for each in one.table],
    }


def _tried(domain: Domain, forecast: Forecast) -> dict[str, Any]:
    return {"name": forecast.pair.name if forecast.pair else None, **_forecast(domain, forecast)}


def _forecast(domain: Domain, forecast: Forecast) -> dict[str, Any]:
    band = forecast.band and sorted(score_of(domain, error) for error in forecast.band)
    return {
        "mean": score_of(domain, forecast.error),
        "standard_error": forecast.standard_error,
        "low": band[0] if band else None,
        "high": band[1] if band else None,
        "trials": forecast.trials,
    }


def _needed(domain: Domain, one: Needed) -> dict[str, Any]:
    target = one.forecast.target
    return {
        "question": one.question,
        "epsilon": target.epsilon if target and one.question != "epsilon" else None,
        "mechanism": one.forecast.pair.name if one.forecast.pair else None,
        "value": one.value,
        "answers_per_worker": one.each,
        "reached": one.value is not None,
        "at": one.at,
        "searched": list(one.searched),
        **_forecast(domain, one.forecast),
    }


def plan_title(made: Plan) -> str:
    """The title of the page and the figure."""
    scenario = made.scenario
    return (
        f"Forecast for {scenario.workers:,} workers, {scenario.answers_per_worker:,} answers "
        f"each, on {scenario.tasks:,} tasks"
    )


def plan_columns(made: Plan) -> list[str]:
    """The heads of the table."""
    score = score_name(made.scenario.domain)
    return ["epsilon", "per worker", "mechanism", score, f"{100 * BAND:g} % band"]


def plan_rows(made: Plan) -> list[list[str]]:
    """The recommendation at each epsilon; then clean answers and the best constant."""
    domain = made.scenario.domain
    shown = [
        [
            f"{target.epsilon:g}",
            rounded_up(total_epsilon(one), 3),
            one.pair.name,
            *_scores(made, one.forecast),
        ]
        for target, one in zip(made.targets, made.recommendations, strict=True)
    ]
    shown.append(["-", "-", "clean answers", *_scores(made, made.clean)])
    return [*shown, ["-", "-", "best constant", score_words(domain, made.constant), "-"]]


def _scores(made: Plan, forecast: Forecast) -> list[str]:
    domain = made.scenario.domain
    return [score_words(domain, forecast.error), band_words(domain, forecast)]
