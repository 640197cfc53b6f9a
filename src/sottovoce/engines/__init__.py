"""Where sums are made."""

from sottovoce.engines.checkpoint import RecordedEngine
from sottovoce.engines.large_table import PartEngine
from sottovoce.engines.local import LocalEngine
from sottovoce.engines.progress import WatchedEngine

__all__ = ["LocalEngine", "PartEngine", "RecordedEngine", "WatchedEngine"]
