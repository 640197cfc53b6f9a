"""Simulated reports, made on a real cluster."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.conftest import call as call  # a fixture
from tests.engines.spark.conftest import RUNNING

from sottovoce import (
    Domain,
    Policy,
    SottovoceError,
    Target,
    Unit,
    infer,
    make_policy,
    mechanism_of,
    perturb_into,
    read_under,
    write_policy,
)
from sottovoce.engines.spark import perturbation
from sottovoce.engines.spark.perturbation import BucketMaker, Made
from sottovoce.testing.server_process import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLORS = Domain.categorical(["red", "green", "blue"])
POLICY = make_policy(COLORS, "randomized-response", Target(1.0, answers=4))
WORKERS, TASKS = 1_500, 4

Rows = list[tuple[Any, ...]]


@pytest.fixture(autouse=True)
def small_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small table has several: 8 for the one below."""
    monkeypatch.setattr(perturbation, "_CELLS_PER_BUCKET", 1000)


def table(worker: list[Any], task: list[Any], answer: list[Any], path: Path) -> Path:
    pq.write_table(pa.table({"worker": worker, "task": task, "answer": answer}), path)
    return path


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A worker's number determines its answer, the same for all tasks."""
    cells = [(worker, task) for worker in range(WORKERS) for task in range(TASKS)]
    return table(
        [f"w{worker}" for worker, _ in cells],
        [f"t{task}" for _, task in cells],
        [COLORS.labels[worker % 3] for worker, _ in cells],
        tmp_path_factory.mktemp("answers") / "answers.parquet",
    )


@pytest.fixture(scope="module")
def folders() -> dict[str, Path]:
    """The reports made for an earlier test."""
    return {}


@pytest.fixture
def whole(
    cluster_session: SparkSession, answers: Path, folders: dict[str, Path], tmp_path: Path
) -> Path:
    """The folder that is made of the answers with seed 7, without any fault."""
    if not folders:
        perturb_into(answers, tmp_path / "whole", POLICY, seed=7, session=cluster_session)
        folders["whole"] = tmp_path / "whole"
    return folders["whole"]


def reports_in(folder: Path) -> Rows:
    """All rows, sorted."""
    columns = pq.read_table(folder / "reports").to_pydict()
    assert list(columns) == ["worker", "task", "simulated_report"]
    return sorted(zip(*columns.values(), strict=True))


def left_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.statistical
def test_reports_follow_the_channel(whole: Path) -> None:
    rows = reports_in(whole)
    assert len({row[:2] for row in rows}) == len(rows) == WORKERS * TASKS
    law = mechanism_of(POLICY).channel().matrix()  # type: ignore[attr-defined]
    for answer in range(3):
        seen = [row[2] for row in rows if int(row[0][1:]) % 3 == answer]
        found = [seen.count(label) / len(seen) for label in COLORS.labels]
        assert found == pytest.approx(law[answer], abs=0.067)  # 6 sigma


def test_the_folder_says_how_its_reports_came_about(whole: Path) -> None:
    assert left_in(whole) == {"reports", "summary.json"}
    said = json.loads((whole / "summary.json").read_text())
    assert (said["simulated"], said["seed"], said["reports"]) == (True, 7, WORKERS * TASKS)
    assert (said["most_of_a_worker"], said["policy_hash"]) == (TASKS, POLICY.hash)


