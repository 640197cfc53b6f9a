"""Which kinds of domain a method takes."""

from __future__ import annotations

from sottovoce.model import Kind

__all__ = ["ANY", "LABELS", "NUMBERS"]

LABELS = frozenset({Kind.CATEGORICAL, Kind.ORDINAL})
"""Labels, ordered or not."""
NUMBERS = frozenset({Kind.NUMERIC})
"""Numbers; ordinal labels become numbers on the way in."""
ANY = LABELS | NUMBERS
