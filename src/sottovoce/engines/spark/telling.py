"""Truths told where the blocks lie: what a partition runs once all sums are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.engines.spark.blocks import PackedPart, unpacked
from sottovoce.engines.spark.making import names_in
from sottovoce.engines.spark.own_workers import with_own_workers
from sottovoce.engines.telling import PartEngine
from sottovoce.model import Domain, Part, Result, label_text
from sottovoce.seams import Learnt, SumsAggregator

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["BlockTruths", "truth_columns"]


@dataclass(frozen=True, slots=True, eq=False)
class BlockTruths:
    """Tells the truths of the tasks of each block.

    `learnt` gives what was learnt; where that is `wide`, of a block's own workers only.
    """

    aggregator: SumsAggregator[Any]
    learnt: Callable[[], Learnt]
    domain: Domain
    task_count: int
    worker_count: int
    use_kernels: bool
    wide: bool

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """A batch of truths a block."""
        import pyarrow as pa

        learnt = self.learnt()
        for batch in batches:
            for row in batch.to_pylist():
                names = names_in(row.pop("tasks"))
                result = self._told(unpacked(PackedPart(**row)), learnt)
                columns = truth_columns(result)
                yield pa.RecordBatch.from_arrays(
                    [names, *columns.values()], ["task", *columns.keys()]
                )

    def _told(self, part: Part, learnt: Learnt) -> Result:
        if self.wide:
            part, own = with_own_workers(part)
            learnt = learnt.among(own, self.worker_count)
        places = np.arange(part.tasks)
        engine = PartEngine(
            part, places, self.domain, self.task_count, use_kernels=self.use_kernels
        )
        return self.aggregator.tell(engine, learnt)


def truth_columns(result: Result) -> dict[str, pa.Array]:
    """The columns of truths but for the tasks' names."""
    import pyarrow as pa

    columns = {name: column for name, column in result.table().items() if name != "task"}
    arrays = {name: pa.array(column) for name, column in columns.items() if name != "truth"}
    if result.domain.is_numeric:
        return {"truth": pa.array(result.truths), **arrays}
    return {"truth": label_array(result.domain).take(pa.array(result.truths)), **arrays}


def label_array(domain: Domain) -> pa.Array:
    """The labels of a domain in their own type, or as text where they have several."""
    import pyarrow as pa

    kinds = {type(label) for label in domain.labels}
    if kinds in ({bool}, {int}, {float}):
        return pa.array(domain.labels)
    return pa.array([label_text(label) for label in domain.labels])