def test_the_number_of_partitions_changes_nothing(
    cluster_session: SparkSession, answers: Path, whole: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(perturbation, "CELLS_PER_PARTITION", 900)
    perturb_into(answers, tmp_path / "out", POLICY, seed=7, session=cluster_session)
    made = (whole, tmp_path / "out")
    few, many = (len(list(folder.glob("reports/*.parquet"))) for folder in made)
    assert few < many
    assert reports_in(tmp_path / "out") == reports_in(whole)


@pytest.mark.slow
def test_the_order_of_rows_changes_nothing(
    cluster_session: SparkSession, answers: Path, whole: Path, tmp_path: Path
) -> None:
    rows = pq.read_table(answers)
    order = np.random.default_rng(3).permutation(rows.num_rows)
    pq.write_table(rows.take(order), tmp_path / "shuffled.parquet")
    source = tmp_path / "shuffled.parquet"
    perturb_into(source, tmp_path / "out", POLICY, seed=7, session=cluster_session)
    assert reports_in(tmp_path / "out") == reports_in(whole)


@pytest.mark.slow
def test_another_seed_gives_other_reports(
    cluster_session: SparkSession, answers: Path, whole: Path, tmp_path: Path
) -> None:
    perturb_into(answers, tmp_path / "out", POLICY, seed=8, session=cluster_session)
    assert reports_in(tmp_path / "out") != reports_in(whole)


@dataclass(frozen=True)
class Held:
    """Makes reports, but a partition reports that it runs and waits for a signal."""

    maker: BucketMaker
    folder: str

    def reports(
        self, batches: Iterator[pa.RecordBatch], tell: Callable[[Made], None]
    ) -> Iterator[pa.RecordBatch]:
        Path(self.folder, f"here-{uuid4()}").touch()
        while not Path(self.folder, "go").exists():
            time.sleep(0.02)
        return self.maker.reports(batches, tell)


@pytest.mark.slow  # the only one here that needs a cluster, which takes a while to start
def test_a_machine_that_is_killed_changes_nothing(
    cluster_session: SparkSession, answers: Path, whole: Path, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    signs = tmp_path / "signs"
    signs.mkdir()

    def here() -> int:
        return len(list(signs.glob("here-*")))

    def kill() -> None:
        wait_until(lambda: here() == 2, "both partitions")
        assert RUNNING.cluster is not None
        RUNNING.cluster.kill_worker()
        (signs / "go").touch()

    monkeypatch.setattr(perturbation, "BucketMaker", lambda *of: Held(BucketMaker(*of), str(signs)))
    thread = Thread(target=kill)
    thread.start()
    made = perturb_into(answers, tmp_path / "out", POLICY, seed=7, session=cluster_session)
    thread.join()
    assert here() > 2  # lost reports were made again
    assert made.reports == WORKERS * TASKS
    assert reports_in(tmp_path / "out") == reports_in(whole)


@pytest.mark.slow
def test_one_thread_two_threads_and_a_cluster_make_the_same_reports(
    java: None, answers: Path, tmp_path: Path
) -> None:
    masters = ("local[1]", "local[2]", RUNNING.whole_cluster().url)
    for number, master in enumerate(masters):
        session = RUNNING.connect(master)
        perturb_into(answers, tmp_path / f"{number}", POLICY, seed=7, session=session)
    one, two, cluster = (reports_in(tmp_path / f"{number}") for number in range(3))
    assert one == two
    assert two == cluster


NUMBERS = Domain.numeric(0, 10, step=0.5)
STARS = Domain.ordinal([1, 2, 3, 4, 5])
HIDING = Target(3.0, hide_participation=True)
KINDS = [
    (COLORS, "two-layer", Target(2.0, answers=4)),
    (COLORS, "null-randomized-response", HIDING),
    (COLORS, "subset-selection", Target(2.0, Unit.WORKER, answers=4, sample=2)),
    (STARS, "laplace", Target(3.0)),
    (NUMBERS, "threshold", HIDING),
    (NUMBERS, "piecewise", Target(3.0)),
    (NUMBERS, "random-variance-gaussian", Target(3.0, delta=0.01, answers=4)),
    (NUMBERS, "matrix-factorization", HIDING),
]


@pytest.mark.parametrize(
    ("domain", "name", "target"),
    [pytest.param(*kind, id=kind[1], marks=[pytest.mark.slow] * (i > 1))
     for i, kind in enumerate(KINDS)],
)  # fmt: skip
def test_infer_reads_what_was_made(
    domain: Domain, name: str, target: Target, cluster_session: SparkSession, tmp_path: Path
) -> None:
    cells = [(worker, task) for worker in range(40) for task in range(5) if (worker + task) % 5]
    worker, task = ([f"{letter}{cell[i]}" for cell in cells] for i, letter in enumerate("wt"))
    values = [1.5, 2.5, 9.0] if domain.is_numeric else list(domain.labels)
    file = table(worker, task, [values[int(t[1:]) % 3] for t in task], tmp_path / "a.parquet")
    policy = make_policy(domain, name, target)
    made = perturb_into(file, tmp_path / "out", policy, seed=5, session=cluster_session)
    hidden = mechanism_of(policy).hides_participation
    assert (made.most, made.reports) == ((5, 200) if hidden else (4, 80 if target.sample else 160))
    reports = read_under(pq.read_table(tmp_path / "out" / "reports"), policy)
    assert reports.simulated
    assert len(infer(reports, policy=policy).truths) == 5


def perturbed(answers: Path, policy: Policy, session: SparkSession, **options: Any) -> str:
    """The message for a refused table; nothing appears, and no answer is quoted."""
    before = left_in(answers.parent)
    with pytest.raises(SottovoceError) as refused:
        perturb_into(answers, answers.parent / "out", policy, seed=1, session=session, **options)
    assert left_in(answers.parent) == before
    return str(refused.value)


def refused(
    worker: list[Any], task: list[Any], answer: list[Any], folder: Path,
    session: SparkSession, policy: Policy = POLICY, **options: Any,
) -> str:  # fmt: skip
    return perturbed(table(worker, task, answer, folder / "a.parquet"), policy, session, **options)


def test_repeated_pairs_are_refused_by_their_place(
    cluster_session: SparkSession, tmp_path: Path
) -> None:
    said = refused(
        ["ann", "bob", "ann"], ["t1"] * 3, ["red"] * 3, tmp_path, cluster_session, repeats="error"
    )
    assert "worker 'ann' answers task 't1' again (1 rows repeat a pair)" in said
    assert "row 3" in said


def test_repeated_pairs_are_not_reported_twice(
    cluster_session: SparkSession, tmp_path: Path
) -> None:
    said = refused(["ann"] * 2, ["t1"] * 2, ["red"] * 2, tmp_path, cluster_session, repeats="keep")
    assert 'would double the privacy loss: pass repeats="first" or repeats="last"' in said


@pytest.mark.slow
def test_of_repeated_pairs_the_first_counts_and_the_others_are_counted(
    cluster_session: SparkSession, tmp_path: Path
) -> None:
    file = table(["ann"] * 3, ["t1"] * 3, ["red", "blue", "red"], tmp_path / "a.parquet")
    made = perturb_into(file, tmp_path / "out", POLICY, seed=1, session=cluster_session)
    assert (made.reports, made.most) == (1, 1)
    assert (made.reading.repeated, made.reading.contradicting) == (2, 1)


def test_more_answers_than_promised_are_refused(
    cluster_session: SparkSession, tmp_path: Path
) -> None:
    policy = make_policy(
        COLORS, "randomized-response", Target(2.0, Unit.WORKER, answers=3, sample=3)
    )
    tasks = [f"t{i}" for i in range(4)]
    said = refused(["ann"] * 4, tasks, ["red"] * 4, tmp_path, cluster_session, policy)
    assert said.startswith("a worker has 4 answers and the policy keeps its promise for up to 3")


@pytest.mark.parametrize(
    "answer", ["purple", pytest.param("purple" * 200, marks=pytest.mark.slow, id="long")]
)
def test_no_error_quotes_an_answer(
    answer: str, cluster_session: SparkSession, tmp_path: Path
) -> None:
    said = refused(["a", "b"], ["t", "t"], ["red", answer], tmp_path, cluster_session)
    assert "this cell " in said
    assert "row 2, column 'answer'" in said
    assert "purple" not in said


def test_no_error_quotes_a_number(cluster_session: SparkSession, tmp_path: Path) -> None:
    policy = make_policy(NUMBERS, "laplace", Target(1.0))
    said = refused(["a", "b"], ["t", "t"], [1.0, 77.25], tmp_path, cluster_session, policy)
    assert "this cell is outside the range 0..10" in said
    assert "77" not in said.replace(str(tmp_path), "")  # pytest numbers its folders


@pytest.mark.slow
def test_rows_that_are_dropped_are_counted(cluster_session: SparkSession, tmp_path: Path) -> None:
    file = table(["a", "b"], ["t", "t"], ["red", "purple"], tmp_path / "a.parquet")
    made = perturb_into(
        file, tmp_path / "out", POLICY, seed=1, session=cluster_session, bad_rows="drop"
    )
    assert (made.reports, made.reading.dropped) == (1, {"answer not among the labels": 1})


def test_reports_are_not_perturbed_again(cluster_session: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "r.parquet"
    pq.write_table(pa.table({"worker": ["a"], "task": ["t"], "report": ["red"]}), file)
    assert "are these answers?" in perturbed(file, POLICY, cluster_session)


def test_answers_are_not_replaced_by_their_reports(
    cluster_session: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    (folder / "reports").mkdir(parents=True)
    file = table(["a"], ["t"], ["red"], folder / "reports" / "a.parquet")
    with pytest.raises(SottovoceError, match="out holds the answers: write to another folder"):
        perturb_into(
            folder / "reports", folder, POLICY, seed=1, session=cluster_session, force=True
        )
    assert file.exists()


def test_too_many_tasks_to_hide_who_answered_what(
    cluster_session: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make_policy(COLORS, "null-randomized-response", HIDING)
    columns = (["a", "b", "b"], ["t1", "t2", "t3"], ["red"] * 3)
    monkeypatch.setattr(perturbation, "MOST_TASKS", 2)
    assert "at most 2 tasks" in refused(*columns, tmp_path, cluster_session, policy)
    monkeypatch.setattr(perturbation, "MOST_TASKS", 3)
    monkeypatch.setattr(perturbation, "MOST_HIDING", 5)
    said = refused(*columns, tmp_path, cluster_session, policy)
    assert "2 workers on 3 tasks exceed the maximum of 5 reports" in said


@pytest.fixture
def remote(cluster_session: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A path in another file system, as far as Spark and its users can tell."""
    (tmp_path / "far").mkdir()
    settings = cluster_session.sparkContext._jsc.hadoopConfiguration()
    far = f"far{uuid4().hex}"  # Spark caches where a name leads
    name = f"fs.viewfs.mounttable.{far}.link./data"
    settings.set(name, (tmp_path / "far").as_uri())
    yield f"viewfs://{far}/data"
    settings.unset(name)


def test_a_folder_elsewhere_is_filled_once(
    cluster_session: SparkSession, answers: Path, remote: str, tmp_path: Path
) -> None:
    made = perturb_into(answers, f"{remote}/out", POLICY, seed=7, session=cluster_session)
    assert len(reports_in(tmp_path / "far" / "out")) == made.reports
    assert json.loads((tmp_path / "far" / "out" / "summary.json").read_text())["seed"] == 7
    with pytest.raises(SottovoceError, match="out exists: remove it first, or name another"):
        perturb_into(answers, f"{remote}/out", POLICY, seed=7, session=cluster_session)
    assert len(reports_in(tmp_path / "far" / "out")) == made.reports


def test_a_folder_elsewhere_goes_where_it_cannot_be_whole(
    cluster_session: SparkSession, remote: str, tmp_path: Path
) -> None:
    file = table(["ann"] * 2, ["t1"] * 2, ["red"] * 2, tmp_path / "a.parquet")
    with pytest.raises(SottovoceError, match="double the privacy loss"):
        perturb_into(file, f"{remote}/out", POLICY, seed=7, session=cluster_session, repeats="keep")
    assert left_in(tmp_path / "far") == set()


def test_the_command_says_what_was_made_and_that_it_protects_nobody(
    cluster_session: SparkSession, answers: Path, tmp_path: Path, call: Callable[..., Any]
) -> None:
    write_policy(POLICY, tmp_path / "p.json")
    arguments = ("perturb", str(answers), "--engine", "spark", "--policy", "p.json", "-o", "out")
    done = call(*arguments, "--master", cluster_session.sparkContext.master, "--seed", "7")
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote out/reports: 6,000 SIMULATED reports" in done.stderr
    assert "guarantee for up to 4 answers per worker: epsilon 1 per answer" in done.stderr
    assert "SIMULATED with seed 7: these reports protect nobody" in done.stderr
    inferred = call("infer", "out/reports", "--engine", "chunked", "--policy", "p.json", "-o", "t")
    assert "note: SIMULATED reports" in inferred.stderr
    assert "4 tasks, 1,500 workers, 6,000 answers" in inferred.stderr
