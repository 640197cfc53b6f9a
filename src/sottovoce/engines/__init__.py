"""Engines: steps computed in memory, in chunks from a disk, or on Spark."""

from sottovoce.engines.large_table import PartEngine
from sottovoce.engines.local import LocalEngine
from sottovoce.engines.wrapped_engine import RecordedEngine, WatchedEngine

__all__ = ["LocalEngine", "PartEngine", "RecordedEngine", "WatchedEngine"]
