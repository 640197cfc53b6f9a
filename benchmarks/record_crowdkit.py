"""Run crowd-kit and record its results, so that tests can compare without it.

    python benchmarks/record_crowdkit.py [OUT]

Reads every dataset with labels in `SOTTOVOCE_DATA` (else ../shared/data) and some small handmade
frames, and writes tests/vectors/crowdkit.json: accuracies, rounds and the posteriors of some tasks
for the datasets, every attribute of the fitted object for the frames.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote, OneCoinDawidSkene

ROOT = Path(__file__).parents[1]
OUT = ROOT / "tests" / "vectors" / "crowdkit.json"
METHODS = {
    "MajorityVote": MajorityVote,
    "DawidSkene": DawidSkene,
    "OneCoinDawidSkene": OneCoinDawidSkene,
}
ATTRIBUTES = ("labels_", "probas_", "skills_", "priors_", "errors_", "loss_history_")
FEW_ROUNDS = {"adult2": 5, "trec2010": 5}
"""The number of rounds for datasets on which crowd-kit's one-coin takes minutes."""
TASKS = 20


def main() -> None:
    """Write the vectors."""
    warnings.simplefilter("ignore")
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else OUT
    vectors = {
        "versions": {name: version(name) for name in ("crowd-kit", "pandas", "numpy")},
        "datasets": dict(dataset_vectors()),
        "frames": {name: encoded(frame) for name, frame in frames().items()},
        "cases": [case_vector(case) for case in cases()],
    }
    text = json.dumps(vectors, separators=(",", ":"), ensure_ascii=True)
    out.write_text(text.replace('},"', '},\n"').replace('},{"', '},\n{"') + "\n")
    print(f"{out}: {out.stat().st_size / 1000:.0f} kB")


def data_folder() -> Path:
    chosen = os.environ.get("SOTTOVOCE_DATA")
    return Path(chosen) if chosen else ROOT.parent / "shared" / "data"


# ── datasets ──────────────────────────────────────────────────────────────────────────────────


def dataset_vectors() -> Iterator[tuple[str, dict[str, Any]]]:
    folder = data_folder()
    for card in json.loads((folder / "datasets.json").read_text()):
        if card["kind"] == "numeric":
            continue
        name = card["name"]
        data = pd.read_csv(folder / name / "answers.csv").rename(columns={"answer": "label"})
        gold = pd.read_csv(folder / name / "truth.csv").set_index("task")["truth"]
        yield name, dataset_vector(name, data, gold)


def dataset_vector(name: str, data: pd.DataFrame, gold: pd.Series[Any]) -> dict[str, Any]:
    print(name, end=" ", flush=True)
    vote = MajorityVote()
    votes = vote.fit_predict_proba(data)
    tasks = votes.index[np.linspace(0, len(votes) - 1, TASKS).astype(int)]
    tied = votes.eq(votes.max(axis=1), axis=0).sum(axis=1) > 1
    rounds: dict[str, Any] = {"n_iter": FEW_ROUNDS[name]} if name in FEW_ROUNDS else {}
    fitted: dict[str, tuple[Any, dict[str, Any]]] = {
        "MajorityVote": (vote, {}),
        "DawidSkene": (DawidSkene().fit(data), {}),
        "OneCoinDawidSkene": (OneCoinDawidSkene(**rounds).fit(data), rounds),
    }
    print("done", flush=True)
    return {
        "answers": len(data),
        "labels": votes.columns.tolist(),
        "tied": int(tied.sum()),
        "tasks": tasks.tolist(),
        "methods": {
            method: {
                "arguments": arguments,
                "accuracy": accuracy(model.labels_, gold),
                "rounds": len(getattr(model, "loss_history_", [0])),
                "columns": model.probas_.columns.tolist(),
                "posteriors": model.probas_.loc[tasks].to_numpy().tolist(),
            }
            for method, (model, arguments) in fitted.items()
        },
    }


def accuracy(labels: pd.Series[Any], gold: pd.Series[Any]) -> float:
    scored = gold[gold.index.isin(labels.index)]
    return float((labels.loc[scored.index].to_numpy() == scored.to_numpy()).mean())


# ── handmade frames ───────────────────────────────────────────────────────────────────────────


