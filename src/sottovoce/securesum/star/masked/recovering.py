"""Secrets back from the pieces that were opened, each checked against what its dealer said."""

from __future__ import annotations

from collections.abc import Mapping

from sottovoce.errors import SealedAborted
from sottovoce.securesum.star.frames import party
from sottovoce.securesum.star.masked.pieces import joined

__all__ = ["recovered"]


def recovered(
    opened: Mapping[int, Mapping[int, bytes]], dealers: list[int], threshold: int
) -> dict[int, bytes | None]:
    """The secret of each dealer, from what workers opened: by worker, then by dealer.

    The first `threshold` workers who have a dealer's piece do; each piece was checked. None: the
    pieces are of no secret. Where too few have a piece, either the dealer sealed something that
    cannot be read, or those lie who say so: both are named, since nobody else can tell.
    """
    groups: dict[tuple[int, ...], list[int]] = {}
    workers = sorted(opened)
    for dealer in dealers:
        holders = [worker for worker in workers if dealer in opened[worker]]
        if len(holders) < threshold:
            without = [party(worker) for worker in workers if dealer not in opened[worker]]
            raise SealedAborted(
                f"pieces that {party(dealer)} has dealt cannot be read, say the others; "
                f"{len(holders)} workers have one, and {threshold} must",
                [party(dealer), *without],
            )
        groups.setdefault(tuple(holders[:threshold]), []).append(dealer)
    secrets: dict[int, bytes | None] = {}
    for points, group in groups.items():
        rows = [[opened[worker][dealer] for dealer in group] for worker in points]
        secrets.update(zip(group, joined(list(points), rows), strict=True))
    return secrets
