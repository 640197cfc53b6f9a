"""The order of phases in a round under masks."""

from __future__ import annotations

from sottovoce.securesum.star.phases import Phase

__all__ = ["ORDER"]

ORDER = (Phase.SHARE, Phase.CONTRIBUTE, Phase.CONFIRM, Phase.OPEN)
