"""Every theorem, equation and example of the papers that has a calculator, by name.

A row of the table holds the claim, the verdict on it in general, the calculator and its parameters
at their defaults, which are the paper's own example where it has one.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from sottovoce.errors import UsageError
from sottovoce.inference.weights import importance, important
from sottovoce.model import FloatArray, Unit
from sottovoce_studies.theorems import gaussian_noise, privacy_claims, sparse_numbers
from sottovoce_studies.theorems import weighted_vote as vote
from sottovoce_studies.theorems.sparse_numbers import ExpectedError, SparseSetting
from sottovoce_studies.theorems.statement import Published, check_between, open_probabilities
from sottovoce_studies.theorems.weighted_vote import DeltaLaw

__all__ = ["THEOREMS", "Assessment", "Theorem", "assess", "theorem_named"]

Figures = Mapping[str, Published]
More = Mapping[str, float | list[int]]
Calculated = tuple[Figures, More]

EXACT_WORKERS = 16
"""The largest crowd whose exact error is computed next to a bound."""


@dataclass(frozen=True, slots=True)
class Theorem:
    """A statement of a paper: the claim, whether it is true in general, and its calculator.

    `calculate` returns the figures by name, and further values that no paper prints. `example` is
    the number that the paper prints for the defaults, where it prints one.
    """

    name: str
    source: str
    claim: str
    verdict: str
    calculate: Callable[..., Calculated]
    defaults: Mapping[str, Any]
    example: float | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """A theorem at given parameters: the printed figures, those that hold, and further values."""

    theorem: Theorem
    parameters: Mapping[str, Any]
    figures: Figures
    more: More

    @property
    def notes(self) -> tuple[str, ...]:
        """Why, each reason once."""
        return tuple(dict.fromkeys(figure.note for figure in self.figures.values()))

    @property
    def example(self) -> float | None:
        """The number that the paper prints for these parameters, if they are its example."""
        return self.theorem.example if self.parameters == self.theorem.defaults else None


def theorem_named(name: str) -> Theorem:
    """The theorem of that name; an unknown name raises an error with the nearest one."""
    if name in THEOREMS:
        return THEOREMS[name]
    near = difflib.get_close_matches(name.lower(), THEOREMS, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(THEOREMS)}"
    raise UsageError(f"no theorem {name!r}: {hint}")


def assess(name: str, **parameters: Any) -> Assessment:
    """The printed figures and the sound ones, at the paper's example or at other parameters.

    >>> error = assess("p4-theorem-3").figures["mean error"]
    >>> round(error.value, 5), round(error.sound, 2), error.holds
    (3.4368, 4.43, False)
    >>> one = assess("p1-theorem-6.3", answers_per_worker=1)
    >>> [figure.holds for figure in one.figures.values()]
    [True, True]
    """
    theorem = theorem_named(name)
    for given in parameters:
        if given not in theorem.defaults:
            known = ", ".join(theorem.defaults)
            raise UsageError(f"{name} does not depend on {given}; it takes {known}")
    chosen = {**theorem.defaults, **parameters}
    figures, more = theorem.calculate(**chosen)
    return Assessment(theorem, chosen, figures, more)


def _per_unit(
    quantity: str, calculator: Callable[..., Published], *given: float
) -> dict[str, Published]:
    return {f"{quantity} per {unit}": calculator(*given, unit=unit) for unit in Unit}


def _one_layer(flip: float, label_count: int, answers_per_worker: int) -> Calculated:
    given = flip, label_count, answers_per_worker
    return _per_unit("epsilon", privacy_claims.published_one_layer, *given), {}


def _two_layers(
    calculator: Callable[..., Published],
    lowest_flip: float,
    highest_flip: float,
    label_count: int,
    answers_per_worker: int,
) -> Calculated:
    given = lowest_flip, highest_flip, label_count, answers_per_worker
    return _per_unit("epsilon", calculator, *given), {}


def _error(calculator: Callable[..., Published], accuracies: Any, *weights: Any) -> Calculated:
    """A bound on an error; it holds if it is not below the exact error, where that is computed."""
    bound = calculator(accuracies, *weights)
    if len(accuracies) > EXACT_WORKERS:
        return {"error bound": bound}, {}
    exact = vote.vote_error(accuracies, *weights)
    return {"error bound": replace(bound, holds=bound.value >= exact)}, {"exact error": exact}


def _weighted_error(accuracies: Any, vote_weights: Any) -> Calculated:
    weights = vote_weights if len(vote_weights) > 1 else (*vote_weights,) * len(accuracies)
    return _error(vote.published_error_bound, accuracies, weights)


def _flipped_error(accuracies: Any, flip: float) -> Calculated:
    return _error(vote.published_error_bound, vote.flipped(accuracies, flip))


def _change(calculator: Callable[..., Published], accuracies: Any, flip: float) -> Calculated:
    return {"change of the error": calculator(accuracies, flip)}, {}


def _delta_law(highest_flip: float, important_workers: int, error_change: float) -> Calculated:
    check_between(0, 1, error_change=error_change)
    law = DeltaLaw(highest_flip, important_workers)
    below = float(law.cdf(law.one_layer))
    claim = Published(
        value=0.5,
        sound=below,
        holds=below > 0.5,
        source="P1 §6.2.3",
        note="The density is right, and with two or more workers most draws are below one layer's "
        "Delta. Their mean equals it, because rare large draws make up for the small ones; and "
        "Delta is only the leading term of eq. 10.",
    )
    more = {
        "Delta of one layer": law.one_layer,
        "mean of two layers": law.mean,
        "median of two layers": law.median,
        f"density at {error_change:g}": float(law.pdf(error_change)),
        f"probability up to {error_change:g}": float(law.cdf(error_change)),
    }
    return {"probability of less than one layer, at least": claim}, more


def _importance(accuracies: Any, importance_share: float) -> Calculated:
    """Im(u) against the ratio of the errors without and with u, of which it is P1's estimate."""
    right = open_probabilities("accuracies", accuracies)
    chosen = important(right, importance_share)
    if len(right) > EXACT_WORKERS:
        sound = 1 / (2 * np.sqrt(right * (1 - right)))
        truth = "The sound figure is the factor of the valid bound, 1 / (2 sqrt(p (1 - p)))."
    else:
        sound = _without(right) / vote.vote_error(right)
        truth = "The sound figure is the exact ratio of the errors without and with the worker."
    figures = {
        f"Im of worker {worker} (p = {p:g})": Published(
            value=float(value),
            sound=float(true),
            holds=math.isclose(value, true, rel_tol=1e-9),
            source="P1 §6.2.3",
            note=f"Im is 1 / G(p) with G of eq. 6, which is no bound. {truth}",
        )
        for worker, (p, value, true) in enumerate(
            zip(right, importance(right), sound, strict=True), 1
        )
    }
    return figures, {"important workers": (np.flatnonzero(chosen) + 1).tolist()}


