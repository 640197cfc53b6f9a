"""`sottovoce infer --policy`: truths from reports."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sottovoce.tables import read_policy

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def reports(call: Run, answers: Path, tmp_path: Path) -> Path:
    done = call(
        "perturb", answers.name, "--domain", "categorical:no,yes", "--seed", "1", "-o", "r.csv",
        "--mechanism", "randomized-response", "--epsilon", "20", "--write-policy", "p.json",
    )  # fmt: skip
    assert done.returncode == 0
    return tmp_path / "r.csv"


def test_truths_are_found_in_reports(call: Run, reports: Path, gold: Path) -> None:
    done = call("infer", reports.name, "--policy", "p.json", "--gold", gold.name)
    assert done.stdout.splitlines()[0] == "task,truth,confidence,answers"
    assert "accuracy 1.0000" in done.stderr


def test_json_names_the_policy_and_the_simulation(call: Run, reports: Path, tmp_path: Path) -> None:
    done = call("infer", reports.name, "--policy", "p.json", "--json")
    content = json.loads(done.stdout)
    assert content["policy_hash"] == read_policy(tmp_path / "p.json").hash
    assert content["simulated"] is True
    assert "note: SIMULATED reports" in done.stderr


@pytest.mark.parametrize(
    "trick", [(), ("--columns", "answer=simulated_report"), ("--domain", "categorical")]
)
def test_the_stamp_is_seen_without_a_policy_too(
    trick: tuple[str, ...], call: Run, reports: Path
) -> None:
    assert "note: SIMULATED reports" in call("infer", reports.name, *trick).stderr


def test_the_stamp_is_seen_in_a_packed_copy(call: Run, reports: Path) -> None:
    assert call("pack", reports.name, "-o", "packed.parquet").returncode == 0
    done = call("infer", "packed.parquet", "--policy", "p.json")
    assert (done.returncode, "note: SIMULATED reports" in done.stderr) == (0, True)


def test_answers_are_not_taken_for_simulated_reports(call: Run, answers: Path) -> None:
    assert "SIMULATED" not in call("infer", answers.name).stderr


def test_the_domain_is_the_policys(call: Run, reports: Path) -> None:
    done = call("infer", reports.name, "--policy", "p.json", "--domain", "categorical")
    assert (done.returncode, "drop --domain" in done.stderr) == (2, True)


def test_what_no_report_can_be_is_refused(call: Run, reports: Path) -> None:
    reports.write_text("worker,task,report\nann,q1,maybe\n")
    done = call("infer", reports.name, "--policy", "p.json")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "'maybe' is not one of the labels" in done.stderr


def test_a_column_named_report_without_a_policy_gets_a_note(call: Run, reports: Path) -> None:
    reports.write_text("worker,task,report\nann,q1,yes\nbob,q1,no\n")
    note = "note: the column is named report; if these are randomised reports, pass --policy"
    assert note in call("infer", reports.name).stderr
    assert note not in call("infer", reports.name, "--policy", "p.json").stderr


def test_raw_answers_are_not_taken_for_reports(call: Run, reports: Path, answers: Path) -> None:
    done = call("infer", answers.name, "--policy", "p.json")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "has a column of answers, not of reports; with a policy, give the table" in done.stderr
    assert done.stderr.endswith("under another name, pass --columns answer=THAT\n")


@pytest.mark.parametrize(
    ("mechanism", "cell", "message"),
    [
        ("laplace", "0.55", "is not on the policy's grid"),
        ("duchi", "middle", "is not one of the labels"),
        ("threshold", "above", "is not one of the labels"),
        ("subset-selection", "0 99", "is not a subset"),
        ("subset-selection", "0 1 2 3 4 5 6 7 8 9", "is not a set of"),
    ],
)
def test_reports_that_the_mechanism_cannot_make_are_refused(
    mechanism: str, cell: str, message: str, call: Run, tmp_path: Path
) -> None:
    (tmp_path / "n.csv").write_text("worker,task,value\na,t,1\nb,t,2\n")
    call(
        "perturb", "n.csv", "--domain", "numeric:0..10/0.1", "--mechanism", mechanism,
        "--epsilon", "1", "-o", "r.csv", "--write-policy", "p.json",
    )  # fmt: skip
    (tmp_path / "r.csv").write_text(f"worker,task,report\na,t,{cell}\n")
    done = call("infer", "r.csv", "--policy", "p.json")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert message in done.stderr


@pytest.fixture
def with_null(call: Run, answers: Path) -> Path:
    call(
        "perturb", answers.name, "--domain", "categorical:no,yes", "--seed", "1", "-o", "r.csv",
        "--mechanism", "null-randomized-response", "--epsilon", "1", "--write-policy", "p.json",
    )  # fmt: skip
    return answers.with_name("r.csv")


def test_null_reports_are_left_out_and_counted_by_methods_that_know_no_noise(
    call: Run, with_null: Path
) -> None:
    nulls = with_null.read_text().count(",NULL\n")
    done = call("infer", "r.csv", "--policy", "p.json", "--method", "majority-vote")
    assert f"{nulls} of 36 rows dropped: the report is NULL" in done.stderr
    assert f"{36 - nulls} answers" in done.stderr


def test_null_reports_are_used_by_the_method_that_knows_the_noise(
    call: Run, with_null: Path
) -> None:
    assert ",NULL\n" in with_null.read_text()
    done = call("infer", "r.csv", "--policy", "p.json")
    assert "dropped" not in done.stderr
    assert "aware-labels: 12 tasks, 3 workers, 36 reports" in done.stderr


def test_a_method_that_knows_the_noise_needs_a_policy(call: Run, reports: Path) -> None:
    done = call("infer", reports.name, "--method", "aware-ordinal")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "aware-ordinal models the noise of a policy: pass --policy" in done.stderr


def test_a_misspelled_noise_aware_method_gets_a_suggestion(call: Run, reports: Path) -> None:
    done = call("infer", reports.name, "--policy", "p.json", "--method", "aware-label")
    assert (done.returncode, done.stderr) == (
        2, "sottovoce: no method 'aware-label': did you mean aware-labels?\n",
    )  # fmt: skip


def test_a_policy_that_lies_is_refused(call: Run, reports: Path, tmp_path: Path) -> None:
    document = json.loads((tmp_path / "p.json").read_text())
    document["promise"]["epsilon"] = "0.1"
    (tmp_path / "p.json").write_text(json.dumps(document))
    done = call("infer", reports.name, "--policy", "p.json")
    assert (done.returncode, "cannot be trusted" in done.stderr) == (1, True)
    assert done.stderr.startswith("sottovoce: p.json: ")


def test_a_policy_that_is_not_there_is_one_line(call: Run, reports: Path) -> None:
    done = call("infer", reports.name, "--policy", "none.json")
    assert (done.returncode, done.stderr) == (1, "sottovoce: none.json: there is no such file\n")
