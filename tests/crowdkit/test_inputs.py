"""Odd input to the crowd-kit interface, where crowd-kit does nothing sensible."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sottovoce.crowdkit import DawidSkene, MajorityVote, OneCoinDawidSkene, dataframes
from sottovoce.crowdkit.majority_vote import Accuracies
from sottovoce.engines import LocalEngine
from sottovoce.errors import DataError, install_command
from sottovoce.model import Domain, Reports

ROWS = [
    ("t2", "bo", "yes"),
    ("t2", "al", "yes"),
    ("t2", "cy", "no"),
    ("t1", "al", "no"),
    ("t1", "bo", "no"),
    ("t3", "cy", "yes"),
    ("t3", "bo", "no"),
    ("t3", "al", "no"),
]


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS, columns=["task", "worker", "label"])


def history(frame: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    index = pd.MultiIndex.from_product(
        [sorted(frame["worker"].unique()), labels], names=["worker", "label"]
    )
    values = np.tile(np.eye(len(labels)) * 4 + 1, (frame["worker"].nunique(), 1))
    return pd.DataFrame(values, index=index, columns=labels)


@pytest.mark.parametrize("model", [MajorityVote(), DawidSkene(), OneCoinDawidSkene()], ids=repr)
@pytest.mark.parametrize("column", ["task", "worker", "label"])
def test_a_missing_value_is_refused_with_the_way_out(
    model: Any, column: str, frame: pd.DataFrame
) -> None:
    frame.loc[[2, 5], column] = None
    with pytest.raises(DataError, match=rf"2 of 8 rows have no {column}: drop them first"):
        model.fit(frame)


def test_a_missing_column_is_a_key_error_as_in_crowd_kit(frame: pd.DataFrame) -> None:
    with pytest.raises(KeyError, match="worker"):
        MajorityVote().fit(frame.drop(columns="worker"))


def test_predictions_are_the_attributes(frame: pd.DataFrame) -> None:
    for model in (MajorityVote(), DawidSkene(), OneCoinDawidSkene()):
        assert model.fit_predict(frame) is model.labels_
        assert model.fit_predict_proba(frame) is model.probas_


def test_nothing_is_there_before_a_fit() -> None:
    assert not hasattr(MajorityVote(), "labels_")
    assert not hasattr(DawidSkene(), "probas_")
    assert repr(DawidSkene(5)) == "DawidSkene(n_iter=5, tol=1e-05, initial_error_strategy=None)"


def test_arguments_have_crowd_kits_order() -> None:
    assert MajorityVote(0.5, "value").on_missing_skill == "value"
    for model in (DawidSkene(7, 0.1, "assign"), OneCoinDawidSkene(7, 0.1, "assign")):
        assert (model.n_iter, model.tol, model.initial_error_strategy) == (7, 0.1, "assign")


@pytest.mark.parametrize("dtype", ["category", "string", "object"])
def test_labels_of_any_string_type_give_the_same_truths(dtype: Any, frame: pd.DataFrame) -> None:
    for model in (MajorityVote(), DawidSkene(), OneCoinDawidSkene()):
        expected = model.fit_predict(frame).tolist()
        assert model.fit_predict(frame.astype(dtype)).tolist() == expected


def test_labels_that_read_alike_stay_apart(frame: pd.DataFrame) -> None:
    mixed = frame.assign(label=frame["label"].map({"yes": 1, "no": "1"}))
    assert MajorityVote().fit(mixed).probas_.columns.tolist() == [1, "1"]


def test_gold_that_no_worker_gave_is_the_truth_all_the_same(frame: pd.DataFrame) -> None:
    model = DawidSkene().fit(frame, pd.Series({"t1": "maybe", "t2": None}))
    assert model.labels_["t1"] == "maybe"
    assert set(model.probas_.columns) == {"yes", "no", "maybe"}
    assert model.probas_.columns[-1] == "maybe"
    assert model.probas_.sum(axis=1).to_numpy() == pytest.approx(1.0, abs=1e-9)
    assert model.errors_.index.get_level_values("label").unique().tolist() == ["yes", "no"]


def test_gold_of_another_type_is_refused(frame: pd.DataFrame) -> None:
    numbers = frame.assign(label=frame["label"].map({"yes": 1, "no": 0}))
    with pytest.raises(DataError, match="true_labels holds labels that the answers' type"):
        DawidSkene().fit(numbers, pd.Series({"t1": "no"}))


def test_the_callers_initial_error_is_left_alone(frame: pd.DataFrame) -> None:
    given = history(frame, ["yes", "no"])
    before = given.copy()
    DawidSkene(initial_error_strategy="assign").fit(frame, initial_error=given)
    pd.testing.assert_frame_equal(given, before)


def test_whole_counts_may_be_assigned(frame: pd.DataFrame) -> None:
    given, model = history(frame, ["yes", "no"]), DawidSkene(initial_error_strategy="assign")
    expected = model.fit_predict_proba(frame, initial_error=given)
    found = model.fit_predict_proba(frame, initial_error=given.astype(int))
    pd.testing.assert_frame_equal(found, expected)


def test_history_of_strangers_and_unheard_labels_gives_no_empty_columns(
    frame: pd.DataFrame,
) -> None:
    given = history(frame, ["yes", "no", "maybe"])
    given.loc[("stranger", "yes"), :] = 3.0
    model = DawidSkene(initial_error_strategy="addition").fit(frame, initial_error=given)
    assert sorted(model.probas_.columns) == ["no", "yes"]
    assert np.isfinite(model.probas_.to_numpy()).all()


def test_an_assigned_history_with_gaps_is_refused(frame: pd.DataFrame) -> None:
    model = DawidSkene(initial_error_strategy="assign")
    with pytest.raises(DataError, match="a number for every truth"):
        model.fit(frame, initial_error=history(frame, ["yes", "no"])[["yes"]])


def test_repeated_names_in_the_inputs_are_refused(frame: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="skills names a worker more than once"):
        MajorityVote().fit(frame, pd.Series([1.0, 2.0], index=["al", "al"]))
    given = history(frame, ["yes", "no"])
    with pytest.raises(DataError, match="more than once"):
        DawidSkene(initial_error_strategy="addition").fit(
            frame, initial_error=pd.concat([given, given])
        )


def test_a_tolerance_of_minus_infinity_runs_all_rounds(frame: pd.DataFrame) -> None:
    assert len(DawidSkene(7, tol=-np.inf).fit(frame).loss_history_) == 7


def test_votes_are_sorted_as_pandas_2_sorts_them(
    frame: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataframes, "VOTES_ARE_SORTED", True)
    vote = MajorityVote().fit(frame)
    assert vote.probas_.columns.tolist() == ["no", "yes"]
    assert vote.probas_.index.tolist() == ["t1", "t2", "t3"]
    fitted = DawidSkene().fit(frame)
    assert fitted.probas_.columns.tolist() == ["no", "yes"]
    assert fitted.probas_.index.tolist() == ["t2", "t1", "t3"]  # never sorted by task


def test_large_frames_give_what_small_ones_give() -> None:
    rng = np.random.default_rng(5)
    rows = 120_000  # enough for compiled kernels
    task, worker = rng.integers(0, 30_000, rows), rng.integers(0, 50, rows)
    label = np.where(rng.random(rows) < 0.7, task % 3, rng.integers(0, 3, rows))
    data = pd.DataFrame({"task": task, "worker": worker, "label": label})
    model = MajorityVote().fit(data)
    joined = data.drop_duplicates().join(model.labels_, on="task")
    expected = (joined["label"] == joined["agg_label"]).groupby(joined["worker"]).mean()
    assert model.skills_.to_numpy() == pytest.approx(expected.to_numpy(), abs=1e-12)
    named = DawidSkene(5).fit(data.assign(task="t" + data["task"].astype(str)))
    counted = DawidSkene(5).fit(data)
    assert (named.probas_.to_numpy() == counted.probas_.to_numpy()).all()


def test_accuracies_count_a_repeated_row_once_with_and_without_kernels() -> None:
    table = Reports.of(
        [0, 0, 1, 1, 0], [0, 0, 0, 1, 1], [1, 1, 0, 0, 1], domain=Domain.categorical("ab")
    )
    step = Accuracies(np.array([1, 0], np.int32), workers=2, labels=2)
    for use_kernels in (False, True):
        total = LocalEngine(table, use_kernels=use_kernels).total(step)
        assert total.tolist() == [[1.0, 1.0], [2.0, 2.0]]


def test_pandas_is_asked_for_in_words_when_it_is_missing() -> None:
    code = "import sys; sys.modules['pandas'] = None; import sottovoce, sottovoce.crowdkit"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "NotInstalled: the crowd-kit face needs pandas" in run.stderr
    assert install_command("pandas") in run.stderr
