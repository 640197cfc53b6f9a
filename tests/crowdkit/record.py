"""Record crowd-kit's results on small tables, for `test_methods.py`.

Run it where crowd-kit is installed; the result is `tests/vectors/crowdkit-methods.json`.
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd


def crowd(labels: int, workers: int, tasks: int, share: float, seed: int) -> list[list[Any]]:
    """Rows (task, worker, label) of a crowd; names are sorted in order of appearance.

    crowd-kit's MACE sorts the names of one of its two tables, and mixes up workers otherwise.
    """
    rng = np.random.default_rng(seed)
    ability = rng.uniform(0.35, 0.95, workers)
    rows = []
    for task in range(tasks):
        truth = task % labels
        for worker in range(workers):
            if task < labels or rng.random() < share:
                right = task < labels or rng.random() < ability[worker]
                label = truth if right else int(rng.integers(labels))
                rows.append([f"t{task:02}", f"w{worker:02}", "abcd"[label]])
    return rows


FRAMES = {
    "two labels": crowd(2, 9, 40, 0.5, 1),
    "three labels": crowd(3, 12, 50, 0.4, 2),
    "sparse": crowd(2, 15, 30, 0.12, 3),
    "dense": crowd(4, 7, 30, 1.0, 4),
}
GOLD = {name: {row[0]: row[2] for row in rows[::3]} for name, rows in FRAMES.items()}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("Wawa", {}),
    ("ZeroBasedSkill", {}),
    ("ZeroBasedSkill", {"n_iter": 7, "lr_init": 0.3, "lr_steps_to_reduce": 3}),
    ("GoldMajorityVote", {}),
    ("MMSR", {}),
    ("MMSR", {"n_iter": 4, "random_state": 5}),
    ("MACE", {"n_restarts": 1}),
    ("MACE", {"n_restarts": 1, "method": "em", "n_iter": 8, "random_state": 3}),
    ("GLAD", {}),
    ("GLAD", {"n_iter": 3, "m_step_max_iter": 4}),
    ("KOS", {}),
    ("KOS", {"n_iter": 5, "random_state": 11}),
]
ATTRIBUTES = (
    *("labels_", "probas_", "skills_", "scores_", "alphas_", "betas_", "loss_history_"),
    *("spamming_", "thetas_"),
)


def plain(value: Any) -> Any:
    """A series or frame as its index, columns and values."""
    if isinstance(value, pd.DataFrame):
        columns = [*value.columns.names, *value.columns]
        return {"index": list(value.index), "columns": columns, "values": value.to_numpy().tolist()}
    if isinstance(value, pd.Series):
        return {"index": list(value.index), "name": value.name, "values": value.tolist()}
    return np.asarray(value).tolist()


def main() -> None:
    """Write the record to the standard output."""
    from crowdkit.aggregation.classification import (
        gold_majority_vote,
        wawa,
        zero_based_skill,
    )

    from crowdkit import aggregation

    warnings.simplefilter("ignore")
    for module in (gold_majority_vote, wawa, zero_based_skill):
        module.check_is_fitted = lambda *_, **__: None  # fails with scikit-learn from 1.6 on
    cases = []
    for name, rows in FRAMES.items():
        data = pd.DataFrame(rows, columns=["task", "worker", "label"])
        for method, arguments in CASES:
            if method == "KOS" and data["label"].nunique() != 2:
                continue
            given = [pd.Series(GOLD[name])] if method == "GoldMajorityVote" else []
            model = getattr(aggregation, method)(**arguments)
            model.fit_predict(data, *given)
            found = {each: plain(vars(model)[each]) for each in ATTRIBUTES if each in vars(model)}
            cases.append({"frame": name, "method": method, "arguments": arguments, "found": found})
    versions = {name: version(name) for name in ("crowd-kit", "pandas", "numpy", "scipy")}
    document = {"versions": versions, "frames": FRAMES, "gold": GOLD, "cases": cases}
    text = json.dumps(document, separators=(",", ":"))
    sys.stdout.write(text.replace('{"frame"', '\n{"frame"') + "\n")


if __name__ == "__main__":
    main()
