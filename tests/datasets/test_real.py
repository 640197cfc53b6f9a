"""The real datasets hold what their cards say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.datasets import add, describe, list_datasets, load
from sottovoce.model import Kind

NAMES = [
    "adult2", "bluebirds", "calories", "dog", "duchenne",
    "emotion", "peer_grades", "rte", "trec2010", "web",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _use_real_data(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    if missing := set(NAMES) - {card.name for card in list_datasets()}:
        pytest.skip(f"needs real datasets: {real_data} lacks {', '.join(sorted(missing))}")


def record_of(folder: Path, name: str) -> Any:
    records = json.loads((folder / "datasets.json").read_text())
    return next(record for record in records if record["name"] == name)


def test_all_are_listed_by_name() -> None:
    names = [card.name for card in list_datasets()]
    assert names == sorted(names)
    assert set(NAMES) <= set(names)


@pytest.mark.parametrize("name", NAMES)
def test_it_loads_with_the_counts_on_its_card(name: str) -> None:
    card = describe(name)
    reports, gold = load(name)
    assert gold is not None
    assert (len(reports.workers), len(reports.tasks), len(reports), len(gold)) == (
        card.workers, card.tasks, card.answers, card.truths,
    )  # fmt: skip
    assert reports.domain == card.domain
    assert reports.reading is not None
    assert reports.reading.repeated == 0


@pytest.mark.parametrize("name", NAMES)
def test_each_label_and_truth_occurs_as_often_as_its_card_says(name: str, real_data: Path) -> None:
    reports, gold = load(name)
    assert gold is not None
    domain = record_of(real_data, name)["domain"]
    if reports.domain.is_numeric:
        assert reports.value.min() == domain["observed_min"]
        assert reports.value.max() == domain["observed_max"]
        assert gold.truths.min() == domain["truth_min"]
        assert gold.truths.max() == domain["truth_max"]
        return
    counts = np.bincount(reports.value, minlength=reports.labels).tolist()
    labels = [str(label) for label in reports.domain.labels]
    assert dict(zip(labels, counts, strict=True)) == domain["answer_counts"]
    truths, counts_of_truths = np.unique(gold.truths.astype(str), return_counts=True)
    assert dict(zip(truths.tolist(), counts_of_truths.tolist(), strict=True)) == {
        label: count for label, count in domain["truth_counts"].items() if count
    }


@pytest.mark.parametrize("name", ["adult2", "duchenne", "trec2010"])
def test_the_first_of_each_raw_pair_is_the_usual_table(name: str) -> None:
    usual, (raw, _), (kept, _) = (
        load(name)[0],
        load(name, raw=True),
        load(name, raw=True, repeats="keep"),
    )
    assert len(kept) == describe(name).rows
    assert len(raw) == len(usual)
    for names, codes in (("workers", "worker"), ("tasks", "task")):
        np.testing.assert_array_equal(
            getattr(raw, names)[getattr(raw, codes)], getattr(usual, names)[getattr(usual, codes)]
        )
    np.testing.assert_array_equal(raw.value, usual.value)


def test_a_card_tells_what_it_knows() -> None:
    card = describe("duchenne")
    assert card.kind is Kind.CATEGORICAL
    assert card.domain_text == "categorical {0, 1}: 0 = non-Duchenne, 1 = Duchenne"
    assert (card.rows, card.answers) == (30_319, 17_729)
    assert card.has_raw
    assert card.has_gold
    assert card.licence
    assert card.paper
    assert card.oddities
    assert "CDM_BIAS" in card.source


def test_calories_are_open_ended_above() -> None:
    domain = describe("calories").domain
    assert (domain.low, domain.high) == (0, float("inf"))


def test_the_whole_folder_can_be_added_to_an_empty_cache(cache: Path, real_data: Path) -> None:
    assert sorted(add(real_data)) == sorted(card.name for card in list_datasets())
    assert {path.name for path in cache.iterdir()} == {*add_names(cache), "datasets.json"}
    reports, _ = load("rte")
    assert len(reports) == 8_000


def add_names(cache: Path) -> set[str]:
    return {record["name"] for record in json.loads((cache / "datasets.json").read_text())}
