"""Output folders that appear whole or not at all, where the file system allows it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sottovoce.errors import UsageError
from sottovoce.files import atomic_output

SUMMARY = "summary.json"
CONTENTS = ("truths", "workers", SUMMARY)
"""The contents of a folder of results. A folder with anything else in it is not replaced."""


def path_of(place: str | os.PathLike[str] | None) -> str | None:
    """A path as text without `file:`, as both Python and Spark read it."""
    if place is None:
        return None
    text = os.fspath(place)
    for prefix in ("file://", "file:"):
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return text


def is_remote(place: str) -> bool:
    """Whether a path is in a remote file system, such as hdfs://."""
    return "://" in place


@contextmanager
def new_folder(
    place: str | os.PathLike[str], contents: Collection[str] = CONTENTS, *, force: bool = False
) -> Iterator[str]:
    """A new folder to fill; it is moved to `place` when the block succeeds.

    With `force` it replaces a folder that contains nothing except `contents`. In a remote file
    system it is `place` itself, which must be new: Spark cannot replace a folder there. The folder
    is complete when it contains `summary.json`.
    """
    target = path_of(place) or ""
    if is_remote(target):
        if force:
            raise UsageError(f"force=True cannot replace {target}: remove it, or name another")
        yield target.rstrip("/")
        return
    with atomic_output.new_folder(target, contents, force=force) as new:
        # With the permissions of a usual file; Spark's workers may run as other users.
        new.chmod(0o777 & ~_umask())
        yield str(new)


@contextmanager
def scratch_in(place: str) -> Iterator[str]:
    """A folder inside another one, removed when the block ends."""
    folder = Path(place) / ".work"
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_summary(folder: str, content: Mapping[str, Any]) -> None:
    """Write `summary.json`, last: if it exists, the rest is complete."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    if not is_remote(folder):
        (Path(folder) / SUMMARY).write_text(text, encoding="utf-8")
        return
    from pyspark.sql import SparkSession

    from sottovoce.engines.spark.hadoop_files import write_bytes

    write_bytes(SparkSession.active(), f"{folder}/{SUMMARY}", text.encode())


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
