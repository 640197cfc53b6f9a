"""Values whose arrays stay in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sottovoce.engines.spark.sums import array_bytes, packed, share, shared_value
from sottovoce.inference.dawid_skene import Expectation, Parameters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def learnt() -> Expectation:
    used = Parameters(np.arange(60.0).reshape(20, 3), np.ones(3))
    return Expectation(used, used._replace(prior=np.zeros(3)), (0.5,), converged=True)


def test_a_value_comes_back_as_it_was() -> None:
    again: Any = shared_value(memoryview(packed(learnt())))
    np.testing.assert_array_equal(again.used.errors, learnt().used.errors)
    np.testing.assert_array_equal(again.fitted.prior, np.zeros(3))
    assert again.bounds == (0.5,)


def test_its_size_is_that_of_its_arrays() -> None:
    assert array_bytes({"a": np.zeros(100), "b": np.zeros(7, np.int32), "c": "text"}) == 828


def test_executors_read_it_from_a_file_and_hold_nothing(spark: SparkSession) -> None:
    shared = share(spark.sparkContext, np.arange(300_000.0))

    def seen(_: int) -> tuple[float, bool, bool]:
        array = shared.opened()
        loaded = hasattr(
            shared._broadcast, "_value"
        )  # the value that Spark would have read into memory
        return float(array[[7, 299_999]].sum()), array.flags.owndata, loaded

    assert spark.sparkContext.parallelize([0], 1).map(seen).collect() == [(300_006.0, False, False)]
    shared.forget()


def test_without_a_file_it_is_read_whole() -> None:
    class Encrypted:
        value = packed(np.arange(5))

    from sottovoce.engines.spark.sums import Shared

    broadcast: Any = Encrypted()
    np.testing.assert_array_equal(Shared[Any](broadcast).opened(), np.arange(5))


@pytest.mark.parametrize("workers", [[4, 7], [7, 4, 7]])
def test_a_part_knows_its_own_workers(workers: list[int]) -> None:
    from sottovoce.engines.spark.sums import with_own_workers
    from sottovoce.model import NumberPart

    part = NumberPart(3, np.array([0, len(workers)]), np.array(workers, np.int32), np.ones(9))
    narrow, own = with_own_workers(part)
    assert isinstance(narrow, NumberPart)
    assert own.tolist() == [4, 7]
    assert own[narrow.worker].tolist() == workers
