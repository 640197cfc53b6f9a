"""`sottovoce perturb`, as a user meets it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.model.guarantee import rounded_up
from sottovoce.tables import read_policy, read_reports

Run = Callable[..., "subprocess.CompletedProcess[str]"]

RR = ("--mechanism", "randomized-response", "--epsilon", "1")
YES_NO = ("--domain", "categorical:no,yes")
OUT = ("-o", "r.csv", "--write-policy", "p.json")
NUMBERS = ("--domain", "numeric:0..10/0.5")
STARS = ("--domain", "ordinal:1,2,3,4,5")


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    file = tmp_path / "numbers.csv"
    rows = [f"w{w},t{t},{(3 * w + t) % 11}" for w in range(5) for t in range(6) if (w + t) % 5]
    file.write_text("\n".join(["worker,task,value", *rows]) + "\n")
    return file


@pytest.fixture
def stars(tmp_path: Path) -> Path:
    file = tmp_path / "stars.csv"
    rows = [f"w{w},t{t},{1 + (w + t) % 5}" for w in range(5) for t in range(6)]
    file.write_text("\n".join(["worker,task,answer", *rows]) + "\n")
    return file


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"cache"}


def test_reports_and_their_policy_are_written(run: Run, answers: Path, tmp_path: Path) -> None:
    done = run("perturb", answers.name, *RR, *YES_NO, *OUT)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "r.csv").read_text().splitlines()[0] == "worker,task,report"
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 37
    policy = read_policy(tmp_path / "p.json")
    assert policy.promise is not None
    assert (policy.name, policy.promise.answers) == ("randomized-response", 12)
    assert "wrote r.csv: 36 reports" in done.stderr
    assert "epsilon 1 per answer, epsilon 12 per worker" in done.stderr
    assert "Of 100 workers with the same answer 73 send it" in done.stderr


def test_two_runs_without_a_seed_differ(call: Run, stars: Path, tmp_path: Path) -> None:
    seen = set()
    for _ in range(2):
        assert call("perturb", stars.name, *RR, *STARS, *OUT, "--force").returncode == 0
        seen.add((tmp_path / "r.csv").read_text())
    assert len(seen) == 2


def test_answers_may_come_from_standard_input(run: Run, answers: Path, tmp_path: Path) -> None:
    done = run("perturb", "-", *RR, *YES_NO, *OUT, "--seed", "1", stdin=answers.read_text())
    assert done.returncode == 0
    assert len((tmp_path / "r.csv").read_text().splitlines()) == 37


def test_a_seed_stamps_the_column_and_says_so(call: Run, answers: Path, tmp_path: Path) -> None:
    for ending in ("csv", "tsv", "jsonl", "parquet"):
        done = call(
            "perturb", answers.name, *RR, *YES_NO, "--seed", "1", "--force",
            "-o", f"r.{ending}", "--write-policy", "p.json",
        )  # fmt: skip
        assert "SIMULATED with seed 1: these reports protect nobody" in done.stderr
        assert read_reports(tmp_path / f"r.{ending}").simulated


def test_labels_taken_from_the_answers_are_said_to_be_public(call: Run, answers: Path) -> None:
    done = call("perturb", answers.name, *RR, *OUT)
    assert "the 2 labels come from the answers, and the policy makes them public" in done.stderr
    done = call("perturb", answers.name, *RR, *OUT, *YES_NO, "--force")
    assert "come from the answers" not in done.stderr


TABLES = ("answers", "numbers", "stars")
WAYS: list[tuple[str, ...]] = [
    (),
    ("--hide-participation",),
    ("--unit", "worker", "--sample", "2"),
]


def combined() -> Iterator[Any]:
    """Each mechanism with each table in one way and in each way with one table; the rest slowly."""
    names = list(MECHANISMS)
    for (i, name), (j, table), (k, way) in product(*map(enumerate, (names, TABLES, WAYS))):
        marks = [] if (i + j + k) % 3 == 0 else [pytest.mark.slow]
        yield pytest.param(name, table, way, marks=marks, id=f"{name}-{table}-{'-'.join(way)}")


@pytest.mark.parametrize(("name", "table", "way"), list(combined()))
def test_every_mechanism_perturbs_what_it_takes_and_infer_reads_it(
    name: str,
    table: str,
    way: tuple[str, ...],
    call: Run,
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    file: Path = request.getfixturevalue(table)
    domain = {"answers": YES_NO, "numbers": NUMBERS, "stars": STARS}[table]
    truth = "q1,yes\nq2,no\nq3,no\nq4,yes" if table == "answers" else "t1,3\nt2,4\nt3,1\nt4,5"
    (tmp_path / "g.csv").write_text(f"task,truth\n{truth}\n")
    delta = ("--delta", "0.01") if name == "random-variance-gaussian" else ()
    done = call(
        "perturb", file.name, *domain, "--mechanism", name, "--epsilon", "3", "--seed", "4",
        *OUT, *way, *delta,
    )  # fmt: skip
    if done.returncode:
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
        refused = (" takes ", " cannot hide participation", "needs all answers")
        assert any(reason in done.stderr for reason in refused), done.stderr
        return
    inferred = call("infer", "r.csv", "--policy", "p.json", "--gold", "g.csv")
    assert inferred.returncode == 0, inferred.stderr
    assert "note: SIMULATED reports" in inferred.stderr


def test_all_missing_options_are_listed_at_once(call: Run, answers: Path) -> None:
    done = call("perturb", answers.name, "--epsilon", "1")
    assert done.returncode == 2
    assert done.stderr == (
        "sottovoce: give --output, --mechanism and --write-policy, or --policy for an existing "
        "policy\n"
    )


def test_an_epsilon_above_the_mechanisms_limit_is_noted(call: Run, answers: Path) -> None:
    note = "note: epsilon 1000 was requested; the largest possible with this mechanism is 44.37"
    assert note in call("perturb", answers.name, *YES_NO, *OUT, *RR[:3], "1000").stderr
    usual = call("perturb", answers.name, *YES_NO, *OUT, *RR[:3], "30", "--force")
    assert (usual.returncode, "was requested" in usual.stderr) == (0, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give --mechanism and --epsilon"),
        (("--mechanism", "randomized-response"), "give --epsilon, or --policy for an existing"),
        (("--mechanism", "magic", "--epsilon", "1"), "no mechanism 'magic'; there are: "),
        ((*RR[:3], "0"), "--epsilon takes a number above 0, not '0'"),
        ((*RR[:3], "-1"), "--epsilon takes a number above 0, not '-1'"),
        ((*RR[:3], "nan"), "--epsilon takes a number above 0, not 'nan'"),
        ((*RR[:3], "inf"), "--epsilon takes a number above 0, not 'inf'"),
        ((*RR, "--delta", "1"), "delta must be at least 0 and below 1, not 1"),
        ((*RR, "--delta", "nan"), "delta must be at least 0 and below 1, not nan"),
        ((*RR, "--set", "size=1"), "no parameter 'size'"),
        ((*RR, "--set", "calibration=sound"), "not calibration"),
        ((*RR, "--set", "domain=x"), "not domain"),
        ((*RR, "--set", "size"), "--set takes NAME=VALUE"),
        ((*RR, "--sample", "2"), "drop --sample"),
        ((*RR, "--unit", "worker", "--sample", "0"), "--sample takes auto, all or a number"),
        ((*RR, "--unit", "worker", "--sample", "13"), "sample must be an integer from 1 to 12"),
        ((*RR, "--hide-participation"), "cannot hide participation"),
        ((*RR, "--seed", "-1"), "seed must be an integer of at least 0, not -1"),
        ((*RR, "--domain", "categorical:only"), "labels must be an integer from 2"),
        (("--mechanism", "laplace", "--epsilon", "1"), "not categorical ones"),
        (("--mechanism", "two-layer", "--epsilon", "1", "--unit", "worker", "--as-published"),
         "needs --unit answer"),
        (("--mechanism", "subset-selection", "--epsilon", "1", "--as-published"),
         "no published calibration"),
    ],
)  # fmt: skip
def test_bad_parameters_are_one_line_and_nothing_is_written(
    options: tuple[str, ...], message: str, call: Run, answers: Path, tmp_path: Path
) -> None:
    domain = () if "--domain" in options else YES_NO
    if "categorical:only" in options:
        answers.write_text("worker,task,answer\na,t,only\nb,t,only\n")
    done = call("perturb", answers.name, *domain, *OUT, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sottovoce: ")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert left_in(tmp_path) == {"answers.csv"}


@pytest.mark.parametrize(
    ("domain", "code", "message"),
    [
        ("numeric:10..0", 2, "low < high, not 10..0"),
        ("numeric:0..10/0", 2, "step must be above 0, not 0"),
        ("numeric:0..10/3", 2, "step 3 does not divide the range 0..10"),
        ("numeric:0..10/0.00001", 2, "1 to 65,536 steps"),
        ("numeric:nan..1", 2, "has no range"),
        ("numeric:0..inf", 2, "public range"),
        ("numeric", 2, "public range"),
        ("numeric:0..5", 1, "is outside the range 0..5"),
        ("categorical:a,b", 1, "is not one of the labels"),
    ],
)
def test_a_domain_that_does_not_fit_is_one_line_and_nothing_is_written(
    domain: str, code: int, message: str, call: Run, numbers: Path, tmp_path: Path
) -> None:
    mechanism = "laplace" if domain.startswith("numeric") else "randomized-response"
    done = call(
        "perturb", numbers.name, "--domain", domain, "--mechanism", mechanism, "--epsilon", "1",
        *OUT,
    )  # fmt: skip
    assert done.returncode == code
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert left_in(tmp_path) == {"numbers.csv"}


@pytest.mark.parametrize("cell", ["CANARY77", "7077.25", "", "z" * 1001 + "CANARY77"])
@pytest.mark.parametrize("options", [(*RR, *YES_NO), RR, ("--policy", "policy.json")])
def test_a_bad_answer_is_never_quoted(
    cell: str, options: tuple[str, ...], call: Run, answers: Path, tmp_path: Path
) -> None:
    if "--policy" in options:
        call("perturb", answers.name, *RR, *YES_NO, "-o", "x.csv", "--write-policy", "policy.json")
    answers.write_text(f"worker,task,answer\nann,q1,yes\nann,q2,no\nbob,q1,{cell}\n")
    output = ("-o", "r.csv") if "--policy" in options else OUT
    done = call("perturb", answers.name, *options, *output)
    assert "CANARY77" not in done.stderr
    assert "7077" not in done.stderr
    if done.returncode:
        assert (done.returncode, "row 4" in done.stderr) == (1, True)
        assert not (tmp_path / "r.csv").exists()


def test_a_table_without_a_header_is_not_quoted(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("ann,q1,CANARY77\nbob,q1,no\n")
    done = call("perturb", "a.csv", *RR, *OUT)
    assert (done.returncode, "CANARY77" in done.stderr) == (1, False)


def test_neither_file_appears_without_the_other(call: Run, answers: Path, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text("mine")
    assert call("perturb", answers.name, *RR, *YES_NO, *OUT).returncode == 2
    assert left_in(tmp_path) == {"answers.csv", "p.json"}
    (tmp_path / "p.json").unlink()
    (tmp_path / "r.csv").write_text("mine")
    assert call("perturb", answers.name, *RR, *YES_NO, *OUT).returncode == 2
    assert left_in(tmp_path) == {"answers.csv", "r.csv"}
    assert (tmp_path / "r.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "outputs",
    [
        ("-o", "r.csv"),
        ("-o", "r.txt", "--write-policy", "p.json"),
        ("-o", "none/r.csv", "--write-policy", "p.json"),
        ("-o", "r.csv", "--write-policy", "none/p.json"),
        ("-o", "r.csv", "--write-policy", "./r.csv"),
        ("-o", "r.csv", "--write-policy", "."),
    ],
)
def test_outputs_that_cannot_be_are_refused_before_the_work(
    outputs: tuple[str, ...], call: Run, answers: Path, tmp_path: Path
) -> None:
    done = call("perturb", answers.name, *RR, *YES_NO, *outputs, "--force")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert left_in(tmp_path) == {"answers.csv"}


def test_a_policy_decides_alone(call: Run, answers: Path, tmp_path: Path) -> None:
    call("perturb", answers.name, *RR, *YES_NO, *OUT)
    done = call(
        "perturb", answers.name, "--policy", "p.json", "-o", "again.csv", "--unit", "worker",
        "--delta", "0.1", "--domain", "categorical:a,b", "--set", "a=1",
    )  # fmt: skip
    assert done.returncode == 2
    assert "already fixes this: drop --unit, --delta, --set, --domain" in done.stderr
    assert not (tmp_path / "again.csv").exists()
    assert call("perturb", answers.name, "--policy", "p.json", "-o", "again.csv").returncode == 0


def test_a_policy_for_fewer_answers_is_refused(call: Run, answers: Path, tmp_path: Path) -> None:
    few = "worker,task,answer\nann,q1,yes\nbob,q2,no\n"
    (tmp_path / "few.csv").write_text(few)
    call("perturb", "few.csv", *RR, *YES_NO, "--unit", "worker", "--sample", "all", *OUT)
    done = call("perturb", answers.name, "--policy", "p.json", "-o", "again.csv")
    assert (done.returncode, "for up to 1" in done.stderr) == (2, True)
    assert not (tmp_path / "again.csv").exists()


def test_a_tampered_policy_is_refused(call: Run, answers: Path, tmp_path: Path) -> None:
    call("perturb", answers.name, *RR, *YES_NO, *OUT)
    document = json.loads((tmp_path / "p.json").read_text())
    document["mechanism"]["other"] = "1"
    (tmp_path / "p.json").write_text(json.dumps(document))
    done = call("perturb", answers.name, "--policy", "p.json", "-o", "again.csv")
    assert (done.returncode, "cannot be trusted" in done.stderr) == (1, True)
    assert not (tmp_path / "again.csv").exists()


def test_reports_are_not_perturbed_again_by_mistake(call: Run, answers: Path) -> None:
    call("perturb", answers.name, *RR, *YES_NO, *OUT)
    done = call("perturb", "r.csv", "--policy", "p.json", "-o", "again.csv")
    assert (done.returncode, "are these answers?" in done.stderr) == (1, True)


def test_simulated_reports_stay_simulated_under_real_noise(
    call: Run, answers: Path, tmp_path: Path
) -> None:
    call("perturb", answers.name, *RR, *YES_NO, *OUT, "--seed", "1")
    done = call(
        "perturb", "r.csv", "--policy", "p.json", "-o", "again.csv",
        "--columns", "answer=simulated_report",
    )  # fmt: skip
    assert done.returncode == 0
    assert (tmp_path / "again.csv").read_text().startswith("worker,task,simulated_report\n")


@pytest.mark.parametrize("content", ["", "worker,task,answer\n"])
def test_an_empty_table_is_refused(content: str, call: Run, tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text(content)
    done = call("perturb", "e.csv", *RR, *OUT)
    assert (done.returncode, left_in(tmp_path)) == (1, {"e.csv"})


def test_what_is_kept_is_told_for_the_answers_that_there_are(
    call: Run, answers: Path, tmp_path: Path
) -> None:
    call("guarantee", *RR, *YES_NO, "--write-policy", "p.json")
    done = call("perturb", answers.name, "--policy", "p.json", "-o", "r.csv")
    said = "guarantee for up to 12 answers per worker: epsilon 1 per answer, epsilon 12 per worker"
    assert said in done.stderr


def test_what_is_kept_as_published_is_told_too(call: Run, answers: Path) -> None:
    options = ("--mechanism", "two-layer", "--epsilon", "1", "--as-published")
    done = call("perturb", answers.name, *options, *YES_NO, *OUT)
    assert "the policy guarantees nothing" in done.stderr
    assert "guarantee for up to 12 answers per worker: epsilon 2.4" in done.stderr


def test_the_guarantee_of_a_sample_holds_for_few_answers_too(call: Run, answers: Path) -> None:
    target = ("--unit", "worker", "--delta", "0.01", "--sample", "2")
    done = call("perturb", answers.name, *RR, *target, *YES_NO, *OUT)
    two = json.loads(call("guarantee", "p.json", "--answers-per-worker", "2", "--json").stdout)
    per_answer = two["per_answer"]["at_delta"]["epsilon"]
    assert f"up to 12 answers per worker: epsilon {rounded_up(per_answer, 4)}, delta" in done.stderr


@pytest.mark.parametrize(
    "outputs",
    [("-o", "answers.csv", "--write-policy", "p.json"), ("-o", "r.csv", "--write-policy", "IN")],
)
def test_answers_are_never_replaced(
    outputs: tuple[str, ...], call: Run, answers: Path, tmp_path: Path
) -> None:
    before = answers.read_text()
    files = [answers.name if each in ("IN", "answers.csv") else each for each in outputs]
    done = call("perturb", answers.name, *RR, *YES_NO, *files, "--force")
    assert (done.returncode, answers.read_text()) == (2, before)
    assert "contains the answers: write to another file" in done.stderr
    assert left_in(tmp_path) == {answers.name}


def test_a_single_label_is_no_domain(call: Run, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("worker,task,answer\nann,q1,yes\n")
    done = call("perturb", "one.csv", *RR, *OUT)
    assert (done.returncode, done.stderr) == (
        2,
        "sottovoce: only one label occurs in the answers: list all labels with --domain\n",
    )