def _without(right: FloatArray) -> FloatArray:
    """The exact error of the vote without each worker; a vote of nobody is a coin."""
    if len(right) == 1:
        return np.asarray([0.5])
    return np.asarray([vote.vote_error(np.delete(right, u)) for u in range(len(right))])


def _distance(lambda1: float, noise_level: float = 1.0) -> Calculated:
    figures = {
        "mean distance E[Y]": gaussian_noise.published_mean_distance(lambda1, noise_level),
        "least alpha": gaussian_noise.published_alpha_bound(lambda1, noise_level),
    }
    return figures, {}


def _beta(alpha: float, lambda1: float, noise_level: float, workers: int, seed: int) -> Calculated:
    rng = _generator(seed)
    claim = gaussian_noise.published_beta_bound(alpha, lambda1, noise_level, workers, rng)
    return {"least beta": claim}, {}


def _ceiling(alpha: float, beta: float, lambda1: float, workers: int, seed: int) -> Calculated:
    rng = _generator(seed)
    claim = gaussian_noise.published_noise_ceiling(alpha, beta, lambda1, workers, rng)
    return {"largest noise level": claim}, {}


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise UsageError(f"seed must be at least 0, not {seed}")
    return np.random.default_rng(seed)


def _range(lambda1: float, eta: float, b: float) -> Calculated:
    return {"probability": gaussian_noise.published_range(lambda1, eta, b)}, {}


def _variance_privacy(
    epsilon: float, delta: float, answers_per_worker: int, **floor: float
) -> Calculated:
    given = epsilon, delta, answers_per_worker
    figures = _per_unit("delta", privacy_claims.published_variance_privacy, *given)
    least = gaussian_noise.published_noise_floor(epsilon=epsilon, delta=delta, **floor)
    return {**figures, "least noise level": least}, {}


def _tradeoff(
    alpha: float, beta: float, lambda1: float, workers: int, seed: int, **floor: float
) -> Calculated:
    least = gaussian_noise.published_tradeoff_floor(lambda1, **floor)
    return {"least noise level": least, **_ceiling(alpha, beta, lambda1, workers, seed)[0]}, {}


