"""`sottovoce reproduce`: studies by name, their tables, and one page for all."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run

from sottovoce.studies.beyond import calibration
from sottovoce.studies.cells import Cell
from sottovoce.studies.sources import LabelCrowd


def test_the_list_names_every_study_and_its_claim(call: Run) -> None:
    done = call("reproduce", "--list")
    assert done.returncode == 0, done.stderr
    for name in ("aware-vs-papers", "never-worse", "calibration"):
        assert name in done.stdout


def test_a_quick_run_prints_its_table_and_verdict_and_writes_files(
    call: Run, tmp_path: Path
) -> None:
    done = call("reproduce", "calibration", "--jobs", "1", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "Expected calibration error" in done.stdout
    assert "verdict: " in done.stdout
    assert "(quick run: " in done.stdout
    with (tmp_path / "out" / "calibration.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {"part", "epsilon", "error", "limit", "met"} <= set(rows[0])
    assert "How often a confidence is right" in (tmp_path / "out" / "report.html").read_text()


def test_files_are_not_replaced_unasked(call: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "report.html").write_text("mine")
    done = call("reproduce", "calibration", "-o", "out")
    assert done.returncode == 2
    assert "--force" in done.stderr
    assert done.stdout == ""
    assert (tmp_path / "out" / "report.html").read_text() == "mine"


def test_an_unknown_study_is_refused_with_the_nearest_name(call: Run) -> None:
    done = call("reproduce", "aware-vs-paper")
    assert done.returncode == 2
    assert done.stderr == "sottovoce: no study 'aware-vs-paper': did you mean aware-vs-papers?\n"


def test_studies_without_their_datasets_are_skipped(call: Run) -> None:
    done = call("reproduce", "never-worse", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert "verdict: skipped" in done.stdout


def test_a_folder_for_the_files_is_needed(call: Run, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    done = call("reproduce", "calibration", "-o", "out")
    assert done.returncode == 2
    assert "out is a file: name a folder" in done.stderr


def test_a_full_run_that_was_made_before_is_not_made_again(
    call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path))
    crowd = LabelCrowd(10, 20, 10, 3, "homogeneous")
    monkeypatch.setattr(calibration, "CROWDS", [("tiny", crowd, calibration.CROWDS[0][2])])
    monkeypatch.setattr(calibration, "EPSILONS", {"full": (4.0,)})
    monkeypatch.setattr(calibration, "TRIALS", {"full": 2})
    first = call("reproduce", "calibration", "--full", "--jobs", "1")
    assert first.returncode == 0, first.stderr
    assert len((tmp_path / "studies" / "calibration.jsonl").read_text().splitlines()) == 2

    def refuse(_: Cell) -> Any:
        raise OSError("it runs again")

    monkeypatch.setattr(Cell, "run", refuse)
    assert call("reproduce", "calibration", "--full", "--jobs", "1").stdout == first.stdout
    anew = call("reproduce", "calibration", "--full", "--jobs", "1", "--anew")
    assert (anew.returncode, anew.stdout) == (1, "")
