"""`sottovoce audit`, as a user meets it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Calibration, Domain, Policy, Promise, Unit
from sottovoce.tables import write_policy

Run = Callable[..., Any]

KEYS = {
    "mechanism", "unit", "answers", "samples", "confidence", "delta", "lower_bound", "stated",
    "claimed", "refuted", "event", "exceeded",
}  # fmt: skip
SURE = ("--samples", "50000", "--confidence", "0.999999999")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """Keep with 3/4: epsilon is ln 3."""
    coin = {"name": "randomized-response", "labels": 2, "other": str(1 << 62)}
    promise = Promise(Unit.ANSWER, 1.1, 0.0, 3)
    written = Policy(Domain.categorical(["no", "yes"]), coin, Calibration.SOUND, promise)
    file = tmp_path / "policy.json"
    file.write_text(written.text())
    return file


def _record(path: Path, chance: float, count: int = 4000, names: str = "") -> None:
    """Sends yes with that chance, next to a column without information."""
    rng = np.random.default_rng(int(chance * 100))
    rows = [
        f"{'yes' if word < chance else 'no'},{other:.3f}" for word, other in rng.random((count, 2))
    ]
    path.write_text("\n".join([names] * bool(names) + rows) + "\n")


def test_a_sound_policy_passes_with_its_bound_next_to_the_guarantee(run: Run, policy: Path) -> None:
    done = run("audit", policy.name, *SURE, "--json")
    seen = json.loads(done.stdout)
    assert done.returncode == 0
    assert set(seen) == KEYS
    assert (seen["mechanism"], seen["unit"], seen["answers"]) == (
        "randomized-response",
        "answer",
        3,
    )
    assert (seen["samples"], seen["delta"], seen["exceeded"]) == (50_000, 0.0, False)
    assert 0.9 < seen["lower_bound"] < seen["stated"] == pytest.approx(np.log(3))
    assert seen["claimed"] == pytest.approx(np.log(3))


def test_per_worker_all_answers_change(run: Run, policy: Path) -> None:
    done = run(
        "audit", policy.name, *SURE, "--unit", "worker", "--answers-per-worker", "2", "--json"
    )
    seen = json.loads(done.stdout)
    assert 1.8 < seen["lower_bound"] < seen["stated"] == pytest.approx(2 * np.log(3))


def test_a_claim_per_answer_is_not_refuted_by_a_worker(run: Run, policy: Path) -> None:
    done = run("audit", policy.name, *SURE, "--unit", "worker", "--answers-per-worker", "2")
    assert "refute it" not in done.stdout
    assert "by the paper: not for this unit and delta" in done.stdout


def test_a_claim_with_a_delta_is_not_refuted_without_one(run: Run, tmp_path: Path) -> None:
    noise = {"name": "random-variance-gaussian", "steps": 10, "rate": str(1 << 62)}
    promise = Promise(Unit.ANSWER, 1.0, 0.5, 4)
    written = Policy(Domain.numeric(0, 10, step=1), noise, Calibration.SOUND, promise)
    (tmp_path / "noise.json").write_text(written.text())
    seen = json.loads(run("audit", "noise.json", *SURE, "--delta", "0", "--json").stdout)
    assert seen["lower_bound"] > seen["claimed"] == 1.0
    assert seen["refuted"] is None


def test_people_read_a_table_and_the_event(run: Run, policy: Path) -> None:
    done = run("audit", policy.name, "--samples", "20000")
    assert "at least" in done.stdout
    assert "randomized-response, 3 answers, per answer" in done.stdout
    assert "not refuted by these reports" in done.stdout
    # Which event tells most is up to the noise: one column, or whole submissions.
    assert done.stderr.startswith("event: ")


def test_recorded_samples_are_audited_against_an_epsilon(run: Run, tmp_path: Path) -> None:
    _record(tmp_path / "first.csv", 0.9, names="report,other")
    _record(tmp_path / "second.csv", 0.1, names="report,other")
    recorded = ("audit", "--samples-of", "first.csv", "second.csv")
    seen = json.loads(run(*recorded, "--json").stdout)
    assert set(seen) == KEYS
    assert (seen["samples"], seen["stated"], seen["mechanism"]) == (4000, None, None)
    assert 1.5 < seen["lower_bound"] < np.log(9)
    broken = run(*recorded, "--against", "1")
    assert broken.returncode == 1
    assert "the guarantee does not hold" in broken.stderr
    assert run(*recorded, "--against", "2.3").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a policy to audit, or --samples-of"),
        (["policy.json", "--samples-of", "a.csv", "b.csv"], "give a policy to audit"),
        (["policy.json", "--against", "1"], "--against needs --samples-of"),
        (["policy.json", "--confidence", "1"], "confidence must be above 0 and below 1"),
        (["policy.json", "--samples", "3"], "at least 16 samples"),
        (["policy.json", "--answers-per-worker", "0"], "answers must be at least 1"),
        (["--samples-of", "a.csv", "b.csv", "--against", "nan"], "--against must be at least 0"),
    ],
)
def test_impossible_requests_are_one_line(
    run: Run, policy: Path, arguments: list[str], words: str
) -> None:
    done = run("audit", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_audit_that_would_take_hours_is_refused(run: Run, policy: Path) -> None:
    done = run("audit", policy.name, "--samples", "100000000000")
    assert (done.returncode, done.stdout) == (2, "")
    assert "use fewer --samples or --answers-per-worker" in done.stderr


def test_of_a_sealed_policy_opened_totals_are_audited(run: Run, tmp_path: Path) -> None:
    domain = Domain.categorical(["no", "yes"])
    write_policy(make_policy(domain, "sealed-sum", Target(1.0)), tmp_path / "sealed.json")
    done = run("audit", "sealed.json", *SURE, "--json")
    seen = json.loads(done.stdout)
    assert done.returncode == 0
    assert (seen["mechanism"], seen["stated"], seen["exceeded"]) == ("sealed-sum", 1.0, False)
    assert seen["lower_bound"] > 0.8
