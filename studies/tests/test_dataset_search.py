"""Datasets are found by their sizes: exact ones first, and nothing is taken from the index."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.datasets import CategoricalCrowd, SparseCrowd, add, generate, list_datasets
from sottovoce.errors import UsageError
from sottovoce.model import Reports
from sottovoce_studies.dataset_search import Fingerprint, find

MakeFolder = Callable[..., Path]


def as_csv(reports: Reports) -> str:
    rows = zip(reports.worker, reports.task, reports.value, strict=True)
    return "worker,task,answer\n" + "".join(f"w{w},t{t},l{v}\n" for w, t, v in rows)


@pytest.fixture
def drawn(cache: Path, make_folder: MakeFolder) -> dict[str, Reports]:
    """Three drawn datasets in the cache."""
    crowds = {
        "small": CategoricalCrowd(workers=12, tasks=30, labels=3, redundancy=4, seed=1),
        "large": CategoricalCrowd(workers=40, tasks=80, labels=3, redundancy=5, seed=2),
        "wide": CategoricalCrowd(workers=12, tasks=90, labels=2, redundancy=6, seed=3),
    }
    tables = {name: generate(crowd)[0] for name, crowd in crowds.items()}
    for name, reports in tables.items():
        add(make_folder(name, answers=as_csv(reports)))
    return tables


def test_sparsity_is_the_share_of_tasks_without_an_answer_of_each_worker() -> None:
    reports, _ = generate(SparseCrowd(workers=9, tasks=20, sparsity=0.6, seed=5))
    own = [1 - np.sum(reports.worker == w) / len(reports.tasks) for w in range(9)]
    found = Fingerprint.of(reports)
    assert found.min_sparsity == pytest.approx(min(own))
    assert found.max_sparsity == pytest.approx(max(own))
    assert found.sparsity == pytest.approx(np.mean(own))


def test_numbers_have_no_labels() -> None:
    reports, _ = generate(SparseCrowd(workers=9, tasks=20, sparsity=0.6, seed=5))
    assert Fingerprint.of(reports).labels is None


def test_an_exact_match_comes_first_and_near_ones_follow(drawn: dict[str, Reports]) -> None:
    search = find(workers=12, tasks=30)
    assert [(match.name, match.exact) for match in search.matches] == [
        ("small", True),
        ("wide", False),
    ]
    assert [match.name for match in search.exact] == ["small"]


def test_a_near_match_says_which_sizes_differ(drawn: dict[str, Reports]) -> None:
    [match] = find(workers=12, tasks=30, answers=20).matches
    assert (match.name, match.matching) == ("small", ("workers", "tasks"))
    assert match.differing == {"answers": (20, 120)}
    assert str(match) == "workers and tasks match; answers 120 instead of 20"


def test_sizes_that_all_differ_by_a_tenth_at_most_are_near(drawn: dict[str, Reports]) -> None:
    assert [match.name for match in find(workers=39, tasks=78).matches] == ["large"]
    assert not find(workers=39, tasks=60).matches


def test_a_search_without_a_match_names_what_was_searched(drawn: dict[str, Reports]) -> None:
    search = find(workers=500)
    assert search.matches == ()
    assert search.searched == ("large", "small", "wide")


def test_a_search_is_told_in_a_sentence(drawn: dict[str, Reports]) -> None:
    assert str(find(workers=12, tasks=30)) == (
        "searched 3 datasets by workers 12, tasks 30: found 1 exact (small), 1 near (wide)"
    )


def test_sparsity_is_compared_to_the_digits_given(drawn: dict[str, Reports]) -> None:
    true = 1 - len(drawn["wide"]) / (12 * 90)
    assert true == 0.5
    assert [match.name for match in find(sparsity=0.5, workers=12).exact] == ["wide"]
    assert not find(sparsity=0.5011, workers=12).exact
    small = 1 - 120 / (12 * 30)
    assert [match.name for match in find(sparsity=round(small, 4)).exact] == ["small"]
    assert not find(sparsity=round(small, 4) + 1e-4).exact


def test_answers_are_distinct_pairs_or_rows(cache: Path, make_folder: MakeFolder) -> None:
    table = "worker,task,answer\na,1,yes\nb,1,no\na,2,no\n"
    add(make_folder("birds", answers=table, answers_raw=table + "a,1,no\n"))
    assert find(answers=3).exact
    assert find(answers=4).exact
    assert not find(answers=5).exact


def test_labels_are_counted(drawn: dict[str, Reports]) -> None:
    assert {match.name for match in find(labels=3).exact} == {"small", "large"}


def test_sizes_are_measured_not_read_from_the_index(cache: Path, drawn: dict[str, Reports]) -> None:
    index = cache / "datasets.json"
    records = json.loads(index.read_text())
    for record in records:
        record["n_workers"] = 77
    index.write_text(json.dumps(records))
    assert list_datasets()[0].workers == 77
    assert not find(workers=77).exact


def test_a_dataset_that_cannot_be_read_is_named_with_the_reason(
    cache: Path, drawn: dict[str, Reports]
) -> None:
    (cache / "small" / "answers.csv").write_text("changed")
    search = find(workers=12, tasks=30)
    assert search.searched == ("large", "wide")
    assert "SHA-256" in search.unreadable["small"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "at least one size"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"sparsity": 1.5}, r"sparsity must lie in \[0, 1\]"),
    ],
)
def test_a_search_for_nothing_possible_is_refused(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        find(**asked)


@pytest.fixture
def real(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    if missing := {"wsd", "adult2"} - {card.name for card in list_datasets()}:
        pytest.skip(f"needs real datasets: {real_data} lacks {', '.join(sorted(missing))}")


@pytest.mark.usefixtures("real")
def test_the_web_data_of_p4_is_wsd_but_for_a_lost_digit() -> None:
    printed: dict[str, Any] = {"sparsity": 0.705882, "min_sparsity": 0.0, "max_sparsity": 0.903955}
    best, *_ = find(workers=34, tasks=177, answers=770, **printed).matches
    assert best.name == "wsd"
    assert best.differing == {"answers": (770, 1_770)}
    assert [match.name for match in find(workers=34, tasks=177, **printed).exact] == ["wsd"]


@pytest.mark.usefixtures("real")
def test_the_adult_content_of_p4_is_adult2_but_for_three_answers_and_the_mean() -> None:
    best, *_ = find(
        workers=825,
        tasks=11_040,
        answers=89_796,
        sparsity=0.993666,
        min_sparsity=0.316033,
        max_sparsity=0.999909,
    ).matches
    assert best.name == "adult2"
    assert set(best.differing) == {"answers", "sparsity"}
