"""Study `p1-scaling`: processor time of two layers and truth discovery by data size.

All sizes run in one cell, in sequence in one process, so that no two sizes run at the same time.
Processor time counts this process only, not the other load of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.api.perturb import perturb
from sottovoce.datasets import CategoricalCrowd, SeededRandomness, generate
from sottovoce.figures import Chart, Series
from sottovoce.mechanisms.policies import policy_of
from sottovoce.model import Reports
from sottovoce.model.reports import Reading
from sottovoce_studies.cells import Cell
from sottovoce_studies.p1.layers import two_layer
from sottovoce_studies.rulings import Rulings, Statement, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work

__all__ = ["STUDY", "answers_of", "judge", "seconds_of", "slope"]


ROUNDS = 10
PER_WORKER, PER_TASK = 100, 10
EPSILON = 1.0

SIZES: Mapping[Size, tuple[int, ...]] = {
    "quick": (10_000, 100_000, 1_000_000),
    "full": (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
}

REPEATS = 3

MOST = 1.25
"""The largest slope that counts as linear; large tables do not fit into the processor's caches."""


def answers_of(size: int, seed: int) -> Reports:
    """A binary crowd of a given size, with 10 answers per task and on average 100 per worker.

    It is marked as free of duplicates, like a table read from a file.
    """
    crowd = CategoricalCrowd(
        workers=size // PER_WORKER, tasks=size // PER_TASK, labels=2, redundancy=PER_TASK, seed=seed
    )
    answers, _ = generate(crowd)
    return replace(answers, reading=Reading("drawn", len(answers)))


def seconds_of(sizes: Sequence[int], repeats: int, seed: int) -> list[dict[str, float]]:
    """Processor seconds of the noise and of TD at each size, the best of several runs.

    TD always makes ten rounds, on one thread, with compiled kernels; compilation time is excluded.
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
        reports,
        "td",
        parameters={"max_rounds": ROUNDS, "tolerance": -inf},
        policy=policy,
        compiled=True,
        threads=1,
    )
    return between - start, time.process_time() - between


def plan(size: Size, seed: int) -> Work:
    """All sizes in one cell."""
    return Work([Cell(seconds_of, (SIZES[size], REPEATS, seed))], lambda results: judge(results[0]))


def judge(times: Sequence[Mapping[str, Any]]) -> Outcome:
    """Shape holds if the slope of log time over log size is at most 1.25."""
    sizes = [float(row["answers"]) for row in times]
    parts = {
        "noise and TD": [row["noise"] + row["TD"] for row in times],
        "noise": [row["noise"] for row in times],
        "TD": [row["TD"] for row in times],
    }
    slopes = {name: slope(sizes, seconds) for name, seconds in parts.items()}
    whole = slopes["noise and TD"]
    said = Statement("time grows linearly with the size", whole <= MOST, f"power {whole:.2f}")
    each = [seconds / size for seconds, size in zip(parts["noise and TD"], sizes, strict=True)]
    words = (
        f"From {sizes[0]:,.0f} to {sizes[-1]:,.0f} answers the time grows with the power "
        f"{whole:.2f} of their number ({slopes['noise']:.2f} for the noise, {slopes['TD']:.2f} "
        f"for {ROUNDS} rounds of TD), and is {1e9 * each[0]:.0f} ns per answer at the smallest "
        f"size and {1e9 * each[-1]:.0f} ns at the largest: the fixed cost of a run lowers the "
        "power. Times are for this machine and not reproducible from a seed."
    )
    rows = tuple(map(_row, times))
    rulings = Rulings(shape=ruling_on([said]))
    claims = {"P1-7.3-4": said.ruling}
    return Outcome(rows, rulings, words, (_chart(sizes, parts),), claims=claims)


def slope(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The power of the size with which time grows: least squares of log time on log size.

    >>> round(slope([1e4, 1e5, 1e6], [0.01, 0.1, 1.0]), 9)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _row(times: Mapping[str, Any]) -> Row:
    whole = times["noise"] + times["TD"]
    return {
        "part": "Processor time, seconds",
        "answers": int(times["answers"]),
        "noise": times["noise"],
        f"TD, {ROUNDS} rounds": times["TD"],
        "both": whole,
        "ns per answer": 1e9 * whole / times["answers"],
    }


def _chart(sizes: Sequence[float], parts: Mapping[str, Sequence[float]]) -> Chart:
    xs = tuple(sizes)
    whole = parts["noise and TD"]
    middle = float(np.exp(np.mean(np.log(whole) - np.log(sizes))))
    linear = Series("linear", xs, tuple(middle * size for size in sizes), role="reference")
    return Chart(
        "Time of noise and truth discovery by the size of the data (P1 §7.3)",
        "answers",
        "processor time, seconds",
        (
            *(
                Series(name, xs, tuple(seconds), role="ours" if seconds is whole else "theirs")
                for name, seconds in parts.items()
            ),
            linear,
        ),
        note="P1 §7.3: the method scales linearly with the size of the dataset. The line is "
        f"linear growth; here the power is {slope(sizes, whole):.2f}.",
        better="lower",
        x_scale="log",
        y_scale="log",
    )


STUDY = Study(
    "p1-scaling",
    "The proposed method scales linearly with respect to the dataset size",
    "P1 §7.3",
    "P1 prints no sizes or times: binary crowds of 10,000 answers and more, 10 per task and 100 "
    f"per worker; U(0, b) as published at epsilon 1; TD with a fixed number of rounds, {ROUNDS}; "
    f"processor time of one thread, best of {REPEATS}, one size after the other; linear is a "
    f"slope of log time on log size of at most {MOST:g}, which leaves room for caches; times are "
    "not seeded and differ from run to run",
    plan,
    "up to a million answers instead of ten million",
    recorded=("not claimed", "holds", "not claimed"),
    items=("P1 §7.3 scaling",),
)
