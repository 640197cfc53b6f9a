"""`sottovoce guarantee`, as a user meets it."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.model import Domain, Keyholder
from sottovoce.tables import write_policy

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def seen(call: Run, *options: str) -> Any:
    done = call("guarantee", *options, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def rr(*options: str) -> tuple[str, ...]:
    return ("--mechanism", "randomized-response", "--epsilon", "1", *options)


def test_json_is_one_object_with_the_promised_names(call: Run) -> None:
    content = seen(call, *rr("--label-count", "4", "--answers-per-worker", "20"))
    assert {"mechanism", "parameters", "answers", "per_answer", "per_worker", "claimed"} <= set(
        content
    )
    assert (content["mechanism"], content["answers"]) == ("randomized-response", 20)
    assert content["parameters"]["labels"] == 4
    assert content["per_answer"]["epsilon"] == pytest.approx(1.0, abs=1e-6)
    assert content["per_worker"]["epsilon"] == pytest.approx(20.0, abs=1e-4)
    assert {"epsilon", "delta"} <= set(content["claimed"])
    half = content["per_answer"]["delta_at"]["0.5"]
    keep = math.e / (math.e + 3)
    assert half == pytest.approx(keep - math.exp(0.5) * (1 - keep) / 3, abs=1e-6)


def test_the_papers_claim_is_shown_next_to_the_true_loss(call: Run) -> None:
    content = seen(
        call, "--mechanism", "two-layer", "--epsilon", "1", "--label-count", "2",
        "--answers-per-worker", "100", "--as-published",
    )  # fmt: skip
    assert content["claimed"]["epsilon"] == pytest.approx(1.0, abs=1e-6)
    assert content["per_answer"]["epsilon"] == pytest.approx(math.log(100), abs=1e-3)
    assert content["per_worker"]["epsilon"] > 60


def test_where_no_epsilon_holds_it_is_null(call: Run) -> None:
    content = seen(
        call, "--mechanism", "random-variance-gaussian", "--epsilon", "1", "--delta", "1e-5",
        "--domain", "numeric:0..10/1", "--answers-per-worker", "2",
    )  # fmt: skip
    assert content["per_answer"]["epsilon"] is None
    assert content["per_answer"]["at_delta"]["epsilon"] <= 1.0


def test_a_sealed_policy_is_told_with_its_keyholders_and_its_assumptions(
    call: Run, tmp_path: Path
) -> None:
    keys = [f"{letter * 42}A" for letter in "BCDEFGH"]
    keyholders = tuple(Keyholder(f"Seat {i}", keys[i], keys[i + 3]) for i in range(3))
    policy = make_policy(
        Domain.categorical(["no", "yes"]), "sealed-sum", Target(1.0, answers=20),
        keyholders=keyholders, coordinator=keys[6],
    )  # fmt: skip
    write_policy(policy, tmp_path / "sealed.json")
    content = seen(call, "sealed.json")
    assert content["per_answer"]["epsilon"] == 1.0
    assert content["per_worker"]["epsilon"] == 20.0
    assert content["keyholders"][1] == {
        "seat": 2, "name": "Seat 1", "fingerprint": keyholders[1].fingerprint,
    }  # fmt: skip
    told = call("guarantee", "sealed.json").stdout
    assert f"Keyholder 3: Seat 2, fingerprint {keyholders[2].fingerprint}" in told
    assert "Assumes: at most 1 of 3 keyholders collude" in told
    assert "standard deviation 1.66" in told  # of 3/2 · 2 q / (1 - q)², q = 1/e


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_is_told_in_words(name: str, call: Run) -> None:
    delta = ("--delta", "1e-5") if name == "random-variance-gaussian" else ()
    done = call(
        "guarantee", "--mechanism", name, "--epsilon", "2", "--label-count", "3",
        "--answers-per-worker", "2", *delta,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "per answer" in done.stdout
    assert "per worker" in done.stdout
    people = [line for line in done.stdout.splitlines() if line.strip() and set(line) <= set("●○ ")]
    assert [len(line.split(" ")) for line in people] == (
        [] if name == "matrix-factorization" else [10] * 10
    )


def test_a_policy_is_told_like_its_options(call: Run, answers: Path) -> None:
    call(
        "perturb", answers.name, *rr("--domain", "categorical:no,yes"), "-o", "r.csv",
        "--write-policy", "p.json",
    )  # fmt: skip
    told = seen(call, "p.json")
    asked = seen(call, *rr("--domain", "categorical:no,yes", "--answers-per-worker", "12"))
    assert told == asked
    assert told["answers"] == 12


def test_a_policy_decides_alone(call: Run, answers: Path) -> None:
    call("perturb", answers.name, *rr(), "-o", "r.csv", "--write-policy", "p.json")
    done = call("guarantee", "p.json", "--label-count", "2", "--unit", "worker")
    assert done.returncode == 2
    assert done.stderr == "sottovoce: the policy already fixes this: drop --label-count, --unit\n"


def test_an_epsilon_with_a_policy_asks_for_a_point_of_its_curve(call: Run) -> None:
    call(
        "guarantee", "--mechanism", "random-variance-gaussian", "--epsilon", "1", "--delta", "0.1",
        "--domain", "numeric:0..10", "--as-published", "--write-policy", "p.json",
    )  # fmt: skip
    assert seen(call, "p.json")["claimed"] is None
    claimed = seen(call, "p.json", "--epsilon", "1")["claimed"]
    assert (claimed["epsilon"], round(claimed["delta"], 9)) == (1.0, 0.1)


def test_a_large_delta_is_said_to_hide_little(call: Run) -> None:
    done = call(
        "guarantee", "--mechanism", "randomized-response", "--epsilon", "1", "--delta", "0.1",
        "--label-count", "2",
    )  # fmt: skip
    assert "with probability up to 0.1 reports may reveal all" in done.stdout


def test_a_sample_is_not_said_to_be_all_answers(call: Run) -> None:
    done = call(
        "guarantee", *rr("--label-count", "2", "--unit", "worker", "--answers-per-worker", "5")
    )
    assert done.stdout.startswith("randomized-response, 5 answers per worker, 1 of them sent\n")


def test_a_large_epsilon_is_written_out(call: Run) -> None:
    done = call("guarantee", *rr("--label-count", "2", "--answers-per-worker", "1000000"))
    assert "1,000,000 " in done.stdout
    assert "e+06" not in done.stdout


def test_a_large_epsilon_is_called_what_it_is(call: Run) -> None:
    done = call("guarantee", *rr("--label-count", "2")[:3], "8", "--label-count", "2")
    assert "This hides little" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "give a policy, or --mechanism"),
        (("--label-count", "2"), "give a policy, or --mechanism"),
        ((*rr()[:2], "--label-count", "2"), "give --epsilon, or a policy"),
        (rr(), "give --label-count N"),
        (rr("--label-count", "1"), "--label-count must be from 2 to"),
        (rr("--label-count", "2", "--domain", "categorical:a,b"), ", not both"),
        (rr("--domain", "categorical"), "needs labels or a range"),
        (rr("--domain", "numeric:0..1"), "not numeric ones"),
        (
            rr("--label-count", "2", "--answers-per-worker", "0"),
            "must be at least 1, not 0",
        ),
        (rr("--label-count", "2", "--answers-per-worker", "-1"), "answers must be from 1"),
        (rr("--label-count", "2", "--answers-per-worker", "99999999999"), "answers must be from 1"),
        (rr("--label-count", "2", "--delta", "nan"), "delta must be"),
        (rr("--label-count", "2", "--set", "size=1"), "no parameter 'size'"),
        ((*rr()[:3], "nan", "--label-count", "2"), "--epsilon takes a number above 0"),
    ],
)
def test_bad_parameters_are_one_line(options: tuple[str, ...], message: str, call: Run) -> None:
    done = call("guarantee", *options)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert message in done.stderr


@pytest.mark.parametrize("content", ["", "{}", "[" * 99_999, '{"format": 1, "format": 2}'])
def test_a_file_that_is_no_policy_is_one_line(content: str, call: Run, tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(content)
    done = call("guarantee", "p.json")
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("sottovoce: p.json: ")
