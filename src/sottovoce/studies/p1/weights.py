"""The weights that TD gives to workers, before and after two layers of noise.

Who flips how often is known here: the first layer is drawn, and then set for one worker at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.codes import answer_cells, report_table
from sottovoce.mechanisms.policies import policy_of
from sottovoce.model import WORDS, FloatArray, Private, Reports
from sottovoce.studies.p1.layers import READERS, drawn, noise_seed, two_layer
from sottovoce.studies.sources import Source

__all__ = ["FLIPS", "PICKED", "weights_after", "weights_at"]

FLIPS = (0.46, 0.01)
"""The flip probabilities that P1 names below Figure 2: a large one and a small one."""
PICKED = 6
"""So many workers are picked at random in a trial."""


def weights_at(source: Source, epsilon: float, trial: int, seed: int) -> dict[str, Any]:
    """One trial: weights without noise, with what was drawn, and with one worker's flips set.

    `set` has, for each of `FLIPS`, the weight of each picked worker when this one, and no other,
    flips so often. `shown` has the weights of all picked workers when the second of them does.
    """
    answers, _ = drawn(source, trial, seed)
    noise = noise_seed(epsilon, trial, seed)
    workers = len(answers.workers)
    picked = np.random.default_rng(noise).choice(workers, PICKED, replace=False)
    flips = _drawn_flips(answers, epsilon, noise)
    found: dict[str, Any] = {
        "before": _td(answers).tolist(),
        "after": weights_after(answers, epsilon, flips, noise).tolist(),
        "flips": flips.tolist(),
        "picked": picked.tolist(),
        "set": [],
        "shown": [],
    }
    for flip in FLIPS:
        after = [weights_after(answers, epsilon, _with(flips, one, flip), noise) for one in picked]
        found["set"].append([float(w[one]) for w, one in zip(after, picked, strict=True)])
        found["shown"].append(after[1][picked].tolist())
    return found


def weights_after(
    answers: Reports, epsilon: float, flips: FloatArray | Sequence[float], seed: int
) -> FloatArray:
    """TD's weights when each worker flips its answers with its own given probability."""
    mechanism = two_layer(answers.domain, epsilon)
    policy = policy_of(mechanism, answers.domain, None)
    private = Private(np.array([int(flip * WORDS) for flip in flips], np.uint64))
    cells = answer_cells(answers, policy.domain)
    reports = mechanism.perturb(cells, private, SeededRandomness(seed))
    table = report_table(reports, mechanism.alphabet, policy.domain, simulated=True)
    return _td(table)


def _td(table: Reports) -> FloatArray:
    return infer(table, READERS["TD"], compiled=True).weights


def _drawn_flips(answers: Reports, epsilon: float, seed: int) -> FloatArray:
    # Other words than those of the second layer.
    drawn_words = two_layer(answers.domain, epsilon).draw(
        len(answers.workers), SeededRandomness(seed + 1)
    )
    return np.asarray(drawn_words.values / WORDS, np.float64)


def _with(flips: FloatArray, worker: int, flip: float) -> FloatArray:
    changed = flips.copy()
    changed[worker] = flip
    return changed
