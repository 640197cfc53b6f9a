"""A checkpoint that a cluster can reach: packed blocks and the sums of rounds."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from pyspark import RDD
from pyspark.sql import DataFrame, SparkSession

from sottovoce.engines.spark.hadoop_files import address_of, exists, read_bytes, remove, write_bytes
from sottovoce.engines.spark.packed_blocks import PART_COLUMNS
from sottovoce.errors import UsageError
from sottovoce.model import FloatArray

_TABLE = "table.json"
_DIGEST = 32


class KeptBlocks:
    """Blocks in Parquet files, and a file that identifies their table once they are complete."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        self._spark, self._folder = spark, address_of(folder).rstrip("/")

    def frame(
        self, table: Mapping[str, Any], partitions: int, make: Callable[[], DataFrame]
    ) -> tuple[DataFrame, int]:
        """The blocks of this table: the stored ones, or new ones that are then stored.

        With the number of partitions they were made in: the cluster may have other cores now.
        """
        path = f"{self._folder}/{_TABLE}"
        found = self._found(path, table)
        blocks = f"{self._folder}/blocks"
        if found is None:
            found = partitions
            remove(self._spark, blocks)  # leftovers of an interrupted run
            make().write.parquet(blocks)
            said = {"table": table, "partitions": partitions}
            write_bytes(self._spark, path, json.dumps(said).encode())
        return self._spark.read.parquet(blocks), found

    def _found(self, path: str, table: Mapping[str, Any]) -> int | None:
        """The number of stored partitions of this table; None if there are none."""
        content = read_bytes(self._spark, path)
        if content is None:
            return None
        said = json.loads(content)
        if said["table"] != json.loads(json.dumps(table)):
            raise UsageError(
                f"{self._folder} is the checkpoint of another table, or of another domain or "
                "duplicate policy: name another folder"
            )
        return int(said["partitions"])


def parts_again(frame: DataFrame, partitions: int) -> RDD[tuple[Any, ...]]:
    """The stored columns that rounds read, in the partitions in which they were made."""
    rows = frame.select("partition", "number", *PART_COLUMNS).rdd
    keyed = rows.map(lambda row: (row[0], tuple(row[1:])))
    return keyed.partitionBy(partitions, lambda partition: partition).mapPartitions(
        lambda pairs: (row[1:] for row in sorted((row for _, row in pairs), key=lambda row: row[0]))
    )


class SparkSums:
    """The sums of a run, one file each, on any file system of the cluster.

    A damaged sum and all later ones are computed again.
    """

    def __init__(self, spark: SparkSession, folder: str, run: str) -> None:
        self._spark = spark
        self._folder = f"{address_of(folder).rstrip('/')}/sums-{run}"

    def read(self, number: int) -> FloatArray | None:
        """The sum of that number; None if it is still to be computed."""
        content = read_bytes(self._spark, self._path(number))
        if content is None:
            return None
        digest, body = content[:_DIGEST], content[_DIGEST:]
        if hashlib.sha256(body).digest() != digest:
            return None
        sums: FloatArray = np.load(io.BytesIO(body), allow_pickle=False)
        return sums

    def append(self, number: int, sums: FloatArray) -> None:
        """Keep the next sum; later ones belong to a different earlier run and are removed."""
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
