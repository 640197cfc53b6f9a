"""Tables that are packed once for several tests, and truths inferred from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tests.contracts.large_engines import Case

from sottovoce import Inferred
from sottovoce.api.infer_into import ChosenMethod, choose_method, reading_under_policy
from sottovoce.api.keywords import ReadingOptions
from sottovoce.engines.spark.engine import SparkEngine
from sottovoce.engines.spark.table import SparkTable, open_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Packed"]


@dataclass
class Packed:
    """Engines of tables on one session, each made on first use.

    They are used as in `infer_into`.
    """

    spark: SparkSession
    tables: dict[str, SparkTable] = field(default_factory=dict)
    engines: dict[str, SparkEngine] = field(default_factory=dict)

    def infer(self, case: Case, source: Path, folder: Path) -> Inferred:
        """The truths of a case into a folder."""
        table = self._table(case, source)
        chosen = choose_method(case.method, table.domain, None, case.under)
        engine, method = self._engine(case, table, chosen), chosen.aggregator
        learnt = method.learn(engine)
        engine.write_truths(method, learnt, folder / "truths")
        result = method.tell(engine, learnt)
        engine.write_workers({"weight": result.weights}, folder / "workers")
        return Inferred(
            _read(result, engine, table), str(folder), engine.task_count, engine.answers
        )

    def _table(self, case: Case, source: Path) -> SparkTable:
        key = f"{case.table} {case.reading}"
        if key not in self.tables:
            options = reading_under_policy(case.under, cast(ReadingOptions, case.reading))
            self.tables[key] = open_table(self.spark, source, **options)
        return self.tables[key]

    def _engine(self, case: Case, table: SparkTable, chosen: ChosenMethod) -> SparkEngine:
        key = f"{case.table} {case.reading} {chosen.recoding}"
        if key not in self.engines:
            self.engines[key] = table.engine(chosen.recoding)
        return self.engines[key]


def _read(result: Any, engine: SparkEngine, table: SparkTable) -> Any:
    from dataclasses import replace

    made = replace(result.provenance, reading=engine.reading, simulated=table.simulated)
    return replace(result, provenance=made)