def _laplace_privacy(values: Any, epsilon: float) -> Calculated:
    claim = privacy_claims.published_laplace_privacy(values, epsilon)
    return {"epsilon per answer": claim}, {}


def _null_privacy(values: Any, epsilon: float) -> Calculated:
    claim = privacy_claims.published_null_privacy(values, epsilon)
    keep = sparse_numbers.keep_probability(epsilon, len(values))
    return {"epsilon per answer": claim}, {"probability of keeping an answer": keep}


def _factorization_privacy(values: Any, epsilon: float) -> Calculated:
    calculator = privacy_claims.published_factorization_privacy
    figures = {
        "epsilon, value to value": calculator(values, epsilon, null=False),
        "epsilon, NULL to value": calculator(values, epsilon, null=True),
    }
    return figures, {}


def _sparse_error(
    calculator: Callable[[SparseSetting], Published],
    error: Callable[[SparseSetting], ExpectedError],
    density: float,
    **setting: Any,
) -> Calculated:
    sparse = SparseSetting(answered=density, **setting)
    return {"mean error": calculator(sparse)}, {"true mean error at least": error(sparse).least}


def _published_noise(setting: SparseSetting) -> ExpectedError:
    return sparse_numbers.laplace_error(setting, len(setting.values) / setting.epsilon)


def _factorization_error(values: Any, tasks: int, dimensions: int, epsilon: float) -> Calculated:
    calculator = sparse_numbers.published_factorization_error
    return {"mean error": calculator(tasks, dimensions, len(values), epsilon)}, {}


_FIVE = (0.9,) * 5
_TWO_LAYERS = {
    "lowest_flip": 0.0, "highest_flip": 0.538, "label_count": 2, "answers_per_worker": 100,
}  # fmt: skip
_FLIPPED = {"accuracies": _FIVE, "flip": 0.25}
_UTILITY = {"alpha": 8.0, "beta": 0.05, "lambda1": 1.0, "workers": 150, "seed": 1}
_FLOOR = {"eta": 0.9, "b": 2.0, "width": 10.0}
_TEN = tuple(float(value) for value in range(10))
_SPARSE = {
    "values": _TEN, "truth": 0.0, "density": 0.1, "epsilon": 1.0, "sigma": 1.0, "workers": 2_000,
}  # fmt: skip

