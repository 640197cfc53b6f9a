"""The local engine: the same bits for any number of threads, the compiler only where it pays."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from sottovoce.engines import LocalEngine
from sottovoce.engines.blocks import block_count
from sottovoce.inference import method_named
from sottovoce.inference.steps.arithmetic import COMPILED_FROM
from sottovoce.inference.steps.confusions import Confusions, VoteConfusions
from sottovoce.inference.steps.means import SquaredErrors, WeightedMeans
from sottovoce.inference.steps.votes import AnswersPerWorker
from sottovoce.model import Domain, FloatArray, Part, Reports
from sottovoce.seams import Kernel

WORKERS, TASKS, ANSWERS, LABELS = 100, 40_000, 330_000, 4
THREADS = (2, 3, 5)


def large(*, numeric: bool) -> Reports:
    rng = np.random.default_rng(8)
    task = rng.integers(0, TASKS, ANSWERS).astype(np.int32)
    worker = rng.integers(0, WORKERS, ANSWERS).astype(np.int32)
    names: dict[str, Any] = {"workers": np.arange(WORKERS), "tasks": np.arange(TASKS)}
    if numeric:
        number = rng.normal(size=TASKS)[task] + rng.normal(size=ANSWERS)
        return Reports.of(worker, task, number, domain=Domain.numeric(), **names)
    truth = rng.integers(0, LABELS, TASKS)[task]
    guess = rng.integers(0, LABELS, ANSWERS)
    value = np.where(rng.random(ANSWERS) < 0.6, truth, guess)
    return Reports.of(worker, task, value, domain=Domain.categorical(range(LABELS)), **names)


@pytest.fixture(scope="module")
def labels() -> Reports:
    return large(numeric=False)


@pytest.fixture(scope="module")
def numbers() -> Reports:
    return large(numeric=True)


def test_the_large_table_is_cut_into_several_blocks() -> None:
    assert block_count(ANSWERS, WORKERS * LABELS * LABELS) > 4


@pytest.mark.parametrize("use_kernels", [True, False])
def test_totals_have_the_same_bits_for_any_number_of_threads(
    labels: Reports, use_kernels: bool
) -> None:
    errors = np.random.default_rng(1).dirichlet(np.ones(LABELS), WORKERS * LABELS)
    step = Confusions(errors, np.full(LABELS, 1 / LABELS))
    sums = [
        LocalEngine(labels, use_kernels=use_kernels, threads=threads).total(step).tobytes()
        for threads in (1, *THREADS)
    ]
    assert len(set(sums)) == 1


def test_maps_have_the_same_bits_for_any_number_of_threads(numbers: Reports) -> None:
    step = WeightedMeans(np.random.default_rng(2).uniform(1, 2, WORKERS))
    rows = [LocalEngine(numbers, threads=n).map(step).tobytes() for n in (1, *THREADS)]
    assert len(set(rows)) == 1


def slowly(method: str) -> Any:
    return pytest.param(method, marks=pytest.mark.slow)


@pytest.mark.parametrize("method", ["dawid-skene", slowly("one-coin"), "td", slowly("catd")])
def test_fits_have_the_same_bits_for_any_number_of_threads(labels: Reports, method: str) -> None:
    aggregator = method_named(method, max_rounds=2)
    fits = [aggregator.fit(LocalEngine(labels, threads=n)) for n in (1, 2, 5)]
    assert len({fit.weights.tobytes() for fit in fits}) == 1
    assert len({fit.posterior.tobytes() for fit in fits if fit.posterior is not None}) == 1


@pytest.mark.parametrize("method", ["crh", slowly("gtm"), "weighted-median"])
def test_numbers_have_the_same_bits_for_any_number_of_threads(
    numbers: Reports, method: str
) -> None:
    aggregator = method_named(method, max_rounds=2)
    fits = [aggregator.fit(LocalEngine(numbers, threads=n)) for n in (1, 2, 5)]
    assert len({fit.truths.tobytes() for fit in fits}) == 1


def test_blocks_add_up_to_the_whole(numbers: Reports) -> None:
    step = SquaredErrors(np.ones(WORKERS))
    engine = LocalEngine(numbers, use_kernels=False)
    whole = step(engine._layout.between(0, TASKS))
    np.testing.assert_allclose(engine.total(step), whole, rtol=1e-12)


def test_a_failing_step_fails_the_total_in_any_thread(labels: Reports) -> None:
    class Failing:
        shape = (1,)

        def __call__(self, part: Part) -> FloatArray:
            raise ZeroDivisionError

        def kernel(self) -> Kernel | None:
            return None

    with pytest.raises(ZeroDivisionError):
        LocalEngine(labels, threads=3).total(Failing())


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    return done.stdout.strip()


FIT = """
import sys
import numpy as np
from sottovoce.engines import LocalEngine
from sottovoce.inference import METHODS
from sottovoce.model import Domain, Reports
n = {answers}
task, worker = np.divmod(np.arange(n), 10)
for domain, value in ((Domain.categorical("ab"), np.arange(n) * 7 % 11 % 2),
                      (Domain.numeric(), np.sin(np.arange(n)))):
    reports = Reports.of(worker, task, value, domain=domain)
    for name, method in METHODS.items():
        if domain.kind in method.takes and name in ({names} or METHODS):
            rounds = {{"max_rounds": 1}} if "max_rounds" in method.__dataclass_fields__ else {{}}
            method(**rounds).fit(LocalEngine(reports))
print("numba" in sys.modules)
"""


def test_nothing_waits_for_a_compiler_below_a_hundred_thousand_answers() -> None:
    assert run(FIT.format(answers=COMPILED_FROM - 10, names=[])) == "False"


def test_kernels_are_used_from_a_hundred_thousand_answers_on() -> None:
    assert run(FIT.format(answers=COMPILED_FROM, names=["dawid-skene"])) == "True"


def test_the_table_may_be_forgotten_once_the_engine_stands() -> None:
    reports = Reports.of([0, 1, 1], [0, 0, 1], [1, 1, 0], domain=Domain.categorical("ab"))
    engine = LocalEngine(reports)
    reports.worker[:] = 0
    assert engine.total(AnswersPerWorker(2)).tolist() == [1, 2]


def test_asks_no_kernel_of_a_small_table() -> None:
    class Wary(VoteConfusions):
        def kernel(self) -> Kernel:
            raise AssertionError

    reports = Reports.of([0, 1], [0, 0], [1, 1], domain=Domain.categorical("ab"))
    assert LocalEngine(reports).total(Wary(2, 2)).shape == (6, 2)


@pytest.mark.parametrize("threads", [0, -1])
def test_refuses_to_work_without_threads(threads: int) -> None:
    from sottovoce.errors import UsageError

    reports = Reports.of([0, 1], [0, 0], [1, 1], domain=Domain.categorical("ab"))
    with pytest.raises(UsageError, match="threads"):
        LocalEngine(reports, threads=threads)
