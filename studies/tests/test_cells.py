"""Tests that cells are computed once and that an interrupted run resumes."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce.planning.trial_runner import key_of
from sottovoce_studies import cells
from sottovoce_studies.cells import Cell, Kept, run_cells, studies_folder, study_stamp
from sottovoce_studies.crowds import LabelCrowd

CALLS: list[int] = []


def double(number: int) -> int:
    CALLS.append(number)
    return 2 * number


WORK = [Cell(double, (number,)) for number in range(4)]
DOUBLES = [0, 2, 4, 6]


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "studies" / "work.jsonl"


def test_a_second_run_computes_nothing(file: Path) -> None:
    assert run_cells(WORK, kept=Kept(file)) == DOUBLES
    assert run_cells(WORK, kept=Kept(file)) == DOUBLES
    assert CALLS == [0, 1, 2, 3]


@pytest.mark.parametrize("cut", [1, 10, 60])
def test_a_run_that_was_killed_while_writing_goes_on(file: Path, cut: int) -> None:
    run_cells(WORK[:3], kept=Kept(file))
    file.write_bytes(file.read_bytes()[:-cut])
    CALLS.clear()
    assert run_cells(WORK, kept=Kept(file)) == DOUBLES
    assert CALLS == ([3] if cut == 1 else [2, 3])  # only the end of the line was lost, or more
    assert run_cells(WORK, kept=Kept(file)) == DOUBLES
    assert len(CALLS) <= 2


def test_results_are_kept_before_the_run_ends(file: Path) -> None:
    def stop(done: int, _: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(WORK, kept=Kept(file), progress=stop)
    CALLS.clear()
    run_cells(WORK, kept=Kept(file))
    assert CALLS == [2, 3]


def test_lines_that_make_no_sense_count_as_not_there(file: Path) -> None:
    file.parent.mkdir()
    file.write_text('[]\nnull\n{"key": 1}\n\x00\n')
    assert run_cells(WORK, kept=Kept(file)) == DOUBLES


def test_other_software_computes_again(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_cells(WORK, kept=Kept(file))
    CALLS.clear()
    monkeypatch.setattr(cells, "key_of", lambda content: key_of(["later", content]))
    run_cells(WORK, kept=Kept(file))
    assert CALLS == [0, 1, 2, 3]


def test_a_key_rests_on_the_code_of_what_the_arguments_are(monkeypatch: pytest.MonkeyPatch) -> None:
    crowd = LabelCrowd(5, 5, 2, 2, "homogeneous")
    before = Cell(double, ((crowd, 1),)).key
    changed = {"sottovoce_studies.crowds": "later", __name__: study_stamp(__name__)}
    monkeypatch.setattr(cells, "study_stamp", changed.get)
    assert Cell(double, ((crowd, 1),)).key != before


def test_a_key_names_the_function_and_every_argument() -> None:
    keys = {Cell(double, (1,)).key, Cell(double, (2,)).key, Cell(abs, (1,)).key}
    assert len(keys) == 3


def test_progress_counts_what_is_kept_too(file: Path) -> None:
    run_cells(WORK[:3], kept=Kept(file))
    seen: list[tuple[int, int]] = []
    run_cells(WORK, kept=Kept(file), progress=lambda *done: seen.append(done))
    assert seen == [(3, 4), (4, 4)]


def test_studies_are_kept_in_the_users_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path))
    assert studies_folder() == tmp_path / "studies"
