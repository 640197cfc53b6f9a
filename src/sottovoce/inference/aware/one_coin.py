"""One accuracy a worker, seen through the channel: variational EM over a grid of accuracies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sottovoce.inference.aware.coins import CoinStates
from sottovoce.inference.aware.dirichlet import divergence, expected_logs
from sottovoce.inference.rounding import steady
from sottovoce.inference.steps.sets import KindCounts, SetCoins, SetCoinSums, SetPosteriors, Sets
from sottovoce.inference.steps.votes import softmax
from sottovoce.model import FloatArray
from sottovoce.seams import Engine

__all__ = ["CoinFit", "fit_coins"]

LEARNT = 0.1
"""The grid's first weights count as much as this share of the workers."""


class CoinFit(NamedTuple):
    """Where the rounds ended.

    `states[worker, z]` is each worker's posterior over states, `classes` the parameters of the
    Dirichlet posterior of the class shares, `bound` what ln P(reports) is at least, up to a
    constant of the channel.
    """

    states: FloatArray
    classes: FloatArray
    bound: float
    rounds: int
    converged: bool

    def odds(self, states: CoinStates) -> FloatArray:
        """exp E ln(likelihood with the truth in the set / without), by worker and kind."""
        return steady(np.exp(self.states @ (states.log_in - states.log_out)))

    def shares(self) -> FloatArray:
        """The expected share of each label among truths."""
        return np.asarray(self.classes / self.classes.sum())

    def posterior(self, engine: Engine, states: CoinStates, sets: Sets) -> FloatArray:
        """The posterior of every task."""
        prior = np.exp(expected_logs(self.classes))
        return engine.map(SetPosteriors(self.odds(states), prior, sets))


@dataclass(frozen=True, slots=True, eq=False)
class _Rounds:
    engine: Engine
    states: CoinStates
    sets: Sets
    counts: FloatArray


def fit_coins(
    engine: Engine,
    states: CoinStates,
    sets: Sets,
    concentration: FloatArray,
    *,
    max_rounds: int,
    tolerance: float,
) -> CoinFit:
    """Mean-field posteriors of truths, workers' states and class shares, in turns.

        E   P(truthⱼ = t) ∝ exp(E ln share[t]) Π exp(E ln P(set | t, stateₖ))
        M   P(stateₖ = z) ∝ weight[z] Π in[z]^agreement out[z]^(sets - agreement)
            shares ~ Dirichlet(concentration + expected tasks)
            weight ∝ Σₖ P(stateₖ = z) + m/10 · (first weight)

    Each raises the bound on ln P(reports), but for the last, which learns the weights and is held
    back by a tenth of the workers: free weights collapse when reports say little. Stops when the
    bound grows by less than `tolerance` a report.
    """
    counts = engine.total(KindCounts(len(engine.workers), sets))
    rounds = _Rounds(engine, states, sets, counts)
    workers, reports = len(engine.workers), float(counts.sum())
    weights = states.weights
    worker_states = np.tile(weights, (workers, 1))
    classes, before = concentration, -np.inf
    for turn in range(1, max_rounds + 1):
        used = CoinFit(worker_states, classes, before, turn, converged=True)
        sums = _pass(rounds, used)
        bound = _bound(rounds, used, sums, weights, concentration)
        if turn > 2 and bound - before < tolerance * reports:
            return used._replace(bound=bound)
        before = bound
        worker_states = _worker_states(rounds, sums, weights)
        weights = _learnt(worker_states, states.weights)
        classes = concentration + sums.tasks
    return CoinFit(worker_states, classes, before, max_rounds, converged=False)


def _pass(rounds: _Rounds, fit: CoinFit) -> SetCoinSums:
    prior = np.exp(expected_logs(fit.classes))
    step = SetCoins(fit.odds(rounds.states), prior, rounds.sets)
    return SetCoinSums(rounds.engine.total(step), len(fit.classes), rounds.sets.kinds)


def _worker_states(rounds: _Rounds, sums: SetCoinSums, weights: FloatArray) -> FloatArray:
    states = rounds.states
    # A sum of posteriors can pass the number of sets by a rounding error.
    agreement = np.minimum(sums.agreement, rounds.counts)
    scores = agreement @ states.log_in.T + (rounds.counts - agreement) @ states.log_out.T
    return steady(softmax(scores + np.log(weights)))


def _learnt(worker_states: FloatArray, first: FloatArray) -> FloatArray:
    held = LEARNT * len(worker_states)
    return steady((worker_states.sum(axis=0) + held * first) / (len(worker_states) + held))


def _bound(
    rounds: _Rounds, fit: CoinFit, sums: SetCoinSums, weights: FloatArray, concentration: FloatArray
) -> float:
    """E ln P(reports, truths, states, shares) + entropies, after the E step."""
    without = float(np.sum(rounds.counts * (fit.states @ rounds.states.log_out)))
    ratio = np.log(np.maximum(fit.states, 1e-300)) - np.log(weights)
    return (
        sums.log_mass
        + without
        - float(np.sum(fit.states * ratio))
        - float(divergence(fit.classes, concentration))
    )
