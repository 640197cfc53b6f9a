"""Trials of P4's experiments: answers with private NULLs under every mechanism (P4 §VI).

Trials of the large experiments also report their peak memory.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.datasets import SeededRandomness, SparseCrowd
from sottovoce.mechanisms.codes import answer_cells, report_table
from sottovoce.mechanisms.policies import Target, mechanism_of, policy_of
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import Cells, Domain, FloatArray, Kind, Policy, Reports
from sottovoce.planning.pipelines import P4_RIDGE, Pipeline, papers
from sottovoce.planning.trials import best_constant, error_of, trial_seed
from sottovoce_studies.contests import CONSTANT
from sottovoce_studies.crowds import Simulated, Source

__all__ = [
    "CLEAN",
    "MF",
    "PAPERS",
    "TWO_LAYER",
    "Truths",
    "crowd",
    "maes",
    "maes_with_memory",
    "ours",
    "peak_gib",
    "policy_at",
    "reports_of",
]


CLEAN = "no noise"
"""P4's inference on the answers themselves: MAE_O."""

METHOD = "inverse-deviation"

_LP, _RR, _ = papers(Domain.ordinal("ab"), hide_participation=True)

TWO_LAYER = Pipeline("2-Layer", "two-layer", METHOD, published=True)
"""P4's 2-Layer draws an epsilon per worker; it is not P1's mechanism (P4 §VI-D)."""

Truths = Literal["N(0, 1)", "U(1, 8)"]

BEYOND = 0.35
"""Extension of the grid of truths: half of the truths N(0, 1) are below the smallest answer."""

_ANSWERS, _NOISE = 0, 1


def _factorization(dimension: int) -> Pipeline:
    parameters = {"dimension": dimension, "ridge": P4_RIDGE}
    name = f"MF d {dimension}"
    return Pipeline(name, "matrix-factorization", METHOD, parameters, published=True)


MF: Mapping[int, Pipeline] = {d: _factorization(d) for d in (2, 10)}
"""MF by its dimension d, which P4 §VI does not print."""

PAPERS = (replace(_LP, name="LP"), replace(_RR, name="RR"), *MF.values())


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
    source: Source, values: int, epsilon: float, pairs: tuple[Pipeline, ...], trial: int, seed: int
) -> dict[str, float]:
    """The MAE to the truth of every pair, of no noise, and of the best constant (P4 Eq. 3).

    `values` is |Γ|: answers are 0, …, values - 1. All pairs have the same answers and noise words.
    """
    answers, truths = source.draw(trial_seed(seed, _ANSWERS, trial))
    known = _numbers(answers, truths)
    domain = Domain.ordinal(range(values))
    cells = answer_cells(answers, domain).dense()
    noise = trial_seed(seed, _NOISE, trial)
    found = {CLEAN: error_of(infer(answers, METHOD, compiled=True), known)}
    for pair in pairs:
        policy = policy_at(pair, domain, epsilon, len(answers.tasks))
        reports = reports_of(cells, policy, noise)
        result = infer(reports, pair.method, policy=policy, compiled=True, parameters=pair.settings)
        found[pair.name] = error_of(result, known)
    return {**found, CONSTANT: best_constant(known).error}


def policy_at(pair: Pipeline, domain: Domain, epsilon: float, tasks: int) -> Policy:
    """The policy of a pair that hides participation over a number of tasks."""
    if pair == TWO_LAYER:
        return policy_of(TwoLayer.as_published_sparse(domain, epsilon), domain, None)
    return pair.policy(domain, Target(epsilon, answers=tasks, hide_participation=True))


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
    source: Source, values: int, epsilon: float, pairs: tuple[Pipeline, ...], trial: int, seed: int
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
