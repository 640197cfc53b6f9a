"""Whether noised rounds that weight workers' answers reduce the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Codes, Domain, FloatArray, Reports
from sottovoce.planning.crowds import Assumption, Crowd
from sottovoce.planning.scenario import Scenario
from sottovoce.planning.trials import trial_seed
from sottovoce.securesum.em.noise_calibration import calibrated, default_honest
from sottovoce.securesum.em.posteriors import guess, posterior_of_rounds
from sottovoce.securesum.em.sensitivity import NoisedSlots
from sottovoce.securesum.em.terms import EMTerms, Law
from sottovoce.securesum.em.weights import GRID, weights

MOST_ROUNDS = 3
"""More weighted rounds than this never reduced the error."""

TRIALS = 12

MOST_TASKS, MOST_ANSWERS = 300, 40_000
"""Larger sessions are simulated on fewer tasks, with as many answers per task."""

SURE = 2.0
"""Standard errors by which one more round must be better: its noise and time are certain."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The number of weighted rounds to use, and the predicted share of wrong labels for each.

    `errors[r]` is for r weighted rounds, as far as noise for them can be drawn; `sealed` is that of
    a sealed campaign, whose keyholders open one noised count.
    """

    rounds: int
    errors: tuple[float, ...]
    sealed: float
    reason: str


def weighted_rounds_that_pay(
    workers: int,
    tasks: int,
    answers_per_task: float,
    epsilon: float,
    delta: float,
    *,
    labels: int = 2,
    ability: Assumption | Crowd = "mixed",
    honest: int | None = None,
    trials: int = TRIALS,
    seed: int = 0,
) -> Decision:
    """The fewest weighted rounds that are not clearly worse than any other number, up to 3.

    Each number is tried on the same simulated sessions, with the same draws of noise, at the same
    guarantee per answer: the information of one more round about the workers, against the noise it
    adds to the others. Truths are found as in a session, except that the first votes are read by
    their lead.

    >>> weighted_rounds_that_pay(20, 100, 10, 1.0, 1e-6).rounds
    0
    """
    scenario = _scenario(workers, tasks, answers_per_task, labels, ability)
    counted = default_honest(workers) if honest is None else honest
    terms = _terms(tasks, scenario.domain, epsilon, delta, counted)
    seeds = [trial_seed(seed, trial) for trial in range(trials)]
    drawn = [scenario.draw(each) for each in seeds]
    found, sealed = [], []
    for number, (table, truths) in zip(seeds, drawn, strict=True):
        found.append([_error(_session(table, each, number), truths) for each in terms])
        sealed.append(_error(_campaign(table, epsilon, number), truths))
    errors = np.array(found)
    rounds = _fewest(errors)
    means = tuple(float(mean) for mean in errors.mean(axis=0))
    return Decision(rounds, means, float(np.mean(sealed)), _reason(rounds, means, epsilon))


def _scenario(
    workers: int,
    tasks: int,
    answers_per_task: float,
    labels: int,
    ability: Assumption | Crowd,
) -> Scenario:
    """The session, or a smaller one with as many answers per task."""
    if not 0 < answers_per_task <= workers:
        raise UsageError(
            f"answers_per_task must be above 0 and at most the {workers:,} workers, not "
            f"{answers_per_task:g}"
        )
    fewer = min(tasks, MOST_TASKS, max(20, int(MOST_ANSWERS / answers_per_task)))
    each = min(max(round(answers_per_task * fewer / workers), 1), fewer)
    domain = Domain.categorical([str(label) for label in range(labels)])
    return Scenario(domain, fewer, workers, each, ability)


def _terms(tasks: int, domain: Domain, epsilon: float, delta: float, honest: int) -> list[EMTerms]:
    """The terms with 0, 1, … weighted rounds, as long as noise for them can be drawn."""
    names = [str(task) for task in range(tasks)]
    labels = [str(label) for label in domain.labels]
    found: list[EMTerms] = []
    for rounds in range(MOST_ROUNDS + 1):
        try:
            found.append(
                calibrated(names, labels, epsilon, delta, honest=honest, weighted_rounds=rounds)
            )
        except UsageError:
            if not found:
                raise
            break
    return found


def _session(table: Reports, terms: EMTerms, seed: int) -> FloatArray:
    """The posteriors of one simulated session."""
    slots, labels = NoisedSlots(terms), len(terms.labels)
    workers = len(table.workers)
    answers = np.bincount(table.worker, minlength=workers)
    weight, sums, noise = np.ones(workers), [], []
    posterior = np.empty((0, labels))
    for number, variance in enumerate(slots.variances(workers).tolist()):
        votes = _votes(table, weight[table.worker])
        drawn = _noise(slots, number, workers, votes.shape, seed)
        sums.append(_lead(votes) / 2 + drawn / 2 if labels == 2 else votes + drawn)
        noise.append(variance / 2 if labels == 2 else variance)
        before = posterior if number else guess(sums[0])
        posterior = posterior_of_rounds(np.stack(sums, axis=2), np.array(noise), before)
        chances = np.rint(posterior[table.task, table.value] * GRID)
        agreed = np.bincount(table.worker, chances, workers).astype(np.int64)
        weight = weights(agreed, answers, labels, terms.scale) / terms.scale
    return posterior


def _campaign(table: Reports, epsilon: float, seed: int) -> FloatArray:
    """The posteriors of a sealed campaign on the same answers."""
    labels = table.domain.size
    sealed = SealedSum.calibrated(table.domain, epsilon)
    votes = _votes(table, np.ones(len(table)))
    rng = np.random.default_rng([seed, 0])
    variance = sealed.variances[0]
    if labels == 2:
        # One count is noised, and the number of answers is known: half the lead moves with it.
        drawn = _laplace(rng, len(votes), np.sqrt(variance / 2), 1.0)[:, np.newaxis] * [-1, 1]
        sums, noise = _lead(votes) / 2 + drawn, 2 * variance
    else:
        drawn = _laplace(rng, votes.size, np.sqrt(variance / 2), 1.0).reshape(votes.shape)
        sums, noise = votes + drawn, variance
    return posterior_of_rounds(sums[:, :, np.newaxis], np.array([noise]), guess(sums))


def _noise(
    slots: NoisedSlots, number: int, workers: int, shape: tuple[int, ...], seed: int
) -> FloatArray:
    """The noise of all workers in a round, in votes: the opened amount, drawn as real numbers."""
    each, rng = slots.noise.rounds[number], np.random.default_rng([seed, number])
    tasks, labels = shape
    count = tasks if labels == 2 else tasks * labels
    if each.law is Law.LAPLACE:
        size = float(each.size) / slots.unit(number)
        drawn = _laplace(rng, count, size, workers / slots.noise.honest)
    else:
        drawn = rng.standard_normal(count) * np.sqrt(slots.variances(workers)[number])
    return drawn[:, np.newaxis] * [-1, 1] if labels == 2 else drawn.reshape(-1, labels)


def _laplace(rng: np.random.Generator, count: int, size: float, shape: float) -> FloatArray:
    """The difference of two gamma variables: Laplace noise if the shape is 1."""
    return np.asarray(size * (rng.gamma(shape, size=count) - rng.gamma(shape, size=count)))


def _lead(votes: FloatArray) -> FloatArray:
    """The lead of each of two labels."""
    return votes - votes[:, ::-1]


def _votes(table: Reports, weight: FloatArray) -> FloatArray:
    """The weight of the answers to each task that give each label."""
    tasks, labels = len(table.tasks), table.domain.size
    cells = table.task.astype(np.int64) * labels + table.value
    found: FloatArray = np.bincount(cells, weight, tasks * labels).astype(np.float64)
    return found.reshape(tasks, labels)


def _error(posterior: FloatArray, truths: Codes) -> float:
    return float(np.mean(posterior.argmax(axis=1) != truths))


def _fewest(errors: FloatArray) -> int:
    """The fewest rounds that no other number beats by more than chance explains."""
    trials, numbers = len(errors), int(errors.shape[1])
    for fewer in range(numbers):
        excess = errors[:, [fewer]] - errors[:, fewer + 1 :]
        spread = excess.std(axis=0, ddof=1) / np.sqrt(trials)
        if not (excess.mean(axis=0) > SURE * spread).any():
            return fewer
    return numbers - 1


def _reason(rounds: int, errors: Sequence[float], epsilon: float) -> str:
    wrong = [f"{100 * error:.1f} %" for error in errors]
    if len(errors) == 1:
        return (
            f"noise for weighted rounds is too wide to draw at epsilon {epsilon:g} and this delta"
        )
    if rounds == 0:
        tried = ", ".join(f"{wrong[r]} with {r}" for r in range(1, len(wrong)))
        return (
            f"one noised count is expected to get {wrong[0]} of the labels wrong, weighted rounds "
            f"{tried}: at epsilon {epsilon:g} none of them is clearly better"
        )
    return (
        f"{rounds} weighted {'round is' if rounds == 1 else 'rounds are'} expected to get "
        f"{wrong[rounds]} of the labels wrong, one noised count alone {wrong[0]}: weighting pays"
    )
