"""Folders of results: whole or not at all where that can be had."""

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
"""What a folder of results holds: one with anything else in it is not replaced."""


def path_of(place: str | os.PathLike[str] | None) -> str | None:
    """A path as text, `file:` taken away: what Python and Spark both mean by it."""
    if place is None:
        return None
    text = os.fspath(place)
    for prefix in ("file://", "file:"):
        if text.startswith(prefix):
            return text.removeprefix(prefix)
    return text


def is_remote(place: str) -> bool:
    """Whether a path is in another file system than this machine's, such as hdfs://."""
    return "://" in place


@contextmanager
def new_folder(
    place: str | os.PathLike[str], contents: Collection[str] = CONTENTS, *, force: bool = False
) -> Iterator[str]:
    """A folder to fill, which takes the place named when the block ends well.

    With `force` one is replaced that has nothing in it but what is named in `contents`.
    In another file system it is that place itself, which must be new: Spark has no way to put a
    folder in the place of another there. `summary.json` is then what tells a whole one.
    """
    target = path_of(place) or ""
    if is_remote(target):
        if force:
            raise UsageError(f"--force cannot replace {target}: remove it first, or name another")
        yield target.rstrip("/")
        return
    with atomic_output.new_folder(target, contents, force=force) as new:
        # As readable as a file would be; and Spark's workers may be other users.
        new.chmod(0o777 & ~_umask())
        yield str(new)


@contextmanager
def scratch_in(place: str) -> Iterator[str]:
    """A folder in another one, gone when the block ends."""
    folder = Path(place) / ".work"
    try:
        yield str(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_summary(folder: str, content: Mapping[str, Any]) -> None:
    """What was found, last of all: where it is, the rest is whole."""
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
