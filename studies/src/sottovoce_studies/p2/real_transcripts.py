"""The attack on P2's sums, run on public data: what a transcript of real answers leaks.

Two attackers are told apart. One knows who was given which tasks, as a server that assigns them
does. The other does not: in P2's protocol 1 a worker's tasks are its secret input.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from sottovoce import datasets
from sottovoce.api.simulate_private_em import simulate_private_em
from sottovoce.errors import DataError
from sottovoce.model import Reports
from sottovoce.model.reports import Repeats
from sottovoce.planning.trials import truths_by_task
from sottovoce_studies.p2.attack.transcript_attack import recover_labels

__all__ = ["MODELS", "ROWS", "attacked_dataset", "gold_answers", "real_rows"]

MODELS: Mapping[str, bool] = {"assignments known": True, "assignments secret": False}
"""The attackers, and whether the transcript contains the assignments."""

ROWS: tuple[tuple[str, Repeats], ...] = (
    ("duchenne", "first"),
    ("duchenne", "keep"),
    ("bluebirds", "first"),
)
"""Datasets, and the policy for repeated answers: the first counts, or all do, as in P2."""


def gold_answers(name: str, repeats: Repeats) -> Reports:
    """The answers of a dataset to its tasks with gold, as P2 used them."""
    raw = len(datasets.describe(name).files) > 2
    answers, gold = datasets.load(name, raw=raw, repeats=repeats)
    if gold is None:
        raise DataError(f"dataset {name!r} has no gold")
    rows = np.flatnonzero(truths_by_task(answers, gold)[answers.task] >= 0)
    workers, worker = np.unique(answers.worker[rows], return_inverse=True)
    tasks, task = np.unique(answers.task[rows], return_inverse=True)
    return Reports.of(
        worker,
        task,
        answers.value[rows],
        domain=answers.domain,
        workers=answers.workers[workers],
        tasks=answers.tasks[tasks],
    )


def attacked_dataset(
    name: str, repeats: Repeats, model: str, mode: str = "as_published", scale: int | None = None
) -> dict[str, Any]:
    """The findings of one attacker in the transcript of a dataset.

    `candidates` has the number of columns left for each worker, None if not counted, and is empty
    if the attacker does not know who answered what. `exact` columns are right in every label,
    `named` of them under the right name; `proven` columns are not only likely.
    """
    answers = gold_answers(name, repeats)
    run = simulate_private_em(
        answers, suite="plain", mode=mode, scale=scale, assignments=MODELS[model]
    )
    recovery = recover_labels(run.transcript)
    score = recovery.score(answers)
    return {
        "workers": run.transcript.workers,
        "tasks": len(run.terms.tasks),
        "rounds": len(run.transcript.opened),
        "rank": recovery.rank,
        "needed": recovery.needed,
        "outcome": recovery.outcome,
        "exact": score.exact,
        "named": score.owned,
        "proven": recovery.proven,
        "candidates": [leak.candidates for leak in recovery.leaks],
        "certain": score.certain,
        "certain_right": score.certain_right,
        "answers": score.answers,
        "right": score.right,
        "guessed": score.guessed,
    }


def real_rows(
    results: Mapping[tuple[str, str, str], Mapping[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Rows of a study from results by (dataset, policy, model)."""
    for (name, repeats, model), found in results.items():
        counted = [each for each in found["candidates"] if each is not None]
        missing = found["workers"] - len(counted)
        yield {
            "part": "Real data, as published at L = 10^10: what a transcript leaks",
            "dataset": name,
            "repeats": repeats,
            "attacker": model,
            "workers": found["workers"],
            "columns exact": found["exact"],
            "with names": found["named"],
            "proven": found["proven"],
            "most candidates": max(counted) if counted and not missing else math.nan,
            "not counted": missing,
            "labels certain": found["certain"],
            "of them right": found["certain_right"],
            "answers": found["answers"],
            "labels right": found["right"] / found["answers"],
            "by guessing": found["guessed"] / found["answers"],
        }
