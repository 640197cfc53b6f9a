"""Whether a worker may send reports bit by bit."""

from __future__ import annotations

from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.seams import Release

__all__ = ["is_separable"]


def is_separable(release: Release) -> bool:
    """Whether each report has noise of its own, so that answers may go out bit by bit.

    What a worker draws once would be drawn again, a dense submission has every task already, and a
    sample of the answers would be taken twice.
    """
    return (
        hasattr(release, "channel")
        and not release.hides_participation
        and not isinstance(release, TwoLayer)
    )
