"""Files wherever Spark writes: on HDFS, in object stores, or on this machine.

Small files whole, and tables that a cluster writes as Parquet files.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from sottovoce.engines.spark.session import spark_errors
from sottovoce.errors import UsageError

_UNFINISHED = ".unfinished"


def address_of(path: str | os.PathLike[str]) -> str:
    """A path in Spark's form: without a scheme, it is on this machine's file system.

    Spark by itself would look on HDFS if that is its default.

    >>> address_of("/data/out"), address_of("hdfs://host/out")
    ('file:///data/out', 'hdfs://host/out')
    """
    text = os.fspath(path)
    return text if "://" in text else Path(text).absolute().as_uri()


def write_bytes(spark: SparkSession, path: str, content: bytes) -> None:
    """Write a file atomically where a rename is atomic; replaces an existing one."""
    with spark_errors():
        system, target, unfinished = _places(spark, path)
        stream = system.create(unfinished, True)
        try:
            stream.write(bytearray(content))
        finally:
            stream.close()
        system.delete(target, False)
        system.rename(unfinished, target)


def read_bytes(spark: SparkSession, path: str) -> bytes | None:
    """A file's content; None if there is no such file."""
    with spark_errors():
        system, target, _ = _places(spark, path)
        if not system.exists(target):
            return None
        system.setVerifyChecksum(False)  # the reader verifies the content itself
        stream = system.open(target)
        try:
            jvm: Any = spark._jvm
            return bytes(jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()


def exists(spark: SparkSession, path: str) -> bool:
    """Whether a file or folder exists."""
    with spark_errors():
        system, target, _ = _places(spark, path)
        return bool(system.exists(target))


def remove(spark: SparkSession, path: str) -> None:
    """Remove a file or a folder with its content, if it exists."""
    with spark_errors():
        system, target, _ = _places(spark, path)
        system.delete(target, True)


def _places(spark: SparkSession, path: str) -> tuple[Any, Any, Any]:
    jvm: Any = spark._jvm
    target = jvm.org.apache.hadoop.fs.Path(path)
    system = target.getFileSystem(spark._jsc.hadoopConfiguration())
    return system, target, jvm.org.apache.hadoop.fs.Path(path + _UNFINISHED)


def write_parquet(frame: DataFrame, folder: str | os.PathLike[str]) -> None:
    """Parquet files in a new folder."""
    frame.write.option("compression", "zstd").parquet(address_of(folder))


def check_arrived(folder: str | os.PathLike[str], rows: int) -> None:
    """Refuse a local folder with fewer rows than were written to it.

    Executors on other machines write to their own disks, and Spark reports success.
    """
    from pyarrow import dataset

    if not address_of(folder).startswith("file://"):
        return
    found = dataset.dataset(os.fspath(folder), format="parquet").count_rows()
    if found != rows:
        raise UsageError(
            f"only {found:,} of {rows:,} rows arrived at {folder}: all machines of the cluster "
            "must reach that folder; name one on HDFS or on a shared disk"
        )