def frames() -> dict[str, pd.DataFrame]:
    """Small tables of every label type: noisy answers, uneven workers, some repeated rows."""
    animals, rng = ["dog", "ant", "cat"], np.random.default_rng(11)
    truth = rng.integers(0, 3, 9)
    rows = []
    for task in (4, 8, 0, 3, 6, 1, 7, 2, 5):
        for worker in rng.permutation(5)[: 3 if task % 4 else 2]:
            right = rng.random() < (0.9, 0.8, 0.6, 0.4, 0.7)[worker]
            label = truth[task] if right else rng.integers(0, 3)
            rows.append((f"t{task}", f"w{worker}", animals[label]))
    rows += [rows[3], rows[9], (rows[5][0], rows[5][1], "ant")]
    strings = pd.DataFrame(rows, columns=["task", "worker", "label"])
    tied = pd.DataFrame(
        {
            "task": list("bbaaccdddeeb"),
            "worker": [7, 3, 3, 7, 7, 5, 5, 3, 7, 5, 3, 5],
            "label": [2, 1, 1, 2, 0, 0, 1, 1, 0, 2, 0, 0],
        }
    )
    codes = {"dog": 10, "ant": 2, "cat": 30}
    return {
        "strings": strings,
        "objects": strings.astype(object),
        "booleans": strings.assign(label=strings["label"] == "dog"),
        "integers": pd.DataFrame(
            {
                "label": strings["label"].map(codes),
                "worker": strings["worker"].str[1:].astype("int64"),
                "extra": 1.5,
                "task": strings["task"].str[1:].astype("int64"),
            }
        ).set_axis(strings.index[::-1] * 3),
        "bytes": strings.assign(label=strings["label"].map(codes).astype("int8")),
        "nullable": strings.assign(label=strings["label"].map(codes).astype("Int64")),
        "floats": strings.assign(label=strings["label"].map({"dog": 0.5, "ant": -1.0, "cat": 2.0})),
        "mixed": strings.assign(label=strings["label"].map({"dog": "dog", "ant": 1, "cat": "cat"})),
        "tied": tied,
        "one label": strings.assign(label="dog"),
        "one row": strings.iloc[:1],
        "empty": strings.iloc[:0],
    }


def cases() -> Iterator[dict[str, Any]]:
    for name in frames():
        for method in METHODS:
            if method != "OneCoinDawidSkene" or name not in ("objects", "bytes", "floats"):
                yield {"frame": name, "method": method}
    yield from vote_cases()
    yield from gold_cases()
    yield from history_cases()
    for rounds in (0, 3):
        for method in ("DawidSkene", "OneCoinDawidSkene"):
            yield {"frame": "strings", "method": method, "arguments": {"n_iter": rounds}}
    for method in ("DawidSkene", "OneCoinDawidSkene"):
        yield {"frame": "strings", "method": method, "arguments": {"n_iter": 12, "tol": 0.0}}


def vote_cases() -> Iterator[dict[str, Any]]:
    skills = pd.Series({"w4": 0.7, "w0": 0.9, "w2": 0.6, "w1": 0.85, "w3": 0.35, "w9": 1.0})
    numbered = pd.Series([2, 1, 3, 2, 1], index=[4, 0, 2, 1, 3])
    vote = {"method": "MajorityVote"}
    for name in ("strings", "objects", "booleans", "nullable", "mixed", "empty", "one row"):
        yield {**vote, "frame": name, "skills": skills}
    yield {**vote, "frame": "integers", "skills": numbered}
    yield {**vote, "frame": "tied", "skills": pd.Series({3: 1.0, 5: 0.5, 7: 1.0})}
    some = skills.drop(["w3", "w1"])
    for arguments in (
        {},
        {"on_missing_skill": "ignore"},
        {"on_missing_skill": "value"},
        {"on_missing_skill": "value", "default_skill": 0.2},
        {"default_skill": 0.2},
        {"on_missing_skill": "guess"},
    ):
        yield {**vote, "frame": "strings", "skills": some, "arguments": arguments}
    yield {**vote, "frame": "strings", "arguments": {"on_missing_skill": "guess"}}
    few, ignore = skills[["w0"]], {"on_missing_skill": "ignore"}
    yield {**vote, "frame": "strings", "skills": few, "arguments": ignore}
    yield {**vote, "frame": "strings", "skills": skills * 0}


