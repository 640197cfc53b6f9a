"""Buckets of workers, as a partition makes their reports; needs no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.contracts.conftest import CASES, THREE, Case

import sottovoce
from sottovoce.engines.spark.perturbation import BucketMaker, Made, bucket_count, bucket_seed
from sottovoce.mechanisms import RandomizedResponse, Sampled, Threshold
from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.model import Cells, Domain, FloatArray
from sottovoce.seams import Mechanism

LAWS = [
    case
    for case in CASES
    if case.has_channel and not isinstance(case.mechanism, Sampled | Threshold)
]
"""Mechanisms whose reports on equal answers have one law; thresholds depend on names."""


def rows(
    worker: Sequence[object], task: Sequence[object], value: Sequence[float], buckets: int = 1
) -> pa.Table:
    """Rows as a partition gets them; workers come in the order of their names."""
    bucket = np.unique(np.array(worker), return_inverse=True)[1]
    bucket = bucket * buckets // (bucket.max() + 1)
    columns = {"bucket": bucket.astype(np.int32), "worker": worker, "task": task}
    return pa.table({**columns, "value": value, "place": np.arange(len(worker))})


def made(
    maker: BucketMaker, table: pa.Table, batch: int | None = None
) -> tuple[pa.Table | None, Made]:
    told: list[Made] = []
    batches = list(maker.reports(iter(table.to_batches(batch)), told.append))
    return pa.Table.from_batches(batches) if batches else None, reduce(Made.beside, told)


def few_answers(case: Case, buckets: int = 1) -> pa.Table:
    """Twelve workers, each with three of four tasks."""
    cells = [(w, t) for w in range(12) for t in range(4) if (w + t) % 4]
    worker, task = [f"w{w:02d}" for w, _ in cells], [f"t{t}" for _, t in cells]
    return rows(worker, task, [(w + t) % case.values for w, t in cells], buckets)


def all_tasks(mechanism: Mechanism, table: pa.Table) -> pa.Array | None:
    tasks = pa.array(sorted(set(table.column("task").to_pylist())))
    return tasks if mechanism.hides_participation else None


def maker_of(case: Case, table: pa.Table, seed: int = 5) -> BucketMaker:
    tasks = all_tasks(case.mechanism, table)
    return BucketMaker(case.mechanism, case.domain, seed, tasks=tasks)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_mechanism_makes_a_stamped_table_that_its_policy_reads(case: Case) -> None:
    answers = few_answers(case, buckets=3)
    table, told = made(maker_of(case, answers), answers)
    assert table is not None
    read = sottovoce.read_under(table, policy_of(case.mechanism, case.domain, None))
    assert (read.simulated, len(read), told.complaint) == (True, told.reports, None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_reports_do_not_depend_on_how_rows_are_cut_into_batches(case: Case) -> None:
    answers = few_answers(case, buckets=3)
    maker = maker_of(case, answers)
    whole, pieces = made(maker, answers), made(maker, answers, batch=5)
    assert whole == pieces


def test_a_bucket_is_the_same_without_the_others() -> None:
    case = CASES[0]
    answers = few_answers(case, buckets=3)
    maker = maker_of(case, answers)
    alone = [made(maker, answers.filter(pa.compute.field("bucket") == i))[0] for i in (2, 0, 1)]
    together, _ = made(maker, answers)
    assert together == pa.concat_tables([alone[1], alone[2], alone[0]])


def answers_of_all_kinds(case: Case, each: int) -> tuple[pa.Table, list[int]]:
    """`each` workers with each answer to `t0`; if NULL is one, only the first answers `t1`."""
    answers = np.repeat(np.arange(case.values), each).tolist()
    worker, task, value = [f"w{i:06d}" for i in range(len(answers))], ["t0"] * len(answers), answers
    if case.mechanism.hides_participation:
        worker, task, value = [worker[0], *worker], ["t0", "t1", *task[1:]], [0, *value]
    return rows(worker, task, value, buckets=16), answers


def frequencies(codes: Any, symbols: Sequence[int]) -> FloatArray:
    return np.array([np.mean(codes == symbol) for symbol in symbols])


@pytest.mark.statistical
@pytest.mark.parametrize("case", LAWS, ids=lambda case: case.name)
def test_reports_follow_the_channel(case: Case) -> None:
    table, answers = answers_of_all_kinds(case, each=3_000)
    made_of, _ = made(maker_of(case, table), table)
    read = sottovoce.read_under(made_of, policy_of(case.mechanism, case.domain, None))
    cells = report_cells(read, case.mechanism.alphabet, case.domain)
    channel = case.mechanism.channel()
    for answer, law in enumerate(channel.matrix()):
        codes = _codes_for(cells, answer, answers)
        seen = frequencies(codes, channel.reports)
        # 6.5 sigma, plus 14 reports where few are expected and the normal law does not hold: by
        # Bernstein's inequality exceeded once in 10⁹.
        room = 6.5 * np.sqrt(law * (1 - law) / len(codes)) + 14 / len(codes)
        assert np.all(np.abs(seen - law) <= room)


def _codes_for(cells: Cells, answer: int, answers: list[int]) -> Any:
    """The reports of the workers with this answer to `t0`; after the last one, of NULL on `t1`."""
    worker = np.array([int(name[1:]) for name in cells.workers])[cells.worker]
    first = np.asarray(cells.tasks[cells.task] == "t0")
    if answer > max(answers):
        return cells.code[~first & (worker > 0)]
    return cells.code[first & (np.array(answers)[worker] == answer)]


def test_noise_of_two_buckets_differs() -> None:
    table = rows([f"w{i:03d}" for i in range(400)], ["t"] * 400, [0] * 400, buckets=2)
    reports, _ = made(BucketMaker(RandomizedResponse.calibrated(THREE, 1.0), THREE, 1), table)
    assert reports is not None
    values = reports.column("simulated_report").to_pylist()
    assert values[:200] != values[200:]


def test_a_sample_is_as_large_as_the_policy_says() -> None:
    mechanism = Sampled(RandomizedResponse.calibrated(THREE, 1.0), 2)
    answers = few_answers(Case("sampled", mechanism, THREE), buckets=3)
    reports, told = made(BucketMaker(mechanism, THREE, 5), answers)
    assert reports is not None
    counts = reports.group_by("worker").aggregate([("task", "count")])
    assert set(counts.column("task_count").to_pylist()) == {2}
    assert (told.reports, told.most) == (24, 3)


KEEPS = RandomizedResponse(3, 1)
"""It replaces one label in 2⁶³: reports are the answers."""


def repeated(repeats: Any) -> tuple[pa.Table | None, Made]:
    """ann answers t1 three times and bob t2 twice, alike."""
    worker, task = ["ann"] * 4 + ["bob"] * 2, ["t1"] * 3 + ["t2"] * 3
    table = rows(worker, task, [2, 0, 1, 1, 0, 0], buckets=2)
    return made(BucketMaker(KEEPS, THREE, 1, repeats), table)


@pytest.mark.parametrize(("repeats", "counts"), [("first", "2"), ("last", "1")])
def test_of_a_repeated_pair_one_answer_counts(repeats: str, counts: str) -> None:
    reports, told = repeated(repeats)
    assert reports is not None
    assert reports.column("simulated_report").to_pylist() == [counts, "1", "0"]
    assert (told.reports, told.most, told.repeated, told.contradicting) == (3, 2, 3, 1)


@pytest.mark.parametrize("repeats", ["keep", "error"])
def test_nothing_is_made_of_repeated_pairs_that_all_count(repeats: str) -> None:
    reports, told = repeated(repeats)
    assert (reports, told.reports, told.repeated) == (None, 0, 3)
    assert told.first == (1, "ann", "t1")


def test_a_mechanism_that_refuses_is_heard() -> None:
    domain = Domain.numeric(0, 2, step=1)
    mechanism = PublishedFactorization.over(domain, 1.0, dimension=3)
    table = rows(["a", "a", "b"], ["t1", "t2", "t1"], [0.0, 1.0, 2.0])
    _, told = made(BucketMaker(mechanism, domain, 1, tasks=pa.array(["t1", "t2"])), table)
    assert told.complaint is not None
    assert "workers answer fewer than 3 tasks" in told.complaint


def test_numbers_as_names_stay_numbers() -> None:
    reports, _ = made(BucketMaker(KEEPS, THREE, 1), rows([3, 7, 7], [10, 10, 11], [0, 1, 2]))
    assert reports is not None
    assert reports.select(["worker", "task"]).to_pydict() == {"worker": [3, 7, 7],
                                                              "task": [10, 10, 11]}  # fmt: skip


def test_every_worker_reports_on_every_task_where_participation_is_hidden() -> None:
    case = next(case for case in CASES if case.name == "with NULL")
    answers = few_answers(case, buckets=3)
    reports, told = made(maker_of(case, answers), answers)
    assert reports is not None
    pairs = reports.group_by(["worker", "task"]).aggregate([])
    assert pairs.num_rows == reports.num_rows == told.reports == 12 * 4
    assert told.most == 4


def batches_without_rows(table: pa.Table) -> Iterator[pa.RecordBatch]:
    yield table.to_batches()[0].slice(0, 0)
    yield from table.to_batches()


def test_empty_batches_are_passed_over() -> None:
    answers = few_answers(CASES[0])
    told: list[Made] = []
    reports = list(maker_of(CASES[0], answers).reports(batches_without_rows(answers), told.append))
    assert (len(reports), len(told)) == (1, 1)


@pytest.mark.parametrize("cells", [1, 65_536, 65_537, 10**10])
def test_a_bucket_has_65_thousand_cells_at_most_on_average(cells: int) -> None:
    buckets = bucket_count(cells)
    assert cells / buckets <= 65_536 < 2 * max(cells / buckets, 65_536)
    assert buckets & (buckets - 1) == 0


def test_seeds_of_buckets_are_all_different() -> None:
    seeds = {bucket_seed(seed, bucket) for seed in range(20) for bucket in range(200)}
    assert len(seeds) == 20 * 200
