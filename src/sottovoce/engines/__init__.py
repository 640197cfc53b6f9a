"""Where sums are made."""

from sottovoce.engines.local import LocalEngine
from sottovoce.engines.watched import WatchedEngine

__all__ = ["LocalEngine", "WatchedEngine"]
