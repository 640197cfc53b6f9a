"""`sottovoce sealed simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

ROWS = [
    (f"w{worker}", f"t{task}", "yes" if (worker + task) % 4 else "no")
    for worker in range(12)
    for task in range(4)
]


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    file = tmp_path / "answers.csv"
    lines = ["worker,task,answer", *(",".join(row) for row in ROWS)]
    file.write_text("\n".join(lines) + "\n")
    return file


def test_what_came_of_it_is_one_json_object(call: Run, answers: Path) -> None:
    gold = answers.with_name("gold.csv")
    gold.write_text("task,truth\n" + "".join(f"t{task},yes\n" for task in range(4)))
    done = call("sealed", "simulate", str(answers), "--gold", str(gold), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["identical_to_plain"] is True
    assert (found["rounds"], found["workers"], found["dropped"]) == (1, 12, 0)
    assert (found["guarantee"]["per_answer"], found["guarantee"]["per_worker"]) == (1, 4)
    assert set(found["cpu_seconds"]) == {
        "workers", "server", "keyholder 1", "keyholder 2", "keyholder 3",
    }  # fmt: skip
    assert 0 <= found["accuracy"] <= 1


def test_people_are_told_what_holds_and_under_which_assumptions(call: Run, answers: Path) -> None:
    done = call("sealed", "simulate", str(answers), "--suite", "plain", "--epsilon", "0.5")
    assert done.returncode == 0, done.stderr
    assert "the same integers as the plain suite" in done.stdout
    assert "epsilon 0.5 per answer" in done.stdout
    assert "at most 1 of 3 keyholders collude" in done.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--suite", "plain", "--separate-processes"), "drop --separate-processes"),
        (("--keyholders", "4", "--colluding", "2"), "at least 5 seats"),
        (("--epsilon", "-1"), "epsilon must be above 0"),
        (("--layout", "sum"), "use votes"),
    ],
)
def test_what_cannot_be_is_one_line(
    call: Run, answers: Path, options: tuple[str, ...], words: str
) -> None:
    done = call("sealed", "simulate", str(answers), *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_real_processes_come_to_the_same_integers(run: Run, answers: Path) -> None:
    done = run("sealed", "simulate", str(answers), "--separate-processes", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["identical_to_plain"] is True