def gold_cases() -> Iterator[dict[str, Any]]:
    gold = pd.Series({"t3": "cat", "t8": "dog", "t99": "ant"})
    fit = {"method": "DawidSkene"}
    yield {**fit, "frame": "strings", "true_labels": gold}
    yield {**fit, "frame": "objects", "true_labels": gold}
    yield {**fit, "frame": "strings", "true_labels": gold, "arguments": {"n_iter": 0}}
    yield {**fit, "frame": "booleans", "true_labels": gold == "dog"}
    yield {**fit, "frame": "tied", "true_labels": pd.Series({"b": 1, "e": 0})}
    twice = pd.Series(["cat", "dog", "cat", "ant"], index=["t3", "t3", "t1", "t1"])
    yield {**fit, "frame": "strings", "true_labels": twice}
    yield {**fit, "frame": "strings", "true_labels": gold.iloc[:0]}


def history_cases() -> Iterator[dict[str, Any]]:
    strings = history([f"w{i}" for i in range(5)], ["ant", "cat", "dog"])
    booleans = history([f"w{i}" for i in range(5)], [False, True])
    shuffled = strings[["dog", "cat", "ant"]].iloc[::-1]
    gold = pd.Series({"t3": "cat", "t8": "dog"})
    for strategy in ("assign", "addition"):
        fit = {"method": "DawidSkene", "arguments": {"initial_error_strategy": strategy}}
        yield {**fit, "frame": "strings", "initial_error": strings}
        yield {**fit, "frame": "strings", "initial_error": shuffled}
        yield {**fit, "frame": "strings", "initial_error": shares(strings)}
        yield {**fit, "frame": "strings", "initial_error": strings, "true_labels": gold}
        yield {**fit, "frame": "booleans", "initial_error": booleans}
        yield {**fit, "frame": "strings", "initial_error": strings.iloc[:4]}
        yield {**fit, "frame": "strings", "initial_error": strings.rename_axis(["w", "l"])}
        yield {**fit, "frame": "strings"}
    assign = {"method": "DawidSkene", "arguments": {"initial_error_strategy": "assign"}}
    yield {**assign, "frame": "strings", "initial_error": shares(strings) / 2}
    guess = {"method": "DawidSkene", "arguments": {"initial_error_strategy": "guess"}}
    yield {**guess, "frame": "strings", "initial_error": strings}
    yield {"method": "DawidSkene", "frame": "strings", "initial_error": strings}


def history(workers: list[str], labels: list[Any]) -> pd.DataFrame:
    index = pd.MultiIndex.from_product([workers, labels], names=["worker", "label"])
    rng = np.random.default_rng(3)
    counts = rng.integers(0, 3, (len(index), len(labels)))
    counts += 5 * np.tile(np.eye(len(labels), dtype=int), (len(workers), 1))
    return pd.DataFrame(counts.astype(float), index=index, columns=labels)


def shares(counts: pd.DataFrame) -> pd.DataFrame:
    return counts / counts.groupby("worker", sort=False).sum()


def case_vector(case: dict[str, Any]) -> dict[str, Any]:
    inputs = ("skills", "true_labels", "initial_error")
    given = {name: case[name].copy() for name in inputs if name in case}
    arguments = case.get("arguments", {})
    vector = {"frame": case["frame"], "method": case["method"], "arguments": arguments}
    vector["given"] = {name: encoded(table) for name, table in given.items()}
    model = METHODS[case["method"]](**arguments)
    try:
        model.fit(frames()[case["frame"]], **given)
    except ValueError as error:
        return {**vector, "raises": type(error).__name__}
    found = {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    return {**vector, "found": {name: encoded(value) for name, value in found.items()}}


# ── tables as JSON ────────────────────────────────────────────────────────────────────────────


def encoded(table: pd.DataFrame | pd.Series[Any] | list[float]) -> Any:
    """Names, types, order and values: everything in which two tables can differ."""
    if isinstance(table, pd.DataFrame):
        return {
            "index": encoded_index(table.index),
            "columns": encoded_index(table.columns),
            "types": [str(dtype) for dtype in table.dtypes],
            "values": [table.iloc[:, i].tolist() for i in range(table.shape[1])],
        }
    if isinstance(table, pd.Series):
        return {
            "index": encoded_index(table.index),
            "name": table.name,
            "type": str(table.dtype),
            "values": table.tolist(),
        }
    return table


def encoded_index(index: pd.Index[Any]) -> dict[str, Any]:
    types = index.dtypes if isinstance(index, pd.MultiIndex) else [index.dtype]
    return {
        "names": list(index.names),
        "types": [str(dtype) for dtype in types],
        "values": index.tolist(),
    }


if __name__ == "__main__":
    main()
