"""Compare rounds of noise-aware inference with rounds of Dawid-Skene.

    python aware.py labels REPORTS LABELS
    python aware.py numbers REPORTS

prints one JSON object. CPU of a round is that of ten more rounds, divided by ten; both use the same
reports and the same engine.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from crowds import simulated
from measuring import best_cpu, peak_above
from sottovoce import DawidSkene, LocalEngine, Target, make_policy, perturb
from sottovoce.api.perturb import read_evidence
from sottovoce.datasets import SeededRandomness
from sottovoce.inference.noise_aware.hierarchical import channel_law, fit_hierarchy
from sottovoce.inference.noise_aware.labels import AwareLabels
from sottovoce.inference.noise_aware.numbers import AwareNumbers
from sottovoce.inference.noise_aware.variational_em import coin_states, fit_coins, sets_of
from sottovoce.inference.signal import named_labels
from sottovoce.model import Domain, Evidence, Reports, SetChannel

FEW, MORE = 3, 13


def labels(reports: int, count: int) -> dict[str, float]:
    answers = simulated(reports, count)
    policy = make_policy(answers.domain, "randomized-response", Target(2.0))
    table = perturb(answers, policy, SeededRandomness(1))
    found = _evidence(read_evidence(table, policy))
    channel = found.channel
    assert isinstance(channel, SetChannel)
    plain, engine = LocalEngine(table, threads=1), LocalEngine(found.symbols, threads=1)
    sets = sets_of(channel)
    states, even = coin_states(channel, sets), np.full(count, 100.0)
    law = channel_law(channel.matrix(), named_labels(count, channel), count)
    first = 0.7 * np.eye(count) + 0.3 / count
    never = -math.inf
    round_of = {
        "dawid_skene": lambda n: DawidSkene(n, never).fit(plain),
        "one_coin": lambda n: fit_coins(
            engine, states, sets, even, max_rounds=n, tolerance=never
        ),
        "confusion": lambda n: fit_hierarchy(engine, law, first, max_rounds=n, tolerance=never),
    }  # fmt: skip
    seen = {name: _per_round(work) for name, work in round_of.items()}
    method = AwareLabels(channel, policy.domain)
    whole = best_cpu(lambda: method.fit(engine), 1)
    return {**seen, "whole": whole, "rounds": method.fit(engine).rounds}


def numbers(reports: int) -> dict[str, float]:
    rng = np.random.default_rng(1)
    size = reports // 100
    domain = Domain.numeric(0, 10)
    task = np.repeat(np.arange(size), 100)
    worker = rng.integers(0, size, reports)
    value = np.clip(rng.uniform(1, 9, size)[task] + rng.normal(0, 1, reports), 0, 10)
    answers = Reports.of(worker, task, value, domain=domain)
    policy = make_policy(domain, "piecewise", Target(1.0))
    found = _evidence(read_evidence(_sent(answers, policy), policy))
    engine = LocalEngine(found.symbols, threads=1)
    channel: Any = found.channel

    def run(rounds: int) -> Any:
        return AwareNumbers(channel, domain, max_rounds=rounds, tolerance=-1.0).fit(engine)

    seconds = _per_round(run, repeats=1)
    return {"round": seconds, "peak": peak_above(lambda: run(2))[0]}


def _sent(answers: Reports, policy: Any) -> Reports:
    """Reports on distinct (worker, task) pairs, because duplicates would be rejected."""
    pairs = answers.worker.astype(np.int64) * len(answers.tasks) + answers.task
    _, kept = np.unique(pairs, return_index=True)
    once = Reports.of(
        answers.worker[kept], answers.task[kept], answers.value[kept],
        domain=answers.domain, workers=answers.workers, tasks=answers.tasks,
    )  # fmt: skip
    return perturb(once, policy, SeededRandomness(2))


def _per_round(work: Callable[[int], Any], repeats: int = 3) -> float:
    work(1)  # compiled
    few, more = (best_cpu(partial(work, rounds), repeats) for rounds in (FEW, MORE))
    return (more - few) / (MORE - FEW)


def _evidence(found: Evidence | None) -> Evidence:
    assert found is not None
    return found


if __name__ == "__main__":
    what, *sizes = sys.argv[1:]
    run: Any = {"labels": labels, "numbers": numbers}[what]
    print(json.dumps(run(*map(int, sizes))))