_ALL = (
    Theorem(
        "p1-theorem-6.2", "P1 Thm. 6.2", "randomised response is ln((1 - p)(s - 1) / p)-private",
        "true per answer; k times that per worker",
        _one_layer, {"flip": 0.269, "label_count": 2, "answers_per_worker": 100},
    ),
    Theorem(
        "p1-theorem-6.3", "P1 Thm. 6.3",
        "two layers U(a, b) are ln((2 - a - b)(s - 1) / (a + b))-private",
        "true only for a worker who sends one answer",
        partial(_two_layers, privacy_claims.published_two_layers), _TWO_LAYERS,
    ),
    Theorem(
        "p1-theorem-6.4", "P1 Thm. 6.4", "two layers are as private as one with the same mean flip",
        "true only for a worker who sends one answer",
        partial(_two_layers, privacy_claims.published_equal_layers), _TWO_LAYERS,
    ),
    Theorem(
        "p1-eq-5", "P1 eq. 5", "a bound on the error of a weighted vote",
        "a bound for weights from 0 to 1 only; it depends on their scale, the vote does not",
        _weighted_error, {"accuracies": _FIVE, "vote_weights": (2.0,)},
    ),
    Theorem(
        "p1-eq-6", "P1 eq. 6", "a bound on the error of a vote with log-odds weights",
        "can be below the true error",
        partial(_error, vote.published_error_bound), {"accuracies": _FIVE},
    ),
    Theorem(
        "p1-eq-6-folded", "P1 §6.2.1", "p may be replaced by 1 - p without loss of generality",
        "changes the bound, not the error",
        partial(_error, vote.published_folded_bound), {"accuracies": _FIVE},
    ),
    Theorem(
        "p1-eq-8", "P1 eq. 8", "a bound on the error of a vote of flipped answers",
        "no bound, as eq. 6",
        _flipped_error, {"accuracies": _FIVE, "flip": 0.02},
    ),
    Theorem(
        "p1-eq-9", "P1 eq. 9", "the change of the error by flipping",
        "not the change of an error",
        partial(_change, vote.published_change), _FLIPPED,
    ),
    Theorem(
        "p1-eq-10", "P1 eq. 10", "the same change, multiplied out",
        "loses a factor 2^n of eq. 9",
        partial(_change, vote.published_expanded_change), _FLIPPED,
    ),
    Theorem(
        "p1-delta", "P1 §6.2.3",
        "the density of Delta; two layers probably change the error less than one",
        "true of most draws; the mean is the same",
        _delta_law, {"highest_flip": 0.8, "important_workers": 3, "error_change": 0.05},
    ),
    Theorem(
        "p1-importance", "P1 §6.2.3",
        "Im(u), the factor by which the error grows without worker u; important workers",
        "not that factor, since eq. 6 is no bound",
        _importance, {"accuracies": (0.95, 0.9, 0.8, 0.6, 0.1), "importance_share": 0.4},
    ),
    Theorem(
        "p3-theorem-4.3", "P3 Thm. 4.3", "E[Y] and the least alpha of (alpha, beta)-utility",
        "wrong factors",
        _distance, {"lambda1": 1.0, "noise_level": 0.5},
    ),
    Theorem(
        "p3-theorem-a.1", "P3 Thm. A.1", "the same at noise level 1",
        "lambda1 where 1 / lambda1 belongs",
        _distance, {"lambda1": 4.0},
    ),
    Theorem(
        "p3-eq-10", "P3 eq. 10", "the least beta for an alpha",
        "pairs of workers are not independent",
        _beta, {"alpha": 4.0, "lambda1": 1.0, "noise_level": 2.0, "workers": 150, "seed": 1},
    ),
    Theorem(
        "p3-eq-12", "P3 eq. 12", "the largest noise level for (alpha, beta)-utility",
        "pairs of workers are not independent",
        _ceiling, _UTILITY,
    ),
    Theorem(
        "p3-lemma-4.7", "P3 Lemma 4.7",
        "the range of answers is known from lambda1, with a probability",
        "can fail for lambda1 > 1",
        _range, {"lambda1": 25.0, "eta": 0.9, "b": 2.0},
    ),
    Theorem(
        "p3-theorem-4.8", "P3 Thm. 4.8",
        "(epsilon, delta)-privacy, and the least noise level for it",
        "true per answer with a public range; false per worker",
        _variance_privacy,
        {"epsilon": 1.0, "delta": 0.1, "answers_per_worker": 10, "lambda1": 1.0, **_FLOOR},
    ),
    Theorem(
        "p3-theorem-4.9", "P3 Thm. 4.9", "the noise levels that give both utility and privacy",
        "drops the square of Thm. 4.8; depends on eq. 12",
        _tradeoff, {**_UTILITY, "epsilon": 1.0, "delta": 0.1, **_FLOOR},
    ),
    Theorem(
        "p4-theorem-1", "P4 Thm. 1", "Laplace noise of scale |Gamma| / epsilon is epsilon-private",
        "true for consecutive integers, as in P4; false in general: the range counts, not the "
        "number of values",
        _laplace_privacy, {"values": _TEN, "epsilon": 1.0},
    ),
    Theorem(
        "p4-theorem-2", "P4 Thm. 2", "a bound on the mean error under Laplace noise",
        "fails for a few workers; far from sharp for many",
        partial(_sparse_error, sparse_numbers.published_laplace_error, _published_noise),
        _SPARSE, 14.13,
    ),
    Theorem(
        "p4-eq-8", "P4 eq. 8",
        "randomised response with NULL is epsilon-private; it keeps about 80 %",
        "true per answer, NULL included",
        _null_privacy, {"values": _TEN[:5], "epsilon": 3.0},
    ),
    Theorem(
        "p4-theorem-3", "P4 Thm. 3", "a bound on the mean error under randomised response",
        "can be below the true error",
        partial(
            _sparse_error, sparse_numbers.published_null_response_error,
            sparse_numbers.null_response_error,
        ),
        _SPARSE, 3.551,
    ),
    Theorem(
        "p4-theorem-4", "P4 Thm. 4", "matrix factorisation is epsilon-private, NULL included",
        "false between NULL and a value; no finite epsilon holds",
        _factorization_privacy, {"values": _TEN, "epsilon": 1.0},
    ),
    Theorem(
        "p4-theorem-5", "P4 Thm. 5", "a bound on the mean error of matrix factorisation",
        "no bound in these numbers alone: task vectors may be short or dependent",
        _factorization_error,
        {"values": _TEN, "tasks": 1_000, "dimensions": 100, "epsilon": 1.0}, 1.8,
    ),
)  # fmt: skip

THEOREMS: Mapping[str, Theorem] = {theorem.name: theorem for theorem in _ALL}
"""Every theorem by its name on the command line, in the order of the papers."""
