"""Labels through a channel, by variational EM: one accuracy per worker.

Accuracies lie on a grid, and `coin_states` gives the law of a worker's reports for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.label_sets import (
    KindCounts,
    SetCoins,
    SetCoinSums,
    SetPosteriors,
    Sets,
)
from sottovoce.inference.steps.votes import softmax
from sottovoce.model import Codes, FloatArray, SetChannel
from sottovoce.seams import Engine

ACCURACIES = 16
BEST = 0.99
PARTICIPATION = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0])


@dataclass(frozen=True, slots=True, eq=False)
class CoinStates:
    """The possible states of a worker: state z has prior probability weights[z].

    `accuracy[z]` is the probability of a right answer, `participation[z]` of any answer. A set of
    kind κ has likelihood exp(log_in[z, κ]) if it contains the truth and exp(log_out[z, κ]) if not.
    """

    accuracy: FloatArray
    participation: FloatArray
    weights: FloatArray
    log_in: FloatArray
    log_out: FloatArray


def sets_of(channel: SetChannel) -> Sets:
    """The symbols by kind: the number of labels in a set, and whether it contains NULL."""
    null = channel.null if channel.hides_participation else np.zeros(channel.symbols, bool)
    keys = np.stack([channel.sizes, null.astype(np.int64)], axis=1)
    _, places = np.unique(keys, axis=0, return_inverse=True)
    kind: Codes = places.reshape(-1).astype(np.int32)
    return Sets(channel.starts, channel.members, kind, int(kind.max()) + 1)


def coin_states(channel: SetChannel, sets: Sets, participation: float = 0.0) -> CoinStates:
    """All combinations of an accuracy, the worker's private draw, and its participation.

    With accuracy a, participation d and s labels, an answer lies in a set of c labels with
    probability

        h = d (a [truth in set] + (1 - a) (c - [truth in set]) / (s - 1)) + (1 - d) [NULL in set]

    and the set has likelihood outside + (inside - outside) h. Accuracies range from chance to 0.99,
    uniformly; so does participation, if it is private and not given.
    """
    labels = channel.labels
    accuracies = np.linspace(1 / labels, BEST, ACCURACIES)
    rates = np.ones(1)
    if channel.hides_participation:
        rates = np.array([participation]) if participation > 0 else PARTICIPATION
    shape = (len(accuracies), len(channel.prior), len(rates))
    place = np.indices(shape).reshape(3, -1)
    accuracy, drawn, rate = accuracies[place[0]], place[1], rates[place[2]]
    weights = channel.prior[drawn] / (len(accuracies) * len(rates))
    first = np.array([np.flatnonzero(sets.kind == kind)[0] for kind in range(sets.kinds)])
    sizes = channel.sizes[first]
    null = channel.null[first] if channel.hides_participation else np.zeros(sets.kinds, bool)
    inside, outside = channel.inside[drawn][:, None], channel.outside[drawn][:, None]
    laws = []
    for held in (1, 0):
        right, wrong = accuracy[:, None] * held, (1 - accuracy[:, None]) / max(labels - 1, 1)
        within = right + wrong * np.maximum(sizes - held, 0)
        chance = rate[:, None] * within + (1 - rate[:, None]) * null
        laws.append(np.log(outside + (inside - outside) * chance))
    # A set without labels never contains the truth.
    log_in = np.where(sizes > 0, laws[0], laws[1])
    return CoinStates(accuracy, rate, weights, log_in, laws[1])


def expected_logs(concentration: FloatArray) -> FloatArray:
    """E ln p for p ~ Dirichlet(concentration): ψ(αᵢ) - ψ(Σ α).

    >>> expected_logs(np.array([1.0, 1.0])).round(12).tolist()
    [-1.0, -1.0]
    """
    psi = scipy.special.digamma
    logs: FloatArray = psi(concentration) - psi(concentration.sum(axis=-1, keepdims=True))
    return logs


def divergence(posterior: FloatArray, prior: FloatArray) -> float:
    """Σ KL(Dirichlet(posterior) ‖ Dirichlet(prior)) over all leading axes; both broadcast.

    >>> round(divergence(np.array([2.0, 1.0]), np.array([1.0, 1.0])), 6)
    0.193147
    """
    normalizers = _log_beta(prior) - _log_beta(posterior)
    moved = np.sum((posterior - prior) * expected_logs(posterior), axis=-1)
    return float(np.sum(normalizers + moved))


def _log_beta(concentration: FloatArray) -> FloatArray:
    gamma = scipy.special.gammaln
    value: FloatArray = gamma(concentration).sum(axis=-1) - gamma(concentration.sum(axis=-1))
    return value


LEARNT = 0.1
"""The grid's first weights count as much as this share of the workers."""


class CoinFit(NamedTuple):
    """The end of the rounds of the one-coin model.

    `states[worker, z]` is each worker's posterior over states, `classes` the parameters of the
    Dirichlet posterior of the class shares, `bound` a lower bound on ln P(reports), up to a
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
    """Alternating mean-field posteriors of truths, workers' states and class shares.

        E   P(truthⱼ = t) ∝ exp(E ln share[t]) Π exp(E ln P(set | t, stateₖ))
        M   P(stateₖ = z) ∝ weight[z] Π in[z]^agreement out[z]^(sets - agreement)
            shares ~ Dirichlet(concentration + expected tasks)
            weight ∝ Σₖ P(stateₖ = z) + m/10 · (first weight)

    Each raises the bound on ln P(reports), except the last, which learns the weights and is
    regularised by a tenth of the workers: free weights collapse when reports carry little
    information. Stops when the bound grows by less than `tolerance` per report.
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
        weights = _learnt_states(worker_states, states.weights)
        classes = concentration + sums.tasks
    return CoinFit(worker_states, classes, before, max_rounds, converged=False)


def _pass(rounds: _Rounds, fit: CoinFit) -> SetCoinSums:
    prior = np.exp(expected_logs(fit.classes))
    step = SetCoins(fit.odds(rounds.states), prior, rounds.sets)
    return SetCoinSums(rounds.engine.total(step), len(fit.classes), rounds.sets.kinds)


def _worker_states(rounds: _Rounds, sums: SetCoinSums, weights: FloatArray) -> FloatArray:
    states = rounds.states
    # A sum of posteriors can exceed the number of sets by a rounding error.
    agreement = np.minimum(sums.agreement, rounds.counts)
    scores = agreement @ states.log_in.T + (rounds.counts - agreement) @ states.log_out.T
    return steady(softmax(scores + np.log(weights)))


def _learnt_states(worker_states: FloatArray, first: FloatArray) -> FloatArray:
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
