"""The phases of a round, in the order in which they come. Each suite uses some of them."""

from __future__ import annotations

from enum import StrEnum

from sottovoce.securesum.star.frames import Place

__all__ = ["Phase", "rank"]


class Phase(StrEnum):
    """What the server asks of workers."""

    SHARE = "share"
    """A fresh public key, and shares of what recovers a worker's masks, sealed to the others."""
    COMMIT = "commit"
    """The hash of a contribution, before anybody's contribution is seen."""
    CONTRIBUTE = "contribute"
    CONFIRM = "confirm"
    """A signature under the one set that is to be opened."""
    OPEN = "open"
    """What opens the total of the set that was confirmed."""
    PROVE = "prove"
    """That what was sent to open it is right."""
    END = "end"
    """The session is over; nothing is answered."""


_ORDER = {str(phase): place for place, phase in enumerate(Phase)}


def rank(place: Place) -> tuple[int, int, int]:
    """What only ever grows in a session. A phase nobody knows comes before all others.

    >>> rank(Place(2, "share")) < rank(Place(2, "open")) < rank(Place(2, "open", 1))
    True
    """
    return place.round, _ORDER.get(place.phase, -1), place.step
