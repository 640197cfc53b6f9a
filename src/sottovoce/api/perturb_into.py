"""perturb_into: simulate reports for tables larger than memory on a Spark cluster."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sottovoce.api.keywords import ReadingOptions, check_reading, spelled_out
from sottovoce.api.output_folder import SUMMARY, is_remote, new_folder, path_of, write_summary
from sottovoce.api.perturb import TWICE, check_no_domain, check_promised
from sottovoce.datasets import SeededRandomness
from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Policy, Reading
from sottovoce.tables.duplicates import repeated_words
from sottovoce.version import __version__

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from sottovoce.engines.spark.perturbation import Made
    from sottovoce.engines.spark.table import SparkTable


_REPORTS = "reports"


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The outcome of `perturb_into`: the number of SIMULATED `reports`, in files in `folder`.

    `most` is the largest number of answers of one worker, or the number of tasks if the policy
    hides participation. Ask the policy for its guarantee at this number.
    """

    folder: str
    reports: int
    most: int
    seed: int
    policy_hash: str
    reading: Reading

    def summary(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        return {
            "simulated": True,
            "seed": self.seed,
            "reports": self.reports,
            "most_of_a_worker": self.most,
            "policy_hash": self.policy_hash,
            "reading": asdict(self.reading),
            "version": __version__,
        }


@spelled_out(ReadingOptions)
def perturb_into(
    source: Any,
    folder: str | os.PathLike[str],
    policy: Policy,
    *,
    seed: int,
    master: str | None = None,
    session: SparkSession | None = None,
    settings: Mapping[str, str] | None = None,
    force: bool = False,
    **reading: Unpack[ReadingOptions],
) -> Perturbed:
    """Simulate reports for a table of answers on a Spark cluster, and write them to a folder.

    For simulations only: answers on a cluster have already left the workers' devices, and noise
    added there protects nobody. A seed is required, and the reports are stamped. They have the
    distribution of `perturb` under the policy. They depend only on the table and the seed, not on
    the number or the loss of executors. `perturb` with the same seed makes other reports.

    `folder` gets `reports/`, Parquet files, and `summary.json`; it appears whole or not at all.
    `source` is any path of Parquet that Spark reads, or `table:NAME` of its catalogue. The work
    runs where `session` is, or on `master` (a URL such as spark://host:7077) with Spark's
    `settings`, or where spark-submit started it. Other keywords say how to read `source` (see
    `read`): columns, repeats, bad_rows.
    """
    seed = checked_seed(seed)
    mechanism_of(policy)  # refuses sealed policies before a cluster is started
    check_reading(reading)
    check_no_domain(reading)
    options: dict[str, Any] = {**reading, "domain": policy.domain, "private": True}
    from sottovoce.engines.spark.perturbation import write_reports
    from sottovoce.engines.spark.session import spark_session
    from sottovoce.engines.spark.table import open_table

    with (
        new_folder(folder, (_REPORTS, SUMMARY), force=force) as place,
        spark_session(master, session, settings) as spark,
        _whole_or_gone(spark, place),
    ):
        table = open_table(spark, source, **options)
        _check_apart(table, folder)
        made = write_reports(table, policy, seed, f"{place}/{_REPORTS}")
        _check(made, table, policy)
        perturbed = Perturbed(
            path_of(folder) or "", made.reports, made.most, seed, policy.hash, _reading(made, table)
        )
        write_summary(place, perturbed.summary())
    return perturbed


def checked_seed(seed: int | None) -> int:
    """The seed, which is required: the answers are on a cluster."""
    if seed is None:
        raise UsageError(
            "answers on a cluster have left the workers' devices, and noise added there protects "
            "nobody: pass seed=N for a SIMULATED table, or perturb on the devices"
        )
    SeededRandomness(seed)  # checks it
    return seed


def _check(made: Made, table: SparkTable, policy: Policy) -> None:
    """Refuse the output if the table must not be perturbed."""
    if made.first is not None and table.repeats == "error":
        file, row = table.source.place(made.first.place)
        words = repeated_words(made.first.worker, made.first.task, made.repeated)
        raise DataError(words, file=file, row=row)
    if made.repeated and table.repeats == "keep":
        raise UsageError(TWICE)
    if made.complaint is not None:
        raise DataError(made.complaint, file=table.source.name)
    check_promised(made.most, policy, mechanism_of(policy))


def _reading(made: Made, table: SparkTable) -> Reading:
    read = Reading(table.source.name, table.table.rows, dropped=table.table.dropped)
    if not made.repeated:
        return read
    return replace(
        read, repeated=made.repeated, contradicting=made.contradicting, repeats=table.repeats
    )


def _check_apart(table: SparkTable, folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that contains the answers."""
    target = path_of(folder) or ""
    if is_remote(target):
        return
    here = Path(target).resolve()
    read = (path_of(file.path) or "" for file in table.source.files)
    if any(not is_remote(path) and Path(path).resolve().is_relative_to(here) for path in read):
        raise UsageError(f"{target} holds the answers: write to another folder")


@contextmanager
def _whole_or_gone(spark: SparkSession, place: str) -> Iterator[None]:
    """Remove what was written to a remote file system if the block fails."""
    if not is_remote(place):
        yield
        return
    from sottovoce.engines.spark.hadoop_files import exists, remove

    if exists(spark, place):
        raise UsageError(f"{place} exists: remove it first, or name another")
    try:
        yield
    except BaseException:
        remove(spark, place)
        raise
