"""`sottovoce infer --known`: known truths teach, and are not scored."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """Two of the twelve truths, and one of a task that nobody answered."""
    path = tmp_path / "known.csv"
    path.write_text("task,truth\nq0,yes\nq1,no\nnowhere,no\n", encoding="utf-8")
    return path


def test_known_tasks_keep_their_truth_and_are_marked(call: Run, answers: Path, known: Path) -> None:
    done = call("infer", answers.name, "--known", known.name, "-m", "dawid-skene")
    rows = [line.split(",") for line in done.stdout.splitlines()]
    assert rows[0] == ["task", "truth", "confidence", "answers", "known"]
    marked = {row[0]: row[1:3] for row in rows if row[-1] == "true"}
    assert marked == {"q0": ["yes", "1.0"], "q1": ["no", "1.0"]}
    assert (
        "2 known truths; 1 more had no answer; confidence not recalibrated: it takes 10 known "
        "truths" in done.stderr
    )


def test_gold_scores_only_the_other_tasks_and_says_so(
    call: Run, answers: Path, gold: Path, known: Path
) -> None:
    chosen = (
        "infer",
        answers.name,
        "--known",
        known.name,
        "--gold",
        gold.name,
        "-m",
        "dawid-skene",
    )
    assert "10 gold tasks; 2 known tasks were left out" in call(*chosen).stderr
    seen = json.loads(call(*chosen, "--json").stdout)
    assert (seen["known"], seen["score"]["tasks"], seen["score"]["known"]) == (2, 10, 2)
    assert seen["calibration"] == "confidence not recalibrated: it takes 10 known truths"


def test_enough_known_truths_recalibrate_the_confidence(
    call: Run, answers: Path, gold: Path
) -> None:
    done = call("infer", answers.name, "--known", gold.name, "-m", "dawid-skene", "--json")
    assert json.loads(done.stdout)["calibration"].startswith("confidence recalibrated: slope")


def test_the_columns_of_known_truths_can_be_named(call: Run, answers: Path, tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("item,right\nq0,yes\n", encoding="utf-8")
    named = ("--known", "own.csv", "--known-columns", "task=item,truth=right")
    done = call("infer", answers.name, *named, "-m", "dawid-skene", "--json")
    assert json.loads(done.stdout)["known"] == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--known-columns", "task=item"), "--known-columns needs --known"),
        (("--known", "known.csv", "-m", "majority-vote"), "these do: dawid-skene"),
        (("--known", "known.csv", "-m", "majority-vote"), "with --method, or drop --known"),
        (("--known", "known.csv", "--engine", "chunked", "-o", "x"), "does not work with --engine"),
    ],
)
def test_errors_name_options(
    options: tuple[str, ...], words: str, call: Run, answers: Path, known: Path
) -> None:
    done = call("infer", answers.name, *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_known_truth_that_is_no_label_is_refused(call: Run, answers: Path, known: Path) -> None:
    known.write_text("task,truth\nq0,maybe\n", encoding="utf-8")
    done = call("infer", answers.name, "--known", known.name, "-m", "dawid-skene")
    assert "the known truth of task 'q0' is no label of the answers" in done.stderr
