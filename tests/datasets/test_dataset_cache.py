"""The cache: nothing enters half, nothing is used unchecked, and every refusal shows a way out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sottovoce.datasets import add, data_folder, describe, list_datasets, load
from sottovoce.errors import DataError, OutputExists, UsageError
from sottovoce.model import Kind

ANSWERS = "worker,task,answer\nw1,t1,yes\nw2,t1,no\nw1,t2,no\n"
TRUTH = "task,truth\nt1,yes\nt2,no\n"
OTHER = "worker,task,answer\nw1,t1,no\n"

MakeFolder = Callable[..., Path]


def state(folder: Path) -> dict[str, bytes]:
    """Every file below the folder, hidden ones too."""
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def test_the_folder_is_the_variable_else_the_users_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("SOTTOVOCE_DATA", raising=False)
    assert data_folder() == tmp_path / "sottovoce" / "data"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "sottovoce" / "data"
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path / "x"))
    assert data_folder() == tmp_path / "x"


def test_an_empty_cache_says_how_to_fill_it(cache: Path) -> None:
    assert list_datasets() == []
    with pytest.raises(DataError, match="sottovoce datasets add PATH") as refusal:
        load("rte")
    assert str(cache) in str(refusal.value)


def test_a_folder_of_tables_becomes_a_dataset(cache: Path, make_folder: MakeFolder) -> None:
    assert add(make_folder("birds", answers=ANSWERS, truth=TRUTH)) == ["birds"]
    (card,) = list_datasets()
    assert (card.name, card.kind, card.workers, card.tasks, card.answers, card.truths) == (
        "birds", Kind.CATEGORICAL, 2, 2, 3, 2,
    )  # fmt: skip
    reports, gold = load("birds")
    assert gold is not None
    assert len(reports) == 3
    assert set(reports.domain.labels) == {"yes", "no"}
    assert gold.truths.tolist() == ["yes", "no"]
    assert sorted(path.name for path in cache.iterdir()) == ["birds", "datasets.json"]


def test_a_dataset_may_have_no_gold(cache: Path, make_folder: MakeFolder) -> None:
    add(make_folder("birds", answers=ANSWERS))
    assert load("birds")[1] is None
    assert not describe("birds").has_gold


def test_numbers_are_recognised_and_left_unbounded(cache: Path, make_folder: MakeFolder) -> None:
    answers = "worker,task,answer\nw1,t1,0.5\nw2,t1,2.25\n"
    add(make_folder("heights", answers=answers, truth="task,truth\nt1,7.5\n"))
    reports, gold = load("heights")
    assert gold is not None
    assert reports.domain.kind is Kind.NUMERIC
    assert gold.truths.tolist() == [7.5]


def test_gold_may_know_a_label_nobody_chose(cache: Path, make_folder: MakeFolder) -> None:
    add(make_folder("birds", answers=OTHER, truth=TRUTH))
    reports, gold = load("birds")
    assert gold is not None
    assert set(reports.domain.labels) == {"no", "yes"}


def test_a_raw_table_is_kept_next_to_the_answers(cache: Path, make_folder: MakeFolder) -> None:
    add(make_folder("birds", answers=ANSWERS, answers_raw=ANSWERS + "w1,t1,no\n"))
    assert len(load("birds", raw=True)[0]) == 3
    assert len(load("birds", raw=True, repeats="keep")[0]) == 4


def test_raw_is_refused_where_there_is_none(cache: Path, make_folder: MakeFolder) -> None:
    add(make_folder("birds", answers=ANSWERS))
    with pytest.raises(UsageError, match="'birds' has no raw table"):
        load("birds", raw=True)


def test_an_unknown_name_gets_the_nearest_one_and_the_folder(
    cache: Path, make_folder: MakeFolder
) -> None:
    add(make_folder("bluebirds", answers=ANSWERS))
    with pytest.raises(DataError, match="did you mean 'bluebirds'") as refusal:
        describe("Bluebird")
    assert str(cache) in str(refusal.value)
    with pytest.raises(DataError, match="there are bluebirds"):
        describe("zzz")


@pytest.mark.parametrize("file", ["answers.csv", "truth.csv"])
def test_a_tampered_file_is_refused(cache: Path, make_folder: MakeFolder, file: str) -> None:
    add(make_folder("birds", answers=ANSWERS, truth=TRUTH))
    (cache / "birds" / file).write_text(OTHER)
    with pytest.raises(
        DataError, match=r"SHA-256 is \w{12}… but the index says \w{12}…"
    ) as refusal:
        load("birds")
    assert file in str(refusal.value)
    assert "force=True" in str(refusal.value)


def test_a_lost_file_is_refused(cache: Path, make_folder: MakeFolder) -> None:
    add(make_folder("birds", answers=ANSWERS))
    (cache / "birds" / "answers.csv").unlink()
    with pytest.raises(DataError, match=r"answers.csv: cannot read this file of dataset birds"):
        load("birds")


@pytest.mark.parametrize(
    "text",
    [
        "{not json",
        "[1]",
        "{}x",
        '"text"',
        "null",
        '[{"name": "a"}]',
        '[{"name": "a", "kind": "numeric", "domain": {}, "sha256": {}}]',
        '[{"name": "../a", "kind": "numeric", "domain": {}, "sha256": {"answers.csv": "0"}}]',
        '[{"name": "a", "kind": "odd", "domain": {}, "sha256": {"answers.csv": "0"}}]',
        '[{"name":"a", "kind": "ordinal", "domain": {"labels": []}, "sha256": {"answers.csv": 0}}]',
        "\xff",
    ],
)
def test_a_broken_index_is_one_line(cache: Path, text: str) -> None:
    cache.mkdir(parents=True)
    (cache / "datasets.json").write_text(text, encoding="latin-1")
    with pytest.raises(DataError, match="not an index of datasets") as refusal:
        list_datasets()
    assert "\n" not in str(refusal.value)
    assert str(cache / "datasets.json") in str(refusal.value)


def test_an_existing_dataset_is_replaced_only_when_told(
    cache: Path, make_folder: MakeFolder
) -> None:
    add(make_folder("birds", answers=ANSWERS))
    before = state(cache)
    folder = make_folder("birds", answers=OTHER)
    with pytest.raises(OutputExists, match=r"dataset 'birds' in .* exists; pass force=True"):
        add(folder)
    assert state(cache) == before
    for _ in range(3):
        assert add(folder, force=True) == ["birds"]
        assert len(load("birds")[0]) == 1
        assert len(list(cache.iterdir())) == 2  # the replaced copy is gone


def test_adding_keeps_the_others(cache: Path, make_folder: MakeFolder) -> None:
    add(make_folder("birds", answers=ANSWERS))
    add(make_folder("dogs", answers=OTHER))
    assert [card.name for card in list_datasets()] == ["birds", "dogs"]


def test_a_bad_table_among_several_leaves_the_cache_as_it_was(
    cache: Path, make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = tmp_path / "collection"
    monkeypatch.setenv("SOTTOVOCE_DATA", str(source))
    add(make_folder("birds", answers=ANSWERS))
    add(make_folder("dogs", answers=ANSWERS))
    monkeypatch.setenv("SOTTOVOCE_DATA", str(cache))
    (source / "dogs" / "answers.csv").write_text("worker,task\nw1,t1\n")
    with pytest.raises(DataError, match="SHA-256"):
        add(source)
    assert not cache.exists()
    with pytest.raises(DataError, match=r"answers\.csv"):
        add(source / "dogs")
    assert not cache.exists()


@pytest.mark.parametrize("moment", ["copyfile", "dumps"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_an_interrupt_leaves_the_cache_as_it_was(
    cache: Path,
    make_folder: MakeFolder,
    monkeypatch: pytest.MonkeyPatch,
    moment: str,
    error: BaseException,
) -> None:
    add(make_folder("birds", answers=ANSWERS, truth=TRUTH))
    before = state(cache)
    folder = make_folder("birds", answers=OTHER)

    def fail(*_: object, **__: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(shutil if moment == "copyfile" else json, moment, fail)
        with pytest.raises((KeyboardInterrupt, UsageError)):
            add(folder, force=True)
    assert state(cache) == before
    assert len(list(cache.iterdir())) == 2
    assert len(load("birds")[0]) == 3


def test_an_interrupt_after_the_index_changed_keeps_what_it_names(
    cache: Path, make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(make_folder("birds", answers=ANSWERS))

    def interrupt(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rmdir", interrupt)  # the last thing that `new_file` does
        with pytest.raises(KeyboardInterrupt):
            add(make_folder("birds", answers=OTHER), force=True)
    assert len(load("birds")[0]) == 1


@pytest.mark.parametrize("name", ["empty", "nowhere"])
def test_a_folder_without_tables_is_explained(
    cache: Path, make_folder: MakeFolder, name: str
) -> None:
    folder = make_folder("empty").parent / name
    with pytest.raises(DataError, match=r"neither datasets\.json nor answers\.csv"):
        add(folder)


def test_an_index_without_datasets_adds_nothing(cache: Path, make_folder: MakeFolder) -> None:
    folder = make_folder("none")
    (folder / "datasets.json").write_text("[]")
    with pytest.raises(DataError, match="lists no dataset"):
        add(folder)
    assert not cache.exists()


def test_a_cache_that_cannot_be_written_is_one_line(
    make_folder: MakeFolder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path / "file" / "data"))
    with pytest.raises(UsageError, match="cannot add datasets to"):
        add(make_folder("birds", answers=ANSWERS))
