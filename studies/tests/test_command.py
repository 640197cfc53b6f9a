"""`sottovoce reproduce`: studies by name, their tables, and one page for all."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Run

from sottovoce.cli import console
from sottovoce.figures import Chart, Series
from sottovoce_studies import catalogue, command, verdicts
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Recorded, Ruling, Rulings
from sottovoce_studies.study import Outcome, Size, Study, Work

COMPUTED: list[int] = []


def square(number: int) -> int:
    COMPUTED.append(number)
    return number * number


def study(name: str, numbers: Sequence[int], item: str) -> Study:
    """A study that is done at once: squares are even, which fails from 1 on."""

    def judge(results: Sequence[Any]) -> Outcome:
        rows = tuple(
            {"part": "Squares", "number": n, "square": s}
            for n, s in zip(numbers, results, strict=True)
        )
        line = Series("square", tuple(map(float, numbers)), tuple(map(float, results)))
        chart = Chart(f"Squares of {name}", "number", "square", (line,), note="Seen: squares.")
        odd = any(result % 2 for result in results)
        shape = Ruling("fails", "one is odd") if odd else Ruling("holds")
        return Outcome(rows, Rulings(shape=shape), "Squares.", (chart,))

    def plan(size: Size, seed: int) -> Work:
        return Work([Cell(square, (number,)) for number in numbers], judge)

    recorded: Recorded = ("not claimed", "fails", "not claimed")
    return Study(
        name, "Squares are even", "P1 §0", "whole numbers", plan, "nothing", recorded, (item,)
    )


@pytest.fixture
def squares(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two studies, which share two cells of three, in the place of all others."""
    COMPUTED.clear()
    first = study("evens", (0, 2), "P1 Table 1")
    second = study("threes", (0, 2, 3), "P1 Table 2")
    named = {"evens": first, "threes": second, "p1-table-2": second}
    for module in (catalogue, command):
        monkeypatch.setattr(module, "STUDIES", {"evens": first, "threes": second})
        monkeypatch.setattr(module, "study_named", named.__getitem__)
    monkeypatch.setattr(verdicts, "GROUPS", {"P1": (first, second)})
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "kept"))


def test_the_list_names_every_table_figure_study_and_verdict(call: Run) -> None:
    done = call("reproduce", "--list")
    assert done.returncode == 0, done.stderr
    for each in catalogue.STUDIES.values():
        assert each.name in done.stdout
        assert all(item in done.stdout for item in each.items)
    assert max(map(len, done.stdout.splitlines())) <= 160


def test_the_list_fits_a_terminal_of_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    command.print_list([*catalogue.STUDIES.values()])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for each in catalogue.STUDIES.values():
        assert any(line.strip().startswith(each.name) for line in lines), each.name


