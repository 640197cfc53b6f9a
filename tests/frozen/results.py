"""Truths and weights, to the bit."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.frozen.recordings import Files, as_json, sha256

import sottovoce

__all__ = ["plans", "truths"]

DATASETS = ("dog", "emotion", "web")
"""Labels, numbers, and labels with an order."""

SEED = 7
FIELDS = ("tasks", "workers", "truths", "weights", "confidence", "posterior", "standard_error",
          "confusions", "prior")  # fmt: skip
NEEDS_DELTA = "random-variance-gaussian"
PER_WORKER = "randomized-response per worker"
"""Randomised response with a guarantee for all answers of a worker, of which some are sampled."""
READ_BY_ALL = ("randomized-response", "laplace", "matrix-factorization")
"""Mechanisms whose reports go to every noise-aware method, not only to the best one."""


def _bits(array: Any) -> str:
    """A hash of numbers to the last bit, or of names."""
    array = np.asarray(array)
    if array.dtype.kind in "OTU":
        content = json.dumps([str(each) for each in array.tolist()]).encode()
    else:
        content = np.ascontiguousarray(array).tobytes()
    return f"{array.dtype.kind}{list(array.shape)} {sha256(content)[:24]}"


def _arrays(holder: Any, names: Sequence[str]) -> dict[str, str]:
    found = ((name, getattr(holder, name)) for name in names)
    return {name: _bits(value) for name, value in found if isinstance(value, np.ndarray)}


def _inferred(result: sottovoce.Result) -> dict[str, Any]:
    return {
        "method": result.provenance.method,
        "rounds": result.rounds,
        "converged": result.converged,
        **_arrays(result, FIELDS),
    }


def _or_refusal(make: Callable[[], dict[str, Any]]) -> dict[str, Any] | str:
    try:
        return make()
    except sottovoce.SottovoceError as error:
        return f"refused: {error}"


def _of_answers(answers: sottovoce.Reports) -> dict[str, Any]:
    """The results of every method on the answers themselves."""
    return {
        method: _or_refusal(partial(_inferred_by, answers, method)) for method in sottovoce.METHODS
    }


def _inferred_by(
    table: sottovoce.Reports, method: str, policy: sottovoce.Policy | None = None
) -> dict[str, Any]:
    return _inferred(sottovoce.infer(table, method, policy=policy))


def _inferred_from(opened: sottovoce.Opened, method: str) -> dict[str, Any]:
    return _inferred(sottovoce.infer_opened(opened, method))


def _most(answers: sottovoce.Reports) -> int:
    return int(np.bincount(answers.worker).max())


def _of_reports(answers: sottovoce.Reports, name: str) -> dict[str, Any]:
    """Reports of a mechanism, and the results of methods on them."""
    target = sottovoce.Target(
        2.0,
        unit=sottovoce.Unit.WORKER if name == PER_WORKER else sottovoce.Unit.ANSWER,
        delta=1e-3 if name == NEEDS_DELTA else 0.0,
        answers=_most(answers),
    )
    policy = sottovoce.make_policy(answers.domain, name.partition(" ")[0], target)
    reports = sottovoce.perturb(answers, policy, sottovoce.SeededRandomness(SEED))
    chosen = _or_refusal(partial(_inferred_by, reports, "auto", policy))
    taken = chosen["method"] if isinstance(chosen, dict) else None
    aware = sottovoce.AWARE_METHODS if name in READ_BY_ALL else ()
    others = [each for each in (*aware, "crh") if each != taken]
    return {
        "policy": policy.hash,
        "reports": _arrays(reports, [field.name for field in fields(reports)]),
        "auto": chosen,
        **{each: _or_refusal(partial(_inferred_by, reports, each, policy)) for each in others},
    }


def _of_sums(answers: sottovoce.Reports, layout: sottovoce.Layout) -> dict[str, Any]:
    """Totals of a sealed campaign with noise from a seed, and what is inferred from them."""
    target = sottovoce.Target(1.0, answers=_most(answers))
    policy = sottovoce.make_policy(answers.domain, "sealed-sum", target, layout=layout)
    opened = sottovoce.sum_answers(answers, policy, sottovoce.SeededRandomness(SEED))
    return {
        "policy": policy.hash,
        "opened": _arrays(opened, [field.name for field in fields(opened)]),
        **{
            method: _or_refusal(partial(_inferred_from, opened, method))
            for method in sottovoce.SEALED_METHODS
        },
    }


def _of_dataset(name: str) -> dict[str, Any]:
    answers = sottovoce.read(f"dataset:{name}")
    mechanisms = (*sottovoce.MECHANISMS, PER_WORKER)
    return {
        "answers": _of_answers(answers),
        "reports": {each: _or_refusal(partial(_of_reports, answers, each)) for each in mechanisms},
        "sums": {
            str(each): _or_refusal(partial(_of_sums, answers, each)) for each in sottovoce.Layout
        },
    }


def truths() -> Files:
    """Truths and weights of every method, on answers, on reports and on sealed sums."""
    folder = os.environ.get("SOTTOVOCE_DATA")
    if not folder or not (Path(folder) / "datasets.json").is_file():
        sys.stdout.write("truths: skipped, SOTTOVOCE_DATA names no folder of real datasets\n")
        return {}
    return {"truths.json": as_json({name: _of_dataset(name) for name in DATASETS})}


def plans() -> Files:
    """The recommendation for a small campaign, and the result of an EM on exact sealed sums."""
    domain = sottovoce.Domain.ordinal([1, 2, 3])
    scenario = sottovoce.Scenario(domain, tasks=10, workers=6, answers_per_worker=5)
    planned = sottovoce.plan(scenario, [1.0], trials=19, cache=False).as_dict()
    pairs = [(worker, task) for worker in range(5) for task in range(8)]
    answers = {
        "worker": [f"w{worker}" for worker, _ in pairs],
        "task": [f"t{task}" for _, task in pairs],
        "answer": ["abc"[(task + (worker * task) % 5 // 4) % 3] for worker, task in pairs],
    }
    run = sottovoce.simulate_private_em(answers, suite="plain", mode="as_published")
    return {"plans.json": as_json({"plan": planned, "private EM": _inferred(run.result)})}
