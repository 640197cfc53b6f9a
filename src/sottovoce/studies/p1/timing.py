"""How long two layers of noise and truth discovery take: processor time by the number of answers.

All sizes are one cell, one after the other in one process, so that no other size runs beside one
that is timed. Processor time counts this process only, and not what else the machine does.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import CategoricalCrowd, SeededRandomness, generate
from sottovoce.mechanisms.policies import policy_of
from sottovoce.model import Reports
from sottovoce.model.reports import Reading
from sottovoce.studies.p1.layers import two_layer

__all__ = ["ROUNDS", "answers_of", "seconds_of"]

ROUNDS = 10
PER_WORKER, PER_TASK = 100, 10
EPSILON = 1.0


def answers_of(size: int, seed: int) -> Reports:
    """A binary crowd with so many answers: ten to a task, a hundred of a worker on average.

    It is known to be without repeats, as a table is that was read from a file.
    """
    crowd = CategoricalCrowd(
        workers=size // PER_WORKER, tasks=size // PER_TASK, labels=2, redundancy=PER_TASK, seed=seed
    )
    answers, _ = generate(crowd)
    return replace(answers, reading=Reading("drawn", len(answers)))


def seconds_of(sizes: Sequence[int], repeats: int, seed: int) -> list[dict[str, float]]:
    """Processor seconds of the noise and of TD at each size, the best of so many runs.

    TD makes ten rounds whatever it finds, on one thread, with compiled kernels; what compiling
    takes is left out.
    """
    _seconds(answers_of(min(sizes), seed), seed)
    found = []
    for size in sizes:
        answers = answers_of(size, seed)
        runs = [_seconds(answers, seed + run) for run in range(repeats)]
        noise, truths = (min(column) for column in zip(*runs, strict=True))
        found.append({"answers": len(answers), "noise": noise, "TD": truths})
    return found


def _seconds(answers: Reports, seed: int) -> tuple[float, float]:
    policy = policy_of(two_layer(answers.domain, EPSILON), answers.domain, None)
    start = time.process_time()
    reports = perturb(answers, policy, SeededRandomness(seed))
    between = time.process_time()
    infer(
        reports, "td", parameters={"max_rounds": ROUNDS, "tolerance": -inf}, policy=policy,
        compiled=True, threads=1,
    )  # fmt: skip
    return between - start, time.process_time() - between
