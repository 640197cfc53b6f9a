"""The plain EM and the private one at every scale L, on the same answers (P2 §6.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from sottovoce.api.simulate_private_em import simulate_private_em
from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference import LatentLabel, MajorityVote
from sottovoce.model import FloatArray, Reports, Result
from sottovoce.studies.p2.gold_tasks import TableSource

__all__ = ["EXPONENTS", "PARAMETERS", "relative_error", "trial"]

EXPONENTS = tuple(range(15))
"""P2 §6.2: L = 10^0 … 10^14."""
PARAMETERS = ("alpha", "beta", "mu", "p")
ROUNDS = 200


def trial(source: TableSource, seed: int) -> dict[str, Any]:
    """What the data are, how often each method is right, and what each scale does to the EM.

    Sums are made in the open: sealed ones have the same integers.
    """
    answers, truths = source.draw(seed)
    engine = LocalEngine(answers)
    plain = LatentLabel(max_rounds=ROUNDS).fit(engine)
    votes = MajorityVote().fit(engine).truths
    return {
        "workers": len(answers.workers), "tasks": len(answers.tasks), "answers": len(answers),
        "gold by label": np.bincount(truths, minlength=2).tolist(),
        "answers by label": np.bincount(answers.value, minlength=2).tolist(),
        "rounds": plain.rounds,
        "plain EM": float(np.mean(plain.truths == truths)),
        "majority vote": float(np.mean(votes == truths)),
        "scales": [_at(10**exponent, answers, plain, truths) for exponent in EXPONENTS],
    }  # fmt: skip


def relative_error(known: FloatArray, found: FloatArray) -> float:
    """||ln x - ln x~|| / ||ln x|| (P2 §6.2.1).

    >>> round(relative_error(np.array([0.1, 0.1]), np.array([0.01, 0.1])), 4)
    0.7071
    """
    distance = np.linalg.norm(np.log(known) - np.log(found))
    return float(distance / np.linalg.norm(np.log(known)))


def _at(scale: int, answers: Reports, plain: Result, truths: FloatArray) -> dict[str, float]:
    """The private EM at one scale beside the plain one."""
    run = simulate_private_em(
        answers, suite="plain", mode="as_published", scale=scale, rounds=ROUNDS
    )
    known = _parameters(plain, np.asarray(plain.confusions))
    found = _parameters(run.result, np.stack(list(run.skills.values())))
    return {
        **{name: relative_error(known[name], found[name]) for name in PARAMETERS},
        "rounds": run.rounds,
        "changed": int(np.sum(run.result.truths != plain.truths)),
        "accuracy": float(np.mean(run.result.truths == truths)),
    }


def _parameters(result: Result, confusions: FloatArray) -> dict[str, FloatArray]:
    """P2's: both skills of every worker, every task's chance of label 1, and the mean of it."""
    posterior, prior = result.posterior, result.prior
    if posterior is None or prior is None:
        raise UsageError(f"{result.provenance.method} gives no posterior")
    return {
        "alpha": confusions[:, 1, 1], "beta": confusions[:, 0, 0], "mu": posterior[:, 1],
        "p": prior[1:],
    }  # fmt: skip
