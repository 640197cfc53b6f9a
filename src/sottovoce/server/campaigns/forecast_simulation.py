"""Simulates campaigns for a forecast, as the service would run them, with seeded workers.

It runs in its own process, which reads and changes nothing.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from sottovoce.api.infer import infer
from sottovoce.api.infer_opened import infer_opened, sum_answers
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import SottovoceError
from sottovoce.mechanisms.codes import answer_cells, report_table
from sottovoce.mechanisms.policies import Target, make_policy, mechanism_of, simplest_mechanism
from sottovoce.model import Policy, Reports
from sottovoce.planning.forecast import Forecast, constant_error
from sottovoce.planning.pipelines import AWARE
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trial_runner import seeds_of
from sottovoce.planning.trials import error_of
from sottovoce.server.campaigns.forecasts import Outlook, Question
from sottovoce.server.campaigns.guarantees import (
    calibrated_policy,
    devices_of,
    guarantees_of,
    works_in_browser,
)
from sottovoce.server.child_process import answer_all

TRIALS = 20
"""The number of simulated campaigns: 19 are the fewest that give a band."""

SEED = 0
"""One seed for all questions: neighbours on a slider differ by their privacy, not by chance."""

MOST_LABELS, MOST_NUMBERS = 2_000, 1_000
"""The most reports of a simulated campaign, so that a forecast takes about a second."""

NOISELESS = 30.0
"""At this epsilon one report in 10¹² is not the answer: the baseline for the cost of privacy.

Raw answers would be read by another method, which is sometimes worse.
"""

LEAST_TASKS = 20
"""With fewer tasks the accuracy is too coarse, so fewer workers are simulated instead."""


def outlook(question: Question) -> Outlook:
    """The forecast of a question; deterministic. May take seconds."""
    chosen: dict[str, Any] = {"mechanism": question.mechanism, "parameters": question.parameters}
    policy = calibrated_policy(question.domain, question.target, **chosen)
    devices = devices_of(policy, question.block)
    # A campaign that all devices refuse opens only for workers who have raised their budgets.
    answered = devices.answered or question.block
    asked = Scenario(question.domain, question.tasks, question.workers, answered, question.ability)
    scenario = bounded(asked)
    noisy = _simulated(scenario, policy)
    # Without privacy no budget stops a worker.
    clean, constant = _bounds(bounded(replace(asked, answers_per_worker=question.block)))
    numeric = question.domain.is_numeric
    return Outlook(
        score="mean error" if numeric else "accuracy",
        expected=_score(noisy.error, numeric),
        band=_band(noisy, numeric),
        trials=TRIALS,
        clean=_score(clean, numeric),
        constant=_score(constant, numeric),
        policy=policy,
        kept=guarantees_of(policy),
        devices=devices,
        in_browser=works_in_browser(policy),
        notes=_notes(question, asked, scenario, devices.answered),
    )


def bounded(scenario: Scenario) -> Scenario:
    """A smaller campaign for a quick simulation: as many reports per task, on fewer tasks.

    If too few tasks would be left for a meaningful accuracy, the number of workers is reduced too.
    """
    most = MOST_NUMBERS if scenario.domain.is_numeric else MOST_LABELS
    if scenario.cells <= most:
        return scenario
    smaller = scenario.smaller(most)
    tasks = min(scenario.tasks, max(smaller.tasks, LEAST_TASKS))
    # A worker's answers determine its estimated ability, so their number is kept.
    answers = min(scenario.answers_per_worker, tasks)
    per_task = min(scenario.answers_per_task, most / tasks)
    workers = max(1, round(per_task * tasks / answers))
    return replace(scenario, tasks=tasks, answers_per_worker=answers, workers=workers)


@lru_cache(maxsize=64)
def _bounds(scenario: Scenario) -> tuple[float, float]:
    """The errors without noise and without workers; cached: a slider does not change them."""
    domain = scenario.domain
    nearly = Target(NOISELESS, answers=scenario.answers_per_worker)
    noiseless = make_policy(domain, simplest_mechanism(domain), nearly)
    return _simulated(scenario, noiseless).error, constant_error(scenario, TRIALS, SEED)


def _simulated(scenario: Scenario, policy: Policy) -> Forecast:
    errors = (_trial(scenario, policy, *seeds_of(SEED, trial)) for trial in range(TRIALS))
    return Forecast(None, None, tuple(errors))


def _trial(scenario: Scenario, policy: Policy, for_answers: int, for_noise: int) -> float:
    """The error of one campaign: every worker reports on the tasks it gets, and on no other.

    A table's `perturb` with hidden participation would report on all tasks.
    """
    answers, truths = scenario.draw(for_answers)
    if policy.sealed:
        opened = sum_answers(answers, policy, SeededRandomness(for_noise))
        return error_of(infer_opened(opened), truths)
    reports = _reports(answers, policy, SeededRandomness(for_noise))
    found = infer(reports, AWARE, policy=policy, compiled=True, ties="random", seed=for_noise)
    return error_of(found, truths)


def _reports(answers: Reports, policy: Policy, randomness: SeededRandomness) -> Reports:
    mechanism = mechanism_of(policy)
    cells = answer_cells(answers, policy.domain)
    private = mechanism.draw(len(cells.workers), randomness)
    reports = mechanism.perturb(cells, private, randomness)
    return report_table(reports, mechanism.alphabet, policy.domain, simulated=True)


def _score(error: float, numeric: bool) -> float:
    return error if numeric else 1 - error


def _band(forecast: Forecast, numeric: bool) -> tuple[float, float]:
    band = forecast.band
    assert band is not None  # noqa: S101 - there are enough trials
    low, high = sorted(_score(end, numeric) for end in band)
    return low, high


def _notes(
    question: Question, asked: Scenario, scenario: Scenario, answered: int
) -> tuple[str, ...]:
    """The assumptions and simplifications."""
    notes = [f"{asked.crowd.sentence(question.domain).capitalize()}."]
    if question.target.hide_participation:
        notes.append("Every worker is assumed to answer all tasks it gets.")
    if answered < question.block:
        says = f"answers {answered:,} tasks, as the default budget of its device allows"
        notes.append(f"Every worker {says if answered else 'has raised the budget of its device'}.")
    if scenario != asked:
        notes.append(
            f"Simulated with {scenario.tasks:,} tasks and {scenario.workers:,} workers, "
            f"{scenario.answers_per_task:,.0f} answers per task: the band of the whole campaign "
            "is narrower."
        )
    if scenario.answers_per_task < 0.9 * asked.answers_per_task:
        notes.append(
            f"The campaign would have {asked.answers_per_task:,.0f} answers per task, and "
            "would be more accurate."
        )
    return tuple(notes)


def main() -> None:
    """Answer the parent's requests until it exits."""
    answer_all(lambda _: _answer)


def _answer(asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    try:
        found = outlook(Question.parse(asked["question"]))
    except SottovoceError as error:
        return {"refused": str(error)}, b""
    except (ArithmeticError, ValueError, MemoryError) as error:
        return {"failed": type(error).__name__}, b""
    return {**asdict(found), "policy": found.policy.text()}, b""
