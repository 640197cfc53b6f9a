"""Every result: the same content in every export format."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sottovoce.engines import LocalEngine
from sottovoce.errors import UsageError
from sottovoce.inference import METHODS, method_named
from sottovoce.model import Domain, Kind, Label, Reports, Result
from sottovoce.model.result import TableName

BOTH = [
    (name, numeric)
    for name in METHODS
    for numeric in (False, True)
    if (Kind.NUMERIC if numeric else Kind.CATEGORICAL) in METHODS[name].takes
]
TABLES: tuple[TableName, ...] = ("truths", "posterior", "workers", "confusions")


def result_of(method: str, numeric: bool, labels: tuple[Label, ...] = ("no", "yes")) -> Result:
    rng = np.random.default_rng(2)
    worker, task = np.divmod(np.arange(30), 6)
    value = rng.normal(size=30) if numeric else rng.integers(0, 2, 30)
    domain = Domain.numeric() if numeric else Domain.categorical(labels)
    names: dict[str, Any] = {"workers": list("abcde"), "tasks": [f"q{i}" for i in range(6)]}
    return method_named(method).fit(
        LocalEngine(Reports.of(worker, task, value, domain=domain, **names))
    )


def tables_of(result: Result) -> dict[TableName, dict[str, Any]]:
    found = {}
    for name in TABLES:
        try:
            found[name] = result.table(name)
        except UsageError:
            continue
    return found


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_columns_have_one_length(method: str, numeric: bool) -> None:
    for columns in tables_of(result_of(method, numeric)).values():
        assert len({len(column) for column in columns.values()}) == 1


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_pandas_polars_and_arrow_hold_the_same(method: str, numeric: bool) -> None:
    result = result_of(method, numeric)
    for name, columns in tables_of(result).items():
        plain = {key: column.tolist() for key, column in columns.items()}
        assert result.to_pandas(name).to_dict("list") == plain
        assert result.to_polars(name).to_dict(as_series=False) == plain
        assert result.to_arrow(name).to_pydict() == plain


@pytest.mark.parametrize(("method", "numeric"), BOTH)
def test_the_table_of_truths_has_a_row_per_task(method: str, numeric: bool) -> None:
    columns = result_of(method, numeric).table()
    sureness = "standard_error" if numeric else "confidence"
    assert list(columns) == ["task", "truth", sureness, "answers"]
    assert columns["task"].tolist() == [f"q{i}" for i in range(6)]
    assert columns["answers"].tolist() == [5] * 6


@pytest.mark.parametrize("labels", [(3, 7), ("no", "yes"), (False, True), (0.5, 1.5), (1, "b")])
@pytest.mark.parametrize("method", ["majority-vote", "dawid-skene"])
def test_labels_keep_their_type(method: str, labels: tuple[Label, ...]) -> None:
    values = result_of(method, numeric=False, labels=labels).values.tolist()
    assert {(type(v), v) for v in values} <= {(type(v), v) for v in labels}


@pytest.mark.parametrize("labels", [(3, 7), (False, True), (0.5, 1.5)])
def test_labels_of_one_type_make_a_column_of_it(labels: tuple[Label, ...]) -> None:
    truths = result_of("majority-vote", numeric=False, labels=labels).table()["truth"]
    assert truths.dtype == np.array(labels).dtype


@pytest.mark.parametrize("name", ["posterior", "confusions"])
def test_a_table_that_a_method_has_not_is_refused(name: TableName) -> None:
    with pytest.raises(UsageError, match=f"mean gives no {name}"):
        result_of("mean", numeric=True).table(name)


def test_a_table_that_nobody_has_is_refused_by_name() -> None:
    name: Any = "trues"
    with pytest.raises(UsageError, match="no table 'trues': there are truths, posterior, workers"):
        result_of("mean", numeric=True).table(name)


@pytest.mark.parametrize("method", ["dawid-skene", "latent-label"])
def test_confusions_are_chances_of_an_answer_given_the_truth(method: str) -> None:
    columns = result_of(method, numeric=False).table("confusions")
    assert list(columns) == ["worker", "truth", "answer", "probability"]
    per_truth: dict[tuple[str, str], float] = {}
    rows = zip(*(columns[name].tolist() for name in columns), strict=True)
    for worker, truth, _, probability in rows:
        per_truth[worker, truth] = per_truth.get((worker, truth), 0.0) + probability
    assert list(per_truth.values()) == pytest.approx([1.0] * 10)


def test_a_label_named_task_keeps_its_column() -> None:
    result = result_of("majority-vote", numeric=False, labels=("task", "yes"))
    assert len(result.table("posterior")) == 3
