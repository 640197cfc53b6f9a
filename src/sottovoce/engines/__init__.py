"""Where sums are made."""

from sottovoce.engines.local import LocalEngine
from sottovoce.engines.recorded import RecordedEngine
from sottovoce.engines.telling import PartEngine
from sottovoce.engines.watched import WatchedEngine

__all__ = ["LocalEngine", "PartEngine", "RecordedEngine", "WatchedEngine"]
