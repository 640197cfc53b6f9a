"""Real datasets, as crowd-kit's frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest


@pytest.fixture(scope="session")
def answers(real_data: Path) -> Callable[[str], pd.DataFrame]:
    """A dataset's answers, with the columns worker, task and label."""

    @cache
    def read(name: str) -> pd.DataFrame:
        return pd.read_csv(real_data / name / "answers.csv").rename(columns={"answer": "label"})

    return read


@pytest.fixture(scope="session")
def accuracy(real_data: Path) -> Callable[[str, pd.Series[Any]], float]:
    """The share of a dataset's gold that labels by task agree with."""

    def score(name: str, labels: pd.Series[Any]) -> float:
        gold = pd.read_csv(real_data / name / "truth.csv").set_index("task")["truth"]
        gold = gold[gold.index.isin(labels.index)]
        return float((labels.loc[gold.index].to_numpy() == gold.to_numpy()).mean())

    return score
