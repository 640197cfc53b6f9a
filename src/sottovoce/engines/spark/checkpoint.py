"""A checkpoint that a cluster reaches: packed blocks and the sums of rounds."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from sottovoce.engines.spark.hadoop_files import address_of, exists, read_bytes, remove, write_bytes
from sottovoce.engines.spark.packed_blocks import PART_COLUMNS
from sottovoce.errors import UsageError
from sottovoce.model import FloatArray

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession


_TABLE = "table.json"
_DIGEST = 32


class KeptBlocks:
    """Blocks in Parquet files, and one more file that says which table they are of, when whole."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._spark, self._folder = spark, address_of(folder).rstrip("/")

    def frame(
        self, table: Mapping[str, Any], partitions: int, make: Callable[[], DataFrame]
    ) -> tuple[DataFrame, int]:
        """The blocks of this table: those that are there, or else made and kept.

        With them, in how many partitions they were made: a cluster may have other cores now.
        """
        path = f"{self._folder}/{_TABLE}"
        found = self._found(path, table)
        blocks = f"{self._folder}/blocks"
        if found is None:
            found = partitions
            remove(self._spark, blocks)  # what an interrupted run has left
            make().write.parquet(blocks)
            said = {"table": table, "partitions": partitions}
            write_bytes(self._spark, path, json.dumps(said).encode())
        return self._spark.read.parquet(blocks), found

    def _found(self, path: str, table: Mapping[str, Any]) -> int | None:
        """How many partitions are kept of this table; None where none are."""
        content = read_bytes(self._spark, path)
        if content is None:
            return None
        said = json.loads(content)
        if said["table"] != json.loads(json.dumps(table)):
            raise UsageError(
                f"{self._folder} is the checkpoint of another table, or of other options: name "
                "another folder"
            )
        return int(said["partitions"])


def parts_again(frame: DataFrame, partitions: int) -> RDD[tuple[Any, ...]]:
    """What rounds read of blocks that were kept, in the partitions that they were made in."""
    rows = frame.select("partition", "number", *PART_COLUMNS).rdd
    keyed = rows.map(lambda row: (row[0], tuple(row[1:])))
    return keyed.partitionBy(partitions, lambda partition: partition).mapPartitions(
        lambda pairs: (row[1:] for row in sorted((row for _, row in pairs), key=lambda row: row[0]))
    )


class SparkSums:
    """The sums of a run, a file each, wherever the cluster keeps files.

    A damaged one counts for nothing: it is made again, and so are those after it.
    """

    def __init__(self, spark: SparkSession, folder: str, run: str) -> None:
        self._spark = spark
        self._folder = f"{address_of(folder).rstrip('/')}/sums-{run}"

    def read(self, number: int) -> FloatArray | None:
        """The sum of that number; None where it is still to be made."""
        content = read_bytes(self._spark, self._path(number))
        if content is None:
            return None
        digest, body = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(body).digest() != digest:
            return None
        sums: FloatArray = np.load(io.BytesIO(body), allow_pickle=False)
        return sums

    def append(self, number: int, sums: FloatArray) -> None:
        """Keep the next sum; those after it are of an earlier run that went otherwise."""
        later = number + 1
        while exists(self._spark, self._path(later)):
            remove(self._spark, self._path(later))
            later += 1
        body = io.BytesIO()
        np.save(body, sums)
        content = body.getvalue()
        write_bytes(self._spark, self._path(number), hashlib.sha256(content).digest() + content)

    def _path(self, number: int) -> str:
        return f"{self._folder}/{number:05d}"