def test_a_real_study_prints_its_table_and_verdict_and_writes_files(
    call: Run, tmp_path: Path
) -> None:
    done = call("reproduce", "calibration", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "Expected calibration error" in done.stdout
    assert "verdict: " in done.stdout
    assert "(quick run: " in done.stdout
    assert "1 of 1, calibration: " in done.stderr
    with (tmp_path / "out" / "calibration.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {"part", "epsilon", "error", "limit", "met"} <= set(rows[0])
    assert "Reliability of confidences" in (tmp_path / "out" / "report.html").read_text()


def test_studies_are_printed_one_by_one_and_their_verdicts_at_the_end(
    call: Run, squares: None
) -> None:
    done = call("reproduce")
    assert done.returncode == 0, done.stderr
    first, second, end = (
        done.stdout.index(words)
        for words in ("evens (P1 Table 1): Squares", "threes (P1 Table 2): ", "Verdicts")
    )
    assert (
        first
        < done.stdout.index("verdict: shape holds (quick run: nothing). Squares.")
        < second
        < end
    )
    assert "Shape: 1 holds, 1 fails.\nGuarantee: 2 not claimed.\n" in done.stdout
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == [
        "1 of 2, evens",
        "2 of 2, threes",
    ]


def test_one_study_needs_no_table_of_verdicts(call: Run, squares: None) -> None:
    assert "Verdicts" not in call("reproduce", "p1-table-2").stdout


def test_a_study_named_twice_is_run_once(call: Run, squares: None) -> None:
    assert "1 of 1, threes" in call("reproduce", "p1-table-2", "threes").stderr


@pytest.mark.parametrize("size", [(), ("--full", "--jobs", "1")])
def test_cells_that_studies_share_are_computed_once(
    call: Run, squares: None, size: tuple[str, ...]
) -> None:
    assert call("reproduce", *size).returncode == 0
    assert COMPUTED == [0, 2, 3]


def test_files_of_all_studies_are_written(call: Run, squares: None, tmp_path: Path) -> None:
    done = call("reproduce", "-o", "out", "--seed", "5")
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "evens-1.svg",
        "evens.csv",
        "report.html",
        "threes-1.svg",
        "threes.csv",
        "verdicts.json",
    ]
    record = json.loads((tmp_path / "out" / "verdicts.json").read_text())
    assert (record["size"], record["seed"]) == ("quick", 5)
    shapes = [each["verdicts"]["shape"]["verdict"] for each in record["studies"]]
    assert shapes == ["holds", "fails"]
    assert record["studies"][1] == {
        "name": "threes",
        "paper": "P1",
        "items": ["P1 Table 2"],
        "claim": "Squares are even",
        "source": "P1 §0",
        "setting": "whole numbers",
        "seed": 5,
        "recorded": {"numbers": "not claimed", "shape": "fails", "guarantee": "not claimed"},
        "verdicts": {
            "numbers": {"verdict": "not claimed", "reason": ""},
            "shape": {"verdict": "fails", "reason": "one is odd"},
            "guarantee": {"verdict": "not claimed", "reason": ""},
        },
        "choices": [],
        "explanation": "Squares.",
    }


def test_pictures_that_a_study_has_no_longer_go_with_force(
    call: Run, squares: None, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    for name in ("evens-2.svg", "others-2.svg", "evens-x.svg"):
        (tmp_path / "out" / name).write_text("old")
    assert call("reproduce", "evens", "-o", "out").returncode == 2
    assert call("reproduce", "evens", "-o", "out", "--force").returncode == 0
    left = {path.name for path in (tmp_path / "out").glob("*.svg")}
    assert left == {"evens-1.svg", "others-2.svg", "evens-x.svg"}


@pytest.mark.parametrize(
    "name", ["report.html", "verdicts.json", "evens.csv", "evens-1.svg", "evens-7.svg"]
)
def test_files_are_not_replaced_unasked(
    call: Run, squares: None, tmp_path: Path, name: str
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine")
    done = call("reproduce", "evens", "-o", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"sottovoce: out/{name} exists; pass --force to replace it\n"
    assert [path.read_text() for path in (tmp_path / "out").iterdir()] == ["mine"]
    assert COMPUTED == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["aware-vs-paper"], "no study 'aware-vs-paper': did you mean aware-vs-papers?"),
        (["p2-figure-33"], "no study 'p2-figure-33': did you mean p2-figure-3?"),
        (["calibration", "-o", "file"], "file is a file: name a folder"),
        (["calibration", "-o", "file/in/it"], "file is a file: name a folder"),
        (["calibration", "--jobs", "-1"], "--jobs takes an integer of at least 0, not -1"),
        (["calibration", "--seed", "-1"], "--seed takes an integer of at least 0, not -1"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(
    call: Run, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "file").write_text("mine")
    done = call("reproduce", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"sottovoce: {words}\n")
    assert (tmp_path / "file").read_text() == "mine"


def test_without_matplotlib_a_report_is_refused_before_the_work(
    call: Run, squares: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = call("reproduce", "-o", "out")
    assert (done.returncode, done.stdout, COMPUTED) == (2, "", [])
    assert done.stderr.startswith("sottovoce: a plot needs matplotlib, which is not installed")
    assert not (tmp_path / "out").exists()
    assert call("reproduce").returncode == 0


def test_where_one_file_cannot_be_written_none_is(
    call: Run, squares: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sottovoce_studies.report.write_tables", full)
    done = call("reproduce", "-o", "out")
    assert done.returncode == 1
    assert done.stderr.endswith("sottovoce: No space left on device\n")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing was written"),
        (["--full"], "results so far are cached, and the same command resumes"),
        (
            ["--full", "--fresh"],
            "results so far are cached, and the same command without --fresh resumes",
        ),
    ],
)
def test_stopped_it_says_what_is_left(
    call: Run,
    squares: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    def stop(_: Cell) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Cell, "run", stop)
    done = call("reproduce", "--jobs", "1", "-o", "out", *arguments)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == f"sottovoce: stopped; {words}\n"
    assert not (tmp_path / "out").exists()


def test_a_study_without_its_datasets_says_so(call: Run) -> None:
    done = call("reproduce", "never-worse")
    assert done.returncode == 0, done.stderr
    assert "verdict: shape cannot be checked" in done.stdout


def test_a_full_run_that_was_made_before_is_not_made_again(
    call: Run, squares: None, tmp_path: Path
) -> None:
    first = call("reproduce", "--full", "--jobs", "1")
    assert first.returncode == 0, first.stderr
    file = tmp_path / "kept" / "studies" / "results.jsonl"
    assert len(file.read_text().splitlines()) == 3
    COMPUTED.clear()
    assert call("reproduce", "--full", "--jobs", "1").stdout == first.stdout
    assert COMPUTED == []
    assert call("reproduce", "--full", "--jobs", "1", "--fresh").stdout == first.stdout
    assert COMPUTED == [0, 2, 3]
    assert len(file.read_text().splitlines()) == 6


def test_quick_runs_keep_nothing(call: Run, squares: None, tmp_path: Path) -> None:
    assert call("reproduce").returncode == 0
    assert not (tmp_path / "kept").exists()


def test_a_bar_says_which_study_of_how_many(
    call: Run, squares: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: list[str] = []

    class Bar:
        def __init__(self, what: str) -> None:
            named.append(what)

        def __enter__(self) -> None:
            return None

        def __exit__(self, *_: object) -> None:
            return None

    monkeypatch.setattr(console, "progress_bar", Bar)
    assert call("reproduce").returncode == 0
    assert named == ["1 of 2, evens", "2 of 2, threes"]
