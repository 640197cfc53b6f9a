"""On real datasets the face, and the aggregators behind it, agree with crowd-kit (recorded)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest

from sottovoce import crowdkit
from sottovoce.engines import LocalEngine
from sottovoce.inference import DawidSkene, MajorityVote, OneCoin
from sottovoce.model import Domain, Reports, Result

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "crowdkit.json").read_text())
DATASETS = VECTORS["datasets"]
RECORDED_ORDER = pytest.mark.skipif(
    pd.__version__.split(".")[0] != VECTORS["versions"]["pandas"].split(".")[0],
    reason="crowd-kit's label order, hence who wins a tie, depends on pandas' major version",
)

Answers: TypeAlias = Callable[[str], pd.DataFrame]
Accuracy: TypeAlias = Callable[[str, "pd.Series[Any]"], float]

LARGE = ("trec2010", "web")
every_dataset = pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in DATASETS],
)


def engine_of(data: pd.DataFrame, labels: list[Any]) -> LocalEngine:
    worker, workers = pd.factorize(data["worker"])
    task, tasks = pd.factorize(data["task"])
    label = pd.Index(labels).get_indexer(pd.Index(data["label"]))
    domain = Domain.categorical(labels)
    return LocalEngine(
        Reports.of(
            worker,
            task,
            label,
            domain=domain,
            workers=np.asarray(workers, object),
            tasks=np.asarray(tasks, object),
        )
    )


def labels_of(result: Result) -> pd.Series[Any]:
    return pd.Series(result.values, index=result.tasks)


@RECORDED_ORDER
@every_dataset
@pytest.mark.parametrize("method", ["MajorityVote", "DawidSkene", "OneCoinDawidSkene"])
def test_the_face_gives_crowd_kits_posteriors_rounds_and_accuracy(
    name: str, method: str, answers: Answers, accuracy: Accuracy
) -> None:
    recorded = DATASETS[name]["methods"][method]
    model = getattr(crowdkit, method)(**recorded["arguments"]).fit(answers(name))
    assert model.probas_.columns.tolist() == recorded["columns"]
    posteriors = model.probas_.loc[DATASETS[name]["tasks"]].to_numpy()
    assert posteriors == pytest.approx(np.array(recorded["posteriors"]), abs=1e-9)
    assert len(getattr(model, "loss_history_", [0])) == recorded["rounds"]
    assert accuracy(name, model.labels_) == recorded["accuracy"]


@every_dataset
@pytest.mark.parametrize("method", ["DawidSkene", "OneCoinDawidSkene"])
def test_our_aggregators_stop_where_crowd_kit_stops(
    name: str, method: str, answers: Answers, accuracy: Accuracy
) -> None:
    recorded = DATASETS[name]["methods"][method]
    aggregator = {"DawidSkene": DawidSkene, "OneCoinDawidSkene": OneCoin}[method]
    labels = sorted(DATASETS[name]["labels"])
    result = aggregator(recorded["arguments"].get("n_iter", 100)).fit(
        engine_of(answers(name), labels)
    )
    assert result.rounds == recorded["rounds"]
    assert accuracy(name, labels_of(result)) == recorded["accuracy"]


@every_dataset
def test_majority_vote_with_crowd_kits_label_order_has_its_accuracy(
    name: str, answers: Answers, accuracy: Accuracy
) -> None:
    result = MajorityVote().fit(engine_of(answers(name), DATASETS[name]["labels"]))
    expected = DATASETS[name]["methods"]["MajorityVote"]["accuracy"]
    assert accuracy(name, labels_of(result)) == expected


@every_dataset
def test_another_label_order_moves_tied_tasks_only(name: str, answers: Answers) -> None:
    recorded, data = DATASETS[name], answers(name)
    here = labels_of(MajorityVote().fit(engine_of(data, recorded["labels"])))
    sorted_result = MajorityVote().fit(engine_of(data, sorted(recorded["labels"])))
    assert sorted_result.posterior is not None
    posterior = sorted_result.posterior
    tied = (posterior == posterior.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert tied.sum() == recorded["tied"]
    moved = labels_of(sorted_result).to_numpy() != here.to_numpy()
    assert not (moved & ~tied).any()


@pytest.mark.parametrize(
    ("name", "floor"), [("bluebirds", 0.885), ("rte", 0.925), ("web", 0.825), ("dog", 0.840)]
)
def test_dawid_skene_is_as_accurate_as_promised(
    name: str, floor: float, answers: Answers, accuracy: Accuracy
) -> None:
    result = DawidSkene().fit(engine_of(answers(name), sorted(DATASETS[name]["labels"])))
    assert accuracy(name, labels_of(result)) >= floor
