"""Every aggregator: the order of rows and the names do not change the result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sottovoce.engines import LocalEngine
from sottovoce.inference import METHODS, method_named, suits
from sottovoce.model import Domain, Kind, Reports, Result

CLOSE = 1e-9
LABEL_METHODS = [name for name in METHODS if Kind.CATEGORICAL in METHODS[name].takes]
NUMBER_METHODS = [name for name in METHODS if Kind.NUMERIC in METHODS[name].takes]
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MANY = settings(SOME, max_examples=1_000)

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Table:
    """A small table without repeated pairs, and another order and naming of everything in it."""

    worker: Integers
    task: Integers
    value: npt.NDArray[np.int32] | npt.NDArray[np.float64]
    workers: int
    tasks: int
    domain: Domain
    rows: npt.NDArray[np.intp]
    new_worker: Integers
    new_task: Integers
    new_label: Integers

    @property
    def spread(self) -> float:
        """From the least to the greatest answer.

        A mean of numbers near x has an error of some 1e-15 x, even if answers are very close.
        """
        return max(float(np.ptp(self.value)), 1e-6 * float(np.abs(self.value).max()))

    def fit(self, method: str) -> Result:
        reports = self._reports(self.worker, self.task, self.value)
        return method_named(method).fit(LocalEngine(reports))

    def fit_shuffled(self, method: str) -> Result:
        """The result of the other order and naming, mapped back to this one."""
        value = self.value if self.domain.is_numeric else self.new_label[self.value]
        worker, task = self.new_worker[self.worker], self.new_task[self.task]
        shuffled = self._reports(worker[self.rows], task[self.rows], value[self.rows])
        return method_named(method).fit(LocalEngine(shuffled))

    def _reports(self, worker: npt.ArrayLike, task: npt.ArrayLike, value: npt.ArrayLike) -> Reports:
        return Reports.of(
            worker,
            task,
            value,
            domain=self.domain,
            workers=np.arange(self.workers),
            tasks=np.arange(self.tasks),
        )


def numbers() -> st.SearchStrategy[float]:
    """Equal values, nearby values on a high base, and values of every size up to a million."""
    sizes = st.builds(
        lambda sign, digits, power: sign * digits * 10.0**power,
        st.sampled_from([-1.0, 1.0]),
        st.floats(1, 10),
        st.integers(-6, 5),
    )
    nearby = st.sampled_from([1000.1, 1000.2, 1000.3])
    return st.one_of(st.sampled_from([0.0, 0.1, 0.3, -0.7]), nearby, sizes)


@st.composite
def tables(draw: st.DrawFn, *, labels: st.SearchStrategy[int] | None) -> Table:
    """Numbers when `labels` is None."""
    workers, tasks = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    pairs = st.tuples(st.integers(0, workers - 1), st.integers(0, tasks - 1))
    cells = draw(st.lists(pairs, min_size=1, max_size=60, unique=True))
    worker, task = np.array(cells, np.int32).T
    size = 0 if labels is None else draw(labels)
    answers = st.integers(0, size - 1) if size else numbers()
    value = draw(st.lists(answers, min_size=len(cells), max_size=len(cells)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return Table(
        worker,
        task,
        np.array(value, np.int32) if size else np.array(value, np.float64),
        workers,
        tasks,
        Domain.categorical(range(size)) if size else Domain.numeric(),
        rng.permutation(len(cells)),
        rng.permutation(workers).astype(np.int32),
        rng.permutation(tasks).astype(np.int32),
        rng.permutation(size).astype(np.int32),
    )


def sizes_for(method: str) -> st.SearchStrategy[int]:
    """How many labels to try a method with."""
    return st.integers(2, 6).filter(lambda k: suits(method, Domain.categorical(range(k))))


def check_labels(method: str, table: Table) -> None:
    plain, shuffled = table.fit(method), table.fit_shuffled(method)
    assert plain.posterior is not None
    assert shuffled.posterior is not None
    back = shuffled.posterior[table.new_task][:, table.new_label]
    np.testing.assert_allclose(back, plain.posterior, rtol=0, atol=CLOSE)
    second, first = np.sort(plain.posterior, axis=1)[:, -2:].T
    clear = first - second > CLOSE
    expected = table.new_label[plain.truths]
    assert (shuffled.truths[table.new_task] == expected)[clear].all()


def check_numbers(method: str, table: Table) -> None:
    plain, shuffled = table.fit(method), table.fit_shuffled(method)
    moved = np.abs(shuffled.truths[table.new_task] - plain.truths)
    assert moved.max() <= CLOSE * table.spread
    assert plain.standard_error is not None
    assert shuffled.standard_error is not None
    moved = np.abs(shuffled.standard_error[table.new_task] - plain.standard_error)
    assert moved.max() <= CLOSE * table.spread


@pytest.mark.parametrize("method", LABEL_METHODS)
@SOME
@given(data=st.data())
def test_order_and_names_move_no_posterior_and_no_label_but_ties(
    method: str, data: st.DataObject
) -> None:
    check_labels(method, data.draw(tables(labels=sizes_for(method))))


@pytest.mark.parametrize("method", NUMBER_METHODS)
@SOME
@given(table=tables(labels=None))
def test_order_and_names_move_no_number_and_no_standard_error(method: str, table: Table) -> None:
    check_numbers(method, table)


@pytest.mark.slow
@pytest.mark.parametrize("method", LABEL_METHODS)
@MANY
@given(data=st.data())
def test_order_and_names_move_no_label_in_many_tables(method: str, data: st.DataObject) -> None:
    check_labels(method, data.draw(tables(labels=sizes_for(method))))


@pytest.mark.slow
@pytest.mark.parametrize("method", NUMBER_METHODS)
@MANY
@given(table=tables(labels=None))
def test_order_and_names_move_no_number_in_many_tables(method: str, table: Table) -> None:
    check_numbers(method, table)


def test_order_decides_nothing_where_dawid_skene_sits_on_a_balance() -> None:
    # Ten workers mirror each other, so EM is at a saddle and multiplies any difference in the last
    # bits by eight each round; five others keep it going for twenty rounds.
    answers = ["0212", "2111", "2021", "0122", "2102", "1202", "2000", "2120", "1022", "2012"]
    rest = {10: "4:1 5:0 6:2 7:0 8:0 9:0", 11: "6:2 8:0", 12: "5:1 6:1 7:1 8:2 9:2"}
    rest |= {13: "5:1 6:2 7:1 9:1", 14: "7:2 9:1"}
    rows = [(k, j, int(v)) for k, row in enumerate(answers) for j, v in enumerate(row)]
    for k, row in rest.items():
        rows += [(k, int(cell[0]), int(cell[2])) for cell in row.split()]
    worker, task, value = np.array(rows, np.int32).T
    for seed in range(5):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(rows))
        names = (rng.permutation(15), rng.permutation(10), rng.permutation(3))
        new_worker, new_task, new_label = (n.astype(np.int32) for n in names)
        domain = Domain.categorical(range(3))
        table = Table(worker, task, value, 15, 10, domain, order, new_worker, new_task, new_label)
        check_labels("dawid-skene", table)
