"""`sottovoce infer` and its neighbours, as a user meets them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_truths_go_to_standard_output_and_words_to_standard_error(run: Run, answers: Path) -> None:
    done = run("infer", answers.name)
    assert done.returncode == 0
    assert done.stdout.splitlines()[0] == "task,truth,confidence,answers"
    assert len(done.stdout.splitlines()) == 13
    assert "aware-labels: 12 tasks, 3 workers, 36 answers" in done.stderr


def test_json_is_one_object_with_the_promised_names(call: Run, answers: Path, gold: Path) -> None:
    done = call("infer", answers.name, "--gold", gold.name, "--json", "-m", "majority-vote")
    seen = json.loads(done.stdout)
    assert set(seen) == {
        "method", "tasks", "workers", "answers", "rounds", "converged", "parameters", "warnings",
        "score",
    }  # fmt: skip
    assert (seen["method"], seen["tasks"], seen["workers"]) == ("majority-vote", 12, 3)
    assert seen["score"]["accuracy"] == 1.0
    assert seen["score"]["low"] <= 1.0 <= seen["score"]["high"]


def test_ordinal_labels_that_are_not_numbers_must_be_listed(call: Run, answers: Path) -> None:
    for more in ((), ("--domain", "ordinal")):
        done = call("infer", answers.name, "-m", "mean", *more)
        assert done.returncode == 2
        assert "list them from low to high: --domain ordinal:low,mid,high" in done.stderr
    ordered = call("infer", answers.name, "-m", "mean", "--domain", "ordinal:no,yes")
    assert ordered.returncode == 0


def test_gold_prints_accuracy_with_an_interval(call: Run, answers: Path, gold: Path) -> None:
    done = call("infer", answers.name, "--gold", gold.name)
    assert "accuracy 1.0000 (95 % interval 1.000 to 1.000; 12 gold tasks)" in done.stderr


def test_numbers_are_scored_by_mae_and_rmse(call: Run, tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("worker,task,value\na,t,1\nb,t,2\na,u,4\nb,u,6\n")
    (tmp_path / "g.csv").write_text("task,truth\nt,1.5\nu,6\n")
    done = call("infer", "n.csv", "--gold", "g.csv", "--method", "mean", "--json")
    assert json.loads(done.stdout)["score"]["mae"] == pytest.approx(0.5)
    assert json.loads(done.stdout)["score"]["rmse"] == pytest.approx(0.5**0.5)


def test_output_files_hold_truths_weights_posteriors_and_confusions(
    call: Run, answers: Path, tmp_path: Path
) -> None:
    done = call(
        "infer", answers.name, "-o", "t.csv", "--weights", "w.csv", "--posterior", "p.csv",
        "--confusions", "c.csv",
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "")
    heads = {
        file: (tmp_path / file).read_text().splitlines()[0]
        for file in ("t.csv", "w.csv", "p.csv", "c.csv")
    }
    assert heads == {
        "t.csv": "task,truth,confidence,answers",
        "w.csv": "worker,weight",
        "p.csv": "task,no,yes",
        "c.csv": "worker,truth,answer,probability",
    }


def test_nothing_is_overwritten_without_force(call: Run, answers: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("mine")
    refused = call("infer", answers.name, "-o", "t.csv")
    assert refused.returncode == 2
    assert refused.stderr == "sottovoce: t.csv exists; pass --force to replace it\n"
    assert (tmp_path / "t.csv").read_text() == "mine"
    assert call("infer", answers.name, "-o", "t.csv", "--force").returncode == 0
    assert (tmp_path / "t.csv").read_text().startswith("task,")


def test_answers_may_come_from_standard_input(run: Run, answers: Path) -> None:
    done = run("infer", "-", "--json", stdin=answers.read_text())
    assert json.loads(done.stdout)["answers"] == 36


def test_columns_may_have_other_names(call: Run, tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("annotator,item,vote\na,t,x\nb,t,x\n")
    done = call("infer", "o.csv", "--columns", "worker=annotator,task=item,answer=vote", "--json")
    assert json.loads(done.stdout)["answers"] == 2


def test_a_methods_parameters_can_be_set(call: Run, answers: Path) -> None:
    done = call("infer", answers.name, "--set", "max_rounds=1,tolerance=0", "--json")
    assert json.loads(done.stdout)["rounds"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["infer", "absent.csv"], 1, "there is no such file"),
        (["infer", "answers.csv", "-m", "majority"], 2, "did you mean majority-vote?"),
        (["infer", "answers.csv", "-m", "gtm"], 2, "gtm does not take categorical"),
        (["infer", "answers.csv", "--columns", "worker"], 2, "NAME=VALUE"),
        (["infer", "answers.csv", "--domain", "fuzzy"], 2, "fuzzy"),
        (["infer", "answers.csv", "--ties", "random"], 2, "need --seed"),
        (["infer", "answers.csv", "--set", "max_rounds=0"], 2, "at least 1"),
        (["infer", "answers.csv", "-o", "nowhere/t.csv"], 2, "is not a folder"),
        (["infer", "answers.csv", "-o", "t.xlsx"], 2, "t.xlsx"),
        (["infer", "answers.csv", "-o", "a.csv", "--weights", "a.csv"], 2, "same name"),
        (["infer", "answers.csv", "-m", "td", "--confusions", "c.csv"], 2, "gives no confusions"),
        (["infer", "dataset:none"], 1, "none"),
        (["compare", "answers.csv"], 2, "--gold"),
        (["inspect", "absent.csv"], 1, "there is no such file"),
        (["pack", "absent.csv", "-o", "p.parquet"], 1, "there is no such file"),
        (["datasets", "show", "none"], 1, "none"),
        (["datasets", "add", "absent"], 1, "absent"),
        (["datasets", "generate", "numeric", "-o", "x.csv"], 2, "end in .parquet"),
        (["simulate", "--folder", "answers.csv/inside"], 1, "answers.csv"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_and_an_exit_code_and_writes_nothing(
    call: Run, answers: Path, tmp_path: Path, arguments: list[str], code: int, words: str
) -> None:
    before = sorted(tmp_path.iterdir())
    done = call(*arguments)
    assert done.stdout == ""
    assert (done.returncode, len(done.stderr.splitlines())) == (code, 1), done.stderr
    assert done.stderr.startswith("sottovoce: ")
    assert words in done.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_an_unknown_option_is_a_usage_error(run: Run, answers: Path) -> None:
    assert run("infer", answers.name, "--nope").returncode == 2


def test_the_version_is_printed(run: Run) -> None:
    assert run("--version").stdout.startswith("sottovoce 0.")


def test_help_lists_the_commands(run: Run) -> None:
    done = run("--help")
    for command in ("infer", "compare", "inspect", "pack", "datasets", "demo"):
        assert command in done.stdout


def test_help_loads_nothing_that_computes() -> None:
    code = (
        "import sys; sys.argv = ['sottovoce', '--help']\n"
        "from sottovoce.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numba', 'scipy', 'duckdb', 'pandas'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_comparing_prints_a_table_of_methods(call: Run, answers: Path, gold: Path) -> None:
    done = call("compare", answers.name, "--gold", gold.name)
    assert "majority-vote" in done.stdout
    assert "dawid-skene" in done.stdout
    assert "95 % bootstrap" in done.stderr


def test_comparing_as_json_lists_methods_with_scores(call: Run, answers: Path, gold: Path) -> None:
    options = ("--gold", gold.name, "--method", "majority-vote,dawid-skene", "--json")
    seen = json.loads(call("compare", answers.name, *options).stdout)
    assert {"method", "rounds", "converged", "score"} == set(seen["methods"][0])


def test_inspecting_says_what_the_table_holds(call: Run, answers: Path) -> None:
    done = call("inspect", answers.name)
    assert "36 (domain: categorical {no, yes})" in done.stdout
    assert "no (worker, task) pair is repeated" in done.stdout


def test_repeated_pairs_are_reported(call: Run, tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("worker,task,answer\na,t,x\na,t,y\nb,t,x\n")
    done = call("infer", "r.csv")
    assert "note: 1 of 3 rows repeats a (worker, task) pair: kept the first" in done.stderr
    assert call("infer", "r.csv", "--repeats", "error").returncode == 1


def test_a_packed_copy_gives_the_same_truths(call: Run, answers: Path) -> None:
    assert call("pack", answers.name, "-o", "p.parquet").returncode == 0
    assert call("infer", "p.parquet").stdout == call("infer", answers.name).stdout


def test_a_dataset_can_be_added_shown_listed_and_used(
    call: Run, answers: Path, gold: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "quiz"
    folder.mkdir()
    answers.rename(folder / "answers.csv")
    gold.rename(folder / "truth.csv")
    assert "no datasets" in call("datasets", "list").stderr
    assert call("datasets", "add", "quiz").returncode == 0
    assert "quiz" in call("datasets", "list").stdout
    assert "answers.csv, truth.csv" in call("datasets", "show", "quiz").stdout
    compared = json.loads(
        call("compare", "dataset:quiz", "--method", "majority-vote", "--json").stdout
    )
    assert compared["answers"] == 36


def test_a_simulated_crowd_can_be_generated_and_inferred(call: Run) -> None:
    made = call(
        "datasets", "generate", "categorical", "-o", "a.parquet", "--write-gold", "g.parquet",
        "--tasks", "200", "--workers", "30",
    )  # fmt: skip
    assert "1,000 simulated answers" in made.stderr
    seen = json.loads(call("infer", "a.parquet", "--gold", "g.parquet", "--json").stdout)
    assert seen["score"]["accuracy"] > 0.6


def test_a_closed_pipe_is_no_error(answers: Path) -> None:
    infer = f"{sys.executable} -m sottovoce infer {answers}"
    done = subprocess.run(
        ["bash", "-c", f"{infer} 2>/dev/null | head -1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "task,truth,confidence,answers\n"
    assert done.returncode == 0


def test_on_a_terminal_the_first_tasks_are_shown_as_a_table(answers: Path) -> None:
    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "sottovoce", "infer", str(answers)],
        stdout=other,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "NO_COLOR": "1"},
    ) as process:
        process.wait(60)
    os.close(other)
    shown = os.read(main, 100_000).decode()
    os.close(main)
    assert "confidence" in shown
    assert "," not in shown.splitlines()[1]
    assert "\x1b[3" not in shown  # no colours with NO_COLOR


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-m", "sottovoce", "infer", "-", "-o", "t.csv"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
        # A test run in the background ignores Ctrl-C, and its children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stdin is not None
        process.stdin.write("worker,task,answer\n" + "a,t,x\n" * 100_000)
        process.stdin.flush()
        wait_until(lambda: size(temporary) >= 600_000)  # it has taken in what there is
        time.sleep(0.2)  # and waits for more
        process.send_signal(signal.SIGINT)
        process.wait(60)
        assert process.stderr is not None
        words = process.stderr.read()
    assert (process.returncode, words) == (130, "sottovoce: stopped; nothing was written\n")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["temporary"]


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def wait_until(happened: Callable[[], bool], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
