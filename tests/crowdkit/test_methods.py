"""The other aggregators of the face give what crowd-kit gave on small crowds (recorded)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sottovoce import crowdkit
from sottovoce.errors import DataError

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "crowdkit-methods.json").read_text())
CLOSE = {"GLAD": 1e-6, "MMSR": 1e-7}
"""Conjugate gradients and divisions by small skills enlarge rounding errors; others to 1e-9."""


def name_of(case: dict[str, Any]) -> str:
    arguments = ",".join(f"{key}={value}" for key, value in case["arguments"].items())
    return f"{case['method']}({arguments})-{case['frame']}"


def fitted(case: dict[str, Any]) -> tuple[Any, Any]:
    frame = case["frame"]
    data = pd.DataFrame(VECTORS["frames"][frame], columns=["task", "worker", "label"])
    given = [pd.Series(VECTORS["gold"][frame])] if case["method"] == "GoldMajorityVote" else []
    model = getattr(crowdkit, case["method"])(**case["arguments"])
    return model, model.fit_predict(data, *given)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=name_of)
def test_every_attribute_is_as_crowd_kit_gave_it(case: dict[str, Any]) -> None:
    model, labels = fitted(case)
    assert labels is model.labels_
    close = CLOSE.get(case["method"], 1e-9)
    for name, expected in case["found"].items():
        found = getattr(model, name)
        if isinstance(expected, list):
            np.testing.assert_allclose(np.asarray(found), expected, rtol=close, atol=close)
            continue
        assert list(found.index) == expected["index"]
        if name == "labels_":
            assert (found.name, found.index.name) == ("agg_label", "task")
            assert found.tolist() == expected["values"]
            continue
        if "columns" in expected:
            assert [*found.columns.names, *found.columns] == expected["columns"]
        np.testing.assert_allclose(found.to_numpy(), expected["values"], rtol=close, atol=close)


ROWS = [
    ("t2", "bo", "yes"), ("t2", "al", "yes"), ("t2", "cy", "no"), ("t1", "al", "no"),
    ("t1", "bo", "no"), ("t3", "cy", "yes"), ("t3", "bo", "no"), ("t3", "al", "no"),
]  # fmt: skip
FITTING = ["Wawa", "ZeroBasedSkill", "MMSR", "MACE", "GLAD", "KOS"]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["task", "worker", "label"])


def test_the_face_has_every_aggregator_of_crowd_kits_classification() -> None:
    recorded = {case["method"] for case in VECTORS["cases"]}
    older = {"DawidSkene", "MajorityVote", "OneCoinDawidSkene"}
    assert set(crowdkit.__all__) == recorded | older


@pytest.mark.parametrize("name", FITTING)
def test_the_majority_is_right_where_all_but_one_agree(name: str, frame: pd.DataFrame) -> None:
    labels = getattr(crowdkit, name)().fit_predict(frame)
    assert labels.to_dict() == {"t1": "no", "t2": "yes", "t3": "no"}


@pytest.mark.parametrize("name", FITTING)
def test_a_row_without_a_worker_is_refused(name: str, frame: pd.DataFrame) -> None:
    frame.loc[[2, 5], "worker"] = None
    with pytest.raises(DataError, match="2 of 8 rows have no worker: drop them first"):
        getattr(crowdkit, name)().fit(frame)


@pytest.mark.parametrize("name", FITTING)
def test_one_row_has_finite_results(name: str, frame: pd.DataFrame) -> None:
    model = getattr(crowdkit, name)()
    if name == "KOS":
        with pytest.raises(ValueError, match="KOS takes two labels, and the answers have 1"):
            model.fit(frame[:1])
    elif name == "MMSR":  # a single task is no evidence about anybody: crowd-kit fails, too
        assert model.fit(frame[:1]).skills_.tolist() == [0.0]
    else:
        assert model.fit_predict(frame[:1]).to_dict() == {"t2": "yes"}


@pytest.mark.parametrize("name", ["MMSR", "MACE", "GLAD"])
def test_no_rows_are_refused_where_crowd_kit_fails(name: str, frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match=f"there are no answers: {name} needs at least one"):
        getattr(crowdkit, name)().fit(frame[:0])


@pytest.mark.parametrize("name", ["Wawa", "ZeroBasedSkill"])
def test_skills_vote_on_other_answers(name: str, frame: pd.DataFrame) -> None:
    model = getattr(crowdkit, name)().fit(frame)
    assert not hasattr(model, "labels_")
    others = pd.DataFrame([("x", "cy", "yes"), ("x", "al", "no")], columns=frame.columns)
    assert model.predict(others).to_dict() == {"x": "no"}
    assert model.predict_proba(others).loc["x", "no"] > 0.5


@pytest.mark.parametrize("name", ["Wawa", "ZeroBasedSkill", "GoldMajorityVote", "MMSR"])
def test_there_is_no_prediction_without_a_fit(name: str, frame: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match=f"fit {name} first"):
        getattr(crowdkit, name)().predict(frame)


def test_workers_without_gold_have_no_vote(frame: pd.DataFrame) -> None:
    model = crowdkit.GoldMajorityVote().fit(frame, pd.Series({"t1": "no", "t9": "yes"}))
    assert model.skills_.to_dict() == {"al": 1.0, "bo": 1.0}
    with pytest.raises(ValueError, match="2 answers come from workers without a skill"):
        model.predict(frame)


def test_glad_takes_priors_by_name(frame: pd.DataFrame) -> None:
    sure = pd.Series({"no": 1e-6, "yes": 1 - 1e-6})
    assert set(crowdkit.GLAD(labels_priors=sure).fit_predict(frame)) == {"yes"}
    with pytest.raises(DataError, match="a prior lacks 2 worker"):
        crowdkit.GLAD(alphas_priors_mean=pd.Series({"al": 1.0})).fit(frame)


def test_mace_gives_names_in_any_order_the_same_probabilities(frame: pd.DataFrame) -> None:
    # crowd-kit's MACE sorts the names of one table only, and mixes workers up.
    renamed = frame.replace({"bo": "a", "al": "b", "yes": "1", "no": "2"})
    expected = crowdkit.MACE().fit(renamed).probas_.to_numpy()
    assert crowdkit.MACE().fit(frame).probas_.to_numpy() == pytest.approx(expected, abs=1e-12)
