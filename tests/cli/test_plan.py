"""`sottovoce plan`: what to expect before anyone answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Run

SMALL = ("--tasks", "12", "--workers", "6", "--answers-per-worker", "6", "--jobs", "1")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of simulations, shared by the tests."""
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(autouse=True)
def _folder(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(kept))


def test_a_plan_prints_a_table_a_chart_reasons_and_assumptions(call: Run) -> None:
    done = call("plan", *SMALL, "--label-count", "2", "--epsilon", "1", "4")
    assert done.returncode == 0, done.stderr
    for words in ("randomized-response", "90 % band", "best constant", "clean answers", "●"):
        assert words in done.stdout
    assert "Epsilon 4: " in done.stdout
    assert "note: assumed crowd (mixed)" in done.stderr


def test_json_is_one_object(call: Run) -> None:
    done = call("plan", *SMALL, "--label-count", "2", "--epsilon=1,4", "--json")
    content = json.loads(done.stdout)
    assert [row["epsilon"] for row in content["plans"]] == [1, 4]
    assert content["workers"] == 6


def test_a_target_is_answered(call: Run) -> None:
    done = call("plan", *SMALL, "--label-count", "2", "--epsilon", "8", "--target-accuracy", "0.6")
    assert done.returncode == 0, done.stderr
    assert "With 6 workers x 6 tasks each and randomized-response" in done.stdout
    assert "At epsilon 8 and randomized-response" in done.stdout


def test_a_page_holds_the_figure(call: Run, tmp_path: Path) -> None:
    done = call("plan", *SMALL, "--label-count", "2", "--epsilon", "1", "--html", "plan.html")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "plan.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "Assumptions" in page


def test_a_page_is_not_replaced_unasked(call: Run, tmp_path: Path) -> None:
    (tmp_path / "plan.html").write_text("mine")
    done = call("plan", *SMALL, "--label-count", "2", "--html", "plan.html")
    assert (done.returncode, "--force" in done.stderr) == (2, True)
    assert (tmp_path / "plan.html").read_text() == "mine"


def test_a_pilot_is_replayed(call: Run, answers: Path, gold: Path) -> None:
    done = call(
        "plan", *SMALL, "--pilot", answers.name, "--gold", gold.name, "--epsilon", "2", "--json"
    )
    assert done.returncode == 0, done.stderr
    notes = "\n".join(json.loads(done.stdout)["notes"])
    assert "as in the pilot, replayed: 12 tasks with 3 answers each, of 3 workers" in notes


def test_a_pilot_of_few_answers_without_gold_cannot_tell(call: Run, answers: Path) -> None:
    done = call("plan", *SMALL, "--label-count", "3", "--pilot", answers.name, "--epsilon", "2")
    assert done.returncode == 2
    assert "a pilot without gold cannot tell what to expect here" in done.stderr


def test_the_same_plan_is_the_same_with_and_without_the_cache(call: Run) -> None:
    options = ("plan", *SMALL, "--label-count", "2", "--epsilon", "1", "--json")
    first, kept, fresh = (call(*options, *more).stdout for more in ((), (), ("--fresh",)))
    assert first == kept == fresh


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "give --label-count N"),
        (("--label-count", "1"), "--label-count must be from 2"),
        (("--label-count", "2", "--range", "0", "1"), "only one of --label-count and --range"),
        (("--range", "3", "1"), "low < high"),
        (("--domain", "numeric"), "needs labels or a range"),
        (("--label-count", "2", "--answers-per-worker", "13"), "at most the 12 tasks"),
        (("--label-count", "2", "--epsilon", "none"), "not 'none'"),
        (("--label-count", "2", "--trials", "3"), "at least 19"),
        (("--label-count", "2", "--target-error", "1"), "--target-accuracy"),
        (("--range", "0", "1", "--target-accuracy", "0.9"), "--target-error"),
        (("--label-count", "2", "--target-accuracy", "1.5"), "above 0 and below 1"),
        (("--label-count", "2", "--target-accuracy", "90"), "for 90 % write 0.9"),
        (("--label-count", "2", "--workers", "0"), "--workers must be at least 1, not 0"),
        (("--label-count", "2", "--gold", "gold.csv"), "need --pilot"),
        (("--label-count", "2", "--pilot", "a.csv", "--ability", "able"), "drop --ability"),
        (("--label-count", "2", "--jobs", "-1"), "--jobs must be 0 or more"),
        (("--label-count", "2", "--delta", "1"), "delta must be"),
        (("--label-count", "2", "--device-budget", "0"), "--device-budget must be above 0"),
        (
            ("--label-count", "2", "--ways", "sealed", "--workers", "12", "--device-budget", "1"),
            "refuse",
        ),
    ],
)
def test_wrong_input_is_one_line(call: Run, options: tuple[str, ...], words: str) -> None:
    done = call("plan", *SMALL, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_pilot_with_more_labels_than_stated_is_refused(call: Run, tmp_path: Path) -> None:
    (tmp_path / "many.csv").write_text("worker,task,answer\na,t,x\nb,t,y\nc,t,z\n")
    done = call("plan", *SMALL, "--label-count", "2", "--pilot", "many.csv")
    assert (done.returncode, "the pilot has 3 labels" in done.stderr) == (1, True)


def test_a_pilot_of_numbers_needs_their_range(call: Run, tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("worker,task,answer\na,t,1.5\nb,t,2.5\n")
    done = call("plan", *SMALL, "--pilot", "numbers.csv")
    assert (done.returncode, "--range LOW HIGH" in done.stderr) == (2, True)


def test_a_pilot_whose_labels_are_digits_is_one_of_labels(call: Run, tmp_path: Path) -> None:
    rows = [f"w{worker},t{task},{task % 2}" for worker in range(3) for task in range(6)]
    (tmp_path / "digits.csv").write_text("\n".join(["worker,task,answer", *rows]) + "\n")
    done = call("plan", *SMALL, "--label-count", "2", "--pilot", "digits.csv", "--epsilon", "4")
    assert done.returncode == 0, done.stderr
    assert "6 tasks with 3 answers each" in done.stderr
    assert "there is no gold, so truths are inferred" in done.stderr
