"""The service infers the same truths as the command line does from the exported file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.server.crowds import opened, report
from tests.server.drafts import running
from typer.testing import CliRunner

from sottovoce import agreement, infer, read_policy
from sottovoce.cli.app import app
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy, Unit
from sottovoce.server.campaigns.exports import export
from sottovoce.server.campaigns.results import truths_page, workers_page
from sottovoce.server.database import Database, upgrade
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service

LEAVES = Domain.categorical(["oak", "birch", "lime"])
STARS = Domain.ordinal([1, 2, 3, 4, 5])
METRES = Domain.numeric(0, 10, 0.5)
HIDING = Target(2.0, answers=8, hide_participation=True)

POLICIES: dict[str, Callable[[], Policy]] = {
    "labels": lambda: make_policy(LEAVES, "randomized-response", Target(2.0, answers=8)),
    "labels or NULL": lambda: make_policy(LEAVES, "null-randomized-response", HIDING),
    "ordinal": lambda: make_policy(STARS, "randomized-response", Target(3.0, answers=8)),
    "points over labels": lambda: make_policy(STARS, "laplace", Target(3.0, answers=8)),
    "points": lambda: make_policy(METRES, "piecewise", Target(3.0, answers=8)),
    "hidden points": lambda: make_policy(METRES, "laplace", HIDING),
    "two layers": lambda: make_policy(LEAVES, "two-layer", Target(2.0, answers=8)),
    "subsets": lambda: make_policy(LEAVES, "subset-selection", Target(1.0, answers=8)),
    "subsets of bins": lambda: make_policy(METRES, "subset-selection", Target(1.0, answers=8)),
    "sides": lambda: make_policy(METRES, "threshold", Target(2.0, answers=8)),
    "sides or NULL": lambda: make_policy(METRES, "threshold", HIDING),
    "ends": lambda: make_policy(METRES, "duchi", Target(2.0, answers=8)),
    "numbers": lambda: make_policy(METRES, "matrix-factorization", HIDING),
    "a sample": lambda: make_policy(
        LEAVES, "randomized-response", Target(6.0, unit=Unit.WORKER, answers=8)
    ),
}
TASKS = ["a task", "t, 2", 't "3"', "tâche 4", "t\n5", " t6", "t7 ", "'t8", "t9", "00010"]


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Service]:
    database = Database.at(tmp_path)
    upgrade(database)
    with running(database) as service:
        yield service
    database.close()


def saved(service: Service, id: str, name: str, folder: Path) -> Path:
    out = export(service, id, name, raw=True)
    path = folder / name
    path.write_bytes(b"".join(out.pieces))
    out.close()
    return path


def table(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


@pytest.mark.parametrize(
    ("alphabet", "format"),
    [
        *((alphabet, "csv") for alphabet in POLICIES),
        *((alphabet, format) for alphabet in ("labels or NULL", "ordinal", "numbers", "subsets")
          for format in ("jsonl", "parquet")),
    ],
)  # fmt: skip
def test_the_exported_file_gives_the_same_truths(
    on_sqlite: Service, alphabet: str, format: str, tmp_path: Path
) -> None:
    id, link = opened(on_sqlite, POLICIES[alphabet](), TASKS)
    report(on_sqlite, id, link, workers=30, seed=7)
    infer_now(on_sqlite, id)
    policy = read_policy(saved(on_sqlite, id, "policy.json", tmp_path))
    expected = infer(saved(on_sqlite, id, f"reports.{format}", tmp_path), policy=policy)
    truths = truths_page(on_sqlite, id).columns
    weights = workers_page(on_sqlite, id).columns
    sure = "standard_error" if expected.domain.is_numeric else "confidence"
    place = {task: row for row, task in enumerate(truths["task"])}
    rows = [place[task] for task in expected.tasks]
    assert len(rows) == len(place)
    got = [truths["truth"][row] for row in rows]
    if expected.domain.is_numeric:
        assert got == pytest.approx(expected.values.tolist(), abs=1e-9)
    else:
        assert got == expected.values.tolist()
    certainty = getattr(expected, sure).tolist()
    assert [truths[sure][row] for row in rows] == pytest.approx(certainty, abs=1e-9)
    assert [truths["answers"][row] for row in rows] == expected.answers.tolist()
    assert weights["worker"] == expected.workers.tolist()
    assert weights["weight"] == pytest.approx(expected.weights.tolist(), rel=1e-9, abs=1e-9)


def test_the_command_line_says_the_same(on_sqlite: Service, tmp_path: Path) -> None:
    id, link = opened(on_sqlite, POLICIES["sides"](), TASKS)
    report(on_sqlite, id, link, workers=30, seed=7)
    infer_now(on_sqlite, id)
    reports, policy = (
        str(saved(on_sqlite, id, name, tmp_path)) for name in ("reports.csv", "policy.json")
    )
    truths, weights = tmp_path / "truths.csv", tmp_path / "weights.csv"
    command = ["infer", reports, "--policy", policy, "-o", str(truths), "--weights", str(weights)]
    assert CliRunner().invoke(app, command).exit_code == 0
    page = truths_page(on_sqlite, id).columns
    expected = dict(zip(page["task"], zip(page["truth"], page["standard_error"], strict=True),
                        strict=True))  # fmt: skip
    for row in table(truths):
        got = (float(row["truth"]), float(row["standard_error"]))
        assert got == pytest.approx(expected.pop(row["task"]), abs=1e-9)
    assert not expected
    named = workers_page(on_sqlite, id).columns
    read = [(row["worker"], float(row["weight"])) for row in table(weights)]
    assert [worker for worker, _ in read] == named["worker"]
    assert [weight for _, weight in read] == pytest.approx(named["weight"], rel=1e-9)


def test_agreement_is_that_of_the_exported_reports(on_sqlite: Service, tmp_path: Path) -> None:
    id, link = opened(on_sqlite, POLICIES["labels"](), TASKS)
    report(on_sqlite, id, link, workers=30, seed=7)
    infer_now(on_sqlite, id)
    summary = truths_page(on_sqlite, id).summary
    assert summary is not None
    assert summary.alpha is not None
    exported = agreement(
        saved(on_sqlite, id, "reports.csv", tmp_path), columns={"answer": "report"}
    )
    assert summary.alpha[0] == pytest.approx(exported.alpha.value)
