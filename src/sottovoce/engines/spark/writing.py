"""Tables that a cluster writes as Parquet files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from sottovoce.engines.spark.files import address_of
from sottovoce.errors import UsageError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["check_arrived", "write_parquet"]


def write_parquet(frame: DataFrame, folder: str | os.PathLike[str]) -> None:
    """Parquet files in a new folder."""
    frame.write.option("compression", "zstd").parquet(address_of(folder))


def check_arrived(folder: str | os.PathLike[str], rows: int) -> None:
    """Refuse a folder of this machine with fewer rows than were written to it.

    Executors on other machines write to disks of their own, and Spark calls that a success.
    """
    from pyarrow import dataset

    if not address_of(folder).startswith("file://"):
        return
    found = dataset.dataset(os.fspath(folder), format="parquet").count_rows()
    if found != rows:
        raise UsageError(
            f"{found:,} of {rows:,} rows have arrived at {folder}: all machines of the cluster "
            "must reach that folder; name one on HDFS or on a shared disk"
        )
