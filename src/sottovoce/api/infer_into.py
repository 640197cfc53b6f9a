"""infer_into: infer truths from tables larger than memory and write them to files.

It also chooses the method for a large table, and recodes labels that the method does not take.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, Unpack, get_args

import numpy as np

from sottovoce.api.infer import chosen_aggregator
from sottovoce.api.keywords import InferKeywords, ReadingOptions, spelled_out, split_keywords
from sottovoce.api.output_folder import is_remote, new_folder, path_of, scratch_in, write_summary
from sottovoce.api.perturb import check_no_domain
from sottovoce.engines import RecordedEngine, WatchedEngine
from sottovoce.engines.checkpoint import KeptSums, checkpoint_lock, identity_of
from sottovoce.engines.chunked.table import open_table
from sottovoce.engines.large_table import LargeEngine, LargeTable, Recoding
from sottovoce.engines.wrapped_engine import Sums
from sottovoce.errors import OutputExists, UsageError
from sottovoce.inference.noise_aware.registry import AWARE_METHODS, aware_method, is_aware
from sottovoce.mechanisms.codes import report_domain
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Domain, Kind, Policy, Reports, Result
from sottovoce.model.display import Display, Displayed
from sottovoce.seams import Aggregator, Engine, SumsAggregator
from sottovoce.tables.answer_column import stated_domain
from sottovoce.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LargeEngineName: TypeAlias = Literal["chunked", "spark"]
"""The engine for a large table: on this machine's disk, or on a Spark cluster."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inferred(Displayed):
    """The outcome of `infer_into`; the truths are in files.

    `result` has the weights of all workers and no tasks; `folder` contains the files.
    """

    result: Result
    folder: str
    tasks: int
    answers: int

    def _display(self) -> Display:
        facts = (("folder", self.folder), ("tasks", f"{self.tasks:,}"))
        return replace(self.result._display(), facts=(*facts, ("answers", f"{self.answers:,}")))

    def summary(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        made = self.result.provenance
        prior = self.result.prior
        return {
            "method": made.method,
            "tasks": self.tasks,
            "workers": len(self.result.workers),
            "answers": self.answers,
            "rounds": self.result.rounds,
            "converged": self.result.converged,
            "parameters": dict(made.parameters),
            "warnings": list(self.result.warnings),
            "prior": None if prior is None else prior.tolist(),
            "reading": None if made.reading is None else asdict(made.reading),
            "policy_hash": made.policy_hash,
            "simulated": made.simulated,
            "version": made.version,
        }


class ChosenMethod(NamedTuple):
    """A method, and the recoding of labels that it does not take directly."""

    aggregator: SumsAggregator[Any]
    recoding: Recoding | None


class _Where(NamedTuple):
    """Where the work runs, and where it writes."""

    master: str | None
    session: SparkSession | None
    settings: Mapping[str, str] | None
    checkpoint: str | None
    memory: int | None
    output: str


Opened: TypeAlias = tuple[LargeTable, Callable[[str], AbstractContextManager[Sums]] | None]
"""A table and, with a checkpoint, a function that stores the sums of a named run there."""


@spelled_out(InferKeywords)
def infer_into(
    source: Any,
    folder: str | os.PathLike[str],
    method: str | Aggregator = "auto",
    *,
    engine: LargeEngineName = "chunked",
    parameters: Mapping[str, Any] | None = None,
    policy: Policy | None = None,
    master: str | None = None,
    session: SparkSession | None = None,
    settings: Mapping[str, str] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    memory: int | None = None,
    progress: Callable[[int], None] | None = None,
    force: bool = False,
    **keywords: Unpack[InferKeywords],
) -> Inferred:
    """Infer the truth of every task of a table larger than memory, and write it to a folder.

    `folder` gets `truths/` and `workers/`, Parquet files each, and `summary.json`; it appears whole
    or not at all. The methods, their parameters and their results are those of `infer`.

    `source` is Parquet: a path, a pattern, a folder or several of them; with `engine="spark"` any
    path that Spark reads, or `table:NAME` of its catalogue. The chunked engine sorts the table on
    this machine's disk first, with at most `memory` bytes, and reads it block by block. The Spark
    engine runs where `session` is, or on `master` (a URL such as spark://host:7077) with Spark's
    `settings`, or where spark-submit started it.

    `checkpoint` is a folder for the sorted table and the sums so far: after an interruption the
    same call continues from there. Other keywords say how to read `source` (see `read`): columns,
    domain, repeats, bad_rows.
    """
    if "known" in keywords:
        raise UsageError("known truths need all tasks in memory, which a large table never has")
    on_spark = master is not None or session is not None or bool(settings)
    _check_engine(engine, on_spark=on_spark, memory=memory)
    reading, settled = split_keywords(infer_into, method, parameters, keywords)
    options = reading_under_policy(policy, reading)
    with ExitStack() as stack:
        place = stack.enter_context(new_folder(folder, force=force))
        opened = _chunked if engine == "chunked" else _on_spark
        where = _Where(master, session, settings, path_of(checkpoint), memory, place)
        table, kept = stack.enter_context(opened(source, where, options))
        chosen = choose_method(method, table.domain, settled, policy)
        large = table.engine(chosen.recoding)
        log = kept(_identity(chosen, policy)) if kept is not None else None
        learning: Engine = large if log is None else RecordedEngine(large, stack.enter_context(log))
        if progress is not None:
            learning = WatchedEngine(learning, progress)
        learnt = chosen.aggregator.learn(learning)
        large.write_truths(chosen.aggregator, learnt, f"{place}/truths")
        result = _stamped(chosen.aggregator.tell(large, learnt), table, large, policy)
        large.write_workers({"weight": result.weights}, f"{place}/workers")
        inferred = Inferred(result, path_of(folder) or "", large.task_count, large.answers)
        write_summary(place, inferred.summary())
    return inferred


def reading_under_policy(policy: Policy | None, reading: ReadingOptions) -> dict[str, Any]:
    """Reading options: the caller's, and under a policy those for its reports."""
    if policy is None:
        domain = stated_domain(reading.get("domain"))
        return {"reported": False, **reading, "domain": domain}
    check_no_domain(reading)
    expected = report_domain(mechanism_of(policy).alphabet, policy.domain)
    return {**reading, "domain": expected, "reported": True}


def choose_method(
    method: str | Aggregator,
    domain: Domain,
    parameters: Mapping[str, Any] | None,
    policy: Policy | None,
) -> ChosenMethod:
    """The method for answers of a domain, or for reports made under a policy."""
    if policy is not None:
        aware = _aware(method, domain, parameters, policy)
        if aware is not None:
            return aware
        _check_plain(policy)
    aggregator = chosen_aggregator(method, domain, parameters)
    if domain.kind in aggregator.takes:
        return ChosenMethod(_sums_only(aggregator), None)
    if domain.kind is Kind.ORDINAL and Kind.NUMERIC in aggregator.takes:
        return ChosenMethod(_sums_only(aggregator), _numbers(domain))
    raise UsageError(f"this aggregator does not take {domain} answers")


def _aware(
    method: str | Aggregator, domain: Domain, parameters: Mapping[str, Any] | None, policy: Policy
) -> ChosenMethod | None:
    """The method that models the noise, and the symbols it reads; None if another was named."""
    if not isinstance(method, str):
        return None
    if method != "auto" and not is_aware(method):
        return None
    if method in AWARE_METHODS and not hasattr(AWARE_METHODS[method], "learn"):
        raise _unlearnable(method)
    if domain.is_numeric:
        raise UsageError(
            "methods that model the noise of numbers need all tasks in memory, which a large table "
            'never has: choose a method that treats reports as answers, such as method="crh", or '
            "infer without engine="
        )
    found = mechanism_of(policy).evidence(_each_label_once(domain), policy.domain)
    if found is None:
        raise UsageError("inference cannot model the noise of this policy: name another method")
    name = "aware" if method == "auto" else method
    chosen = aware_method(name, found.channel, policy.domain, parameters or {})
    return ChosenMethod(_sums_only(chosen), Recoding(found.symbols.value, found.symbols.domain))


def _each_label_once(domain: Domain) -> Reports:
    """A table that contains every label once, to see how each is recoded."""
    places = np.arange(domain.size, dtype=np.int32)
    return Reports.of(np.zeros_like(places), places, places, domain=domain)


def _check_plain(policy: Policy) -> None:
    if not mechanism_of(policy).is_plain:
        raise UsageError(
            "reports of this policy cannot be read as answers: choose a method that models their "
            'noise (method="auto"), or infer without engine='
        )


def _numbers(domain: Domain) -> Recoding:
    """The recoding of ordinal labels to numbers."""
    table = _each_label_once(domain).as_numbers()
    return Recoding(table.value, table.domain)


def _sums_only(aggregator: Aggregator) -> SumsAggregator[Any]:
    if isinstance(aggregator, SumsAggregator):
        if getattr(aggregator, "known", None) is not None:
            raise UsageError("known truths need tasks in memory, which a large table never has")
        return aggregator
    raise _unlearnable(getattr(aggregator, "name", type(aggregator).__name__))


def _unlearnable(name: str) -> UsageError:
    return UsageError(
        f"{name} needs all tasks in memory, which a large table never has: infer without engine="
    )


@contextmanager
def _chunked(source: Any, where: _Where, options: Mapping[str, Any]) -> Iterator[Opened]:
    held_here = (
        scratch_in(where.output) if where.checkpoint is None else checkpoint_lock(where.checkpoint)
    )
    with held_here as work:
        with closing(open_table(source, work=work, memory=where.memory, **options)) as table:
            kept = None
            if where.checkpoint is not None:
                kept = partial(_kept_locally, f"{work}/sums", table.identity)
            yield table, kept


def _kept_locally(folder: str, table: str, run: str) -> AbstractContextManager[Sums]:
    """The sums of a run over a table, in a folder."""
    return nullcontext(KeptSums(folder, identity_of({"table": table, "run": run})))


@contextmanager
def _on_spark(source: Any, where: _Where, options: Mapping[str, Any]) -> Iterator[Opened]:
    from sottovoce.engines.spark.checkpoint import SparkSums
    from sottovoce.engines.spark.hadoop_files import exists
    from sottovoce.engines.spark.session import spark_session
    from sottovoce.engines.spark.table import open_table

    work = where.checkpoint
    with spark_session(where.master, where.session, where.settings) as spark:
        if is_remote(where.output) and exists(spark, where.output):
            raise OutputExists(where.output)
        table = open_table(spark, source, work=work, **options)
        yield table, None if work is None else lambda run: nullcontext(SparkSums(spark, work, run))


def _check_engine(engine: str, *, on_spark: bool, memory: int | None) -> None:
    if engine not in get_args(LargeEngineName):
        raise UsageError(f"engine= must be chunked or spark, not {engine!r}")
    if engine == "chunked" and on_spark:
        raise UsageError('a Spark master and Spark settings need engine="spark"')
    if engine == "spark" and memory is not None:
        raise UsageError("memory= is for the chunked engine: set Spark's memory in Spark")


def _identity(chosen: ChosenMethod, policy: Policy | None) -> str:
    """A name for everything that determines the sums, except the table."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        said = [repr(chosen.aggregator), policy.hash if policy else None, __version__]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]


def _stamped(
    result: Result, table: LargeTable, large: LargeEngine, policy: Policy | None
) -> Result:
    provenance = replace(
        result.provenance,
        version=__version__,
        reading=large.reading,
        policy_hash=policy.hash if policy else None,
        simulated=table.simulated,
    )
    return replace(result, provenance=provenance)
