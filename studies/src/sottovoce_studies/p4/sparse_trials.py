"""Trials of P4's experiments: answers with private NULLs under every mechanism (P4 §VI).

Trials of the large experiments also report their peak memory.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.datasets import SeededRandomness, SparseCrowd
from sottovoce.mechanisms.codes import answer_cells, report_table
from sottovoce.mechanisms.laws.hyper_weights import LevelWeights
from sottovoce.mechanisms.policies import Target, mechanism_of, policy_of
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import WORDS, Cells, Domain, FloatArray, Kind, Policy, Reports, Result
from sottovoce.planning.pipelines import Pipeline, papers
from sottovoce.planning.trials import best_constant, error_of, trial_seed
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Simulated, Source
from sottovoce_studies.p4.factorization import Factorization

__all__ = [
    "CLEAN",
    "LP",
    "NARROW",
    "RR",
    "TWO_LAYER",
    "Method",
    "Truths",
    "crowd",
    "maes",
    "maes_and_means",
    "maes_with_memory",
    "ours",
    "peak_gib",
    "policy_at",
    "reports_of",
]


CLEAN = "no noise"
"""P4's inference on the answers themselves: MAE_O."""

INFERENCE = "inverse-deviation"

_LP, _RR, _ = papers(Domain.ordinal("ab"), hide_participation=True)
LP, RR = replace(_LP, name="LP"), replace(_RR, name="RR")

TWO_LAYER = Pipeline("2-Layer", "two-layer", INFERENCE, published=True)
"""P4's 2-Layer draws an epsilon per worker; it is not P1's mechanism (P4 §VI-D)."""
NARROW = replace(TWO_LAYER, name="2-Layer, narrow")
"""The same with U(epsilon / 2, 3 epsilon / 2); P4 prints the mean of the range only."""
LEVELS = 1_024

Truths = Literal["N(0, 1)", "U(1, 8)"]
Method: TypeAlias = Pipeline | Factorization

BEYOND = 0.35
"""Extension of the grid of truths: half of the truths N(0, 1) are below the smallest answer."""

_ANSWERS, _NOISE = 0, 1


def ours(*, beyond: bool = False) -> Pipeline:
    """A sound mechanism that also hides NULLs, with noise-aware inference."""
    settings = {"beyond": BEYOND} if beyond else {}
    return Pipeline("ours", "subset-selection", "aware-numbers", settings=settings)


def crowd(workers: int, tasks: int, sparsity: float, truths: Truths = "N(0, 1)") -> Simulated:
    """P4 §VI-A's synthetic answers 0 … 9, or for comparison with truths over the range."""
    uniform = (1.0, 8.0) if truths == "U(1, 8)" else None
    return Simulated(
        SparseCrowd(
            workers=workers, tasks=tasks, sparsity=sparsity, kind=Kind.ORDINAL, truths=uniform
        )
    )


def maes(
    source: Source, values: int, epsilon: float, pairs: Sequence[Method], trial: int, seed: int
) -> dict[str, float]:
    """The MAE to the truth of every pair, of no noise, and of the best constant (P4 Eq. 3).

    `values` is |Γ|: answers are 0, …, values - 1. All pairs have the same answers and noise words.
    A variant of MF without a minimum is left out.
    """
    known, results = _inferred(source, values, epsilon, pairs, trial, seed)
    found = {name: error_of(result, known) for name, result in results}
    return {**found, CONSTANT: best_constant(known).error}


def maes_and_means(
    source: Source, values: int, epsilon: float, pairs: Sequence[Method], trial: int, seed: int
) -> dict[str, Any]:
    """The MAEs of a trial, and the mean of the inferred truths of every pair."""
    known, results = _inferred(source, values, epsilon, pairs, trial, seed)
    every = dict(results)
    found = {name: error_of(result, known) for name, result in every.items()}
    means = {name: float(np.mean(result.truths)) for name, result in every.items()}
    return {"maes": {**found, CONSTANT: best_constant(known).error}, "means": means}


def _inferred(
    source: Source, values: int, epsilon: float, pairs: Sequence[Method], trial: int, seed: int
) -> tuple[FloatArray, Iterator[tuple[str, Result]]]:
    answers, truths = source.draw(trial_seed(seed, _ANSWERS, trial))
    domain = Domain.ordinal(range(values))
    noise = trial_seed(seed, _NOISE, trial)

    def results() -> Iterator[tuple[str, Result]]:
        yield CLEAN, infer(answers, INFERENCE, compiled=True)
        cells = answer_cells(answers, domain).dense()
        for pair in pairs:
            policy = policy_at(pair, domain, epsilon, len(answers.tasks))
            if isinstance(pair, Factorization):
                reports = pair.reports(cells, domain, epsilon, f"{seed}/{trial}", noise)
            else:
                reports = reports_of(cells, policy, noise)
            if reports is not None:
                yield pair.name, _truths(reports, pair, policy)

    return _numbers(answers, truths), results()


def _truths(reports: Reports, pair: Method, policy: Policy) -> Result:
    if isinstance(pair, Factorization):
        return infer(reports, INFERENCE, policy=policy, compiled=True)
    return infer(reports, pair.method, policy=policy, compiled=True, parameters=pair.settings)


def policy_at(pair: Method, domain: Domain, epsilon: float, tasks: int) -> Policy:
    """The policy of a pair that hides participation over a number of tasks."""
    if isinstance(pair, Factorization):
        return pair.policy(domain, epsilon)
    if pair == TWO_LAYER:
        return policy_of(TwoLayer.as_published_sparse(domain, epsilon), domain, None)
    if pair == NARROW:
        return policy_of(_narrow(domain, epsilon), domain, None)
    return pair.policy(domain, Target(epsilon, answers=tasks, hide_participation=True))


def _narrow(domain: Domain, epsilon: float) -> TwoLayer:
    labels = domain.size
    budgets = epsilon * (0.5 + (np.arange(LEVELS) + 0.5) / LEVELS)
    others = tuple(round(WORDS / (np.exp(budget) + labels)) for budget in budgets)
    return TwoLayer(labels, LevelWeights(others, (WORDS // LEVELS,) * LEVELS), null=True)


def reports_of(cells: Cells, policy: Policy, noise: int) -> Reports:
    """The reports of `perturb` on every task, from cells that are built and checked only once."""
    mechanism, randomness = mechanism_of(policy), SeededRandomness(noise)
    private = mechanism.draw(len(cells.workers), randomness)
    reports = mechanism.perturb(cells, private, randomness)
    return report_table(reports, mechanism.alphabet, policy.domain, simulated=True)


def _numbers(answers: Reports, truths: Any) -> FloatArray:
    """Truths as numbers, NaN where unknown; label codes become the numbers of their labels."""
    if truths.dtype.kind == "f":
        return np.asarray(truths, np.float64)
    return np.where(truths >= 0, answers.domain.scale[np.maximum(truths, 0)], np.nan)


def maes_with_memory(
    source: Source, values: int, epsilon: float, pairs: Sequence[Method], trial: int, seed: int
) -> dict[str, Any]:
    """A trial and the peak memory of its process."""
    found = maes(source, values, epsilon, pairs, trial, seed)
    return {"maes": found, "peak": peak_gib()}


def peak_gib() -> float | None:
    """The peak memory of this process in GiB, or None if the system does not report it."""
    try:
        import resource  # only on POSIX systems
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30
