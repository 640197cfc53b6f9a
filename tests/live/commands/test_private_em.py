"""`sottovoce sealed simulate` with workers who are online."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

ROWS = [
    (f"w{worker}", f"t{task}", "yes" if (worker * task + task) % 3 else "no")
    for worker in range(4)
    for task in range(5)
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return written(tmp_path / "answers.csv", ROWS)


def written(file: Path, rows: list[tuple[str, str, str]]) -> Path:
    file.write_text("\n".join(["worker,task,answer", *(",".join(row) for row in rows)]) + "\n")
    return file


@pytest.mark.parametrize("suite", ["masked", "committee", "plain"])
def test_what_came_of_it_is_one_json_object(call: Run, answers: Path, suite: str) -> None:
    gold = answers.with_name("gold.csv")
    gold.write_text("task,truth\n" + "".join(f"t{task},yes\n" for task in range(5)))
    options = ("--suite", suite, "--mode", "log_odds", "--gold", str(gold), "--json")
    done = call("sealed", "simulate", str(answers), *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["identical_to_plain"] is True
    assert (found["suite"], found["mode"], found["scale"]) == (suite, "log_odds", 1000)
    assert (found["workers"], found["excluded"], found["transcript"]) == (4, {}, None)
    assert found["rounds"] >= 2
    assert found["converged"] in (True, False)
    assert found["cpu_seconds"]["workers"] > 0
    assert found["guarantee"] is None
    assert "to Duchenne's gold tasks" in found["no_guarantee"]
    assert 0 <= found["accuracy"] <= 1


def test_the_published_mode_says_which_command_recovers_labels(call: Run, answers: Path) -> None:
    file = answers.with_name("run.json")
    options = ("--suite", "plain", "--mode", "as_published", "--transcript", str(file))
    done = call("sealed", "simulate", str(answers), *options, "--assignments")
    assert done.returncode == 0, done.stderr
    assert f"sottovoce sealed attack {file}" in done.stderr
    assert "Guarantee: none, because the sums are exact" in done.stdout
    seen = json.loads(file.read_text())
    assert seen["format"] == "sottovoce-transcript/1"
    assert seen["assignments"]["w3"] == [f"t{task}" for task in range(5)]


def test_without_a_transcript_it_says_how_to_get_one(call: Run, answers: Path) -> None:
    done = call("sealed", "simulate", str(answers), "--suite", "plain", "--mode", "as_published")
    assert "add --transcript FILE and run sottovoce sealed attack FILE" in done.stderr


def test_noised_rounds_have_a_guarantee(call: Run, answers: Path) -> None:
    options = ("--suite", "masked", "--epsilon", "2", "--weighted-rounds", "0", "--json")
    done = call("sealed", "simulate", str(answers), *options)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["mode"], found["rounds"]) == ("noised", 1)
    assert found["guarantee"]["per_answer"] == 2
    assert found["guarantee"]["answers"] == 5
    assert found["guarantee"]["assumptions"]
    assert "no_guarantee" not in found


def test_whether_weighted_rounds_pay_is_worked_out(call: Run, answers: Path) -> None:
    done = call("sealed", "simulate", str(answers), "--suite", "masked")
    assert done.returncode == 0, done.stderr
    assert "note: one noised count is expected to get" in done.stderr
    assert "1 round of noised sums" in done.stdout
    assert "epsilon 1" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            ("--suite", "masked", "--hide-participation"),
            "--hide-participation has no effect on the EM",
        ),
        (("--mode", "log_odds", "--keyholders", "5"), "--keyholders has no effect on the EM"),
        (("--sum-scale", "100"), "--sum-scale has no effect with keyholders"),
        (("--transcript", "x.json"), "--transcript has no effect with keyholders"),
        (
            ("--suite", "plain", "--mode", "log_odds", "--separate-processes"),
            "drop --separate-processes",
        ),
        (("--mode", "log_odds", "--separate-processes"), "the EM with --suite committee cannot"),
        (("--suite", "masked", "--sum-scale", "5"), "does not use --sum-scale"),
        (("--suite", "masked", "--mode", "log_odds", "--delta", "0.1"), "has no noise"),
        (("--suite", "masked", "--mode", "log_odds", "--threshold", "2"), "more than half of 4"),
        (("--suite", "masked", "--mode", "as_published", "--assignments"), "needs --transcript"),
        (("--suite", "masked", "--mode", "as_published", "--sum-scale", "0"), "from 1 to 10^14"),
        (("--suite", "masked", "--epsilon", "-1", "--weighted-rounds", "0"), "epsilon must be"),
        (("--suite", "damgard_jurik", "--mode", "log_odds", "--bits", "99"), "1024, 2048, 3072"),
    ],
)
def test_what_cannot_be_is_one_line(
    call: Run, answers: Path, options: tuple[str, ...], words: str
) -> None:
    done = call("sealed", "simulate", str(answers), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([row for row in ROWS if row[0] in ("w0", "w1")], "3 workers or more, not 2"),
        ([(*row[:2], "yes") for row in ROWS], "two labels or more"),
        ([(*row[:2], str(place / 7)) for place, row in enumerate(ROWS)], "answers are numbers"),
    ],
)
def test_tables_that_cannot_be_are_one_line(
    call: Run, tmp_path: Path, rows: list[tuple[str, str, str]], words: str
) -> None:
    file = written(tmp_path / "table.csv", rows)
    done = call("sealed", "simulate", str(file), "--suite", "masked")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_transcript_that_exists_is_kept(call: Run, answers: Path) -> None:
    file = answers.with_name("run.json")
    file.write_text("mine")
    options = ("--suite", "plain", "--mode", "log_odds", "--transcript", str(file))
    assert call("sealed", "simulate", str(answers), *options).returncode == 2
    assert file.read_text() == "mine"
    assert call("sealed", "simulate", str(answers), *options, "--force").returncode == 0
    assert file.read_text() != "mine"


@pytest.mark.slow
def test_the_papers_encryption_comes_to_the_same_integers(call: Run, answers: Path) -> None:
    options = ("--suite", "damgard_jurik", "--mode", "as_published", "--bits", "1024", "--json")
    done = call("sealed", "simulate", str(answers), *options)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["identical_to_plain"] is True
    assert set(json.loads(done.stdout)["cpu_seconds"]) == {"workers", "server", "dealer"}
