"""Packed reports by ranges of pseudonyms, which are hashes: equal ranges hold about as many.

A range is read as the database finds it and put in order here, so that no database sorts a whole
campaign. The order of arrival is not even asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, select
from sqlalchemy.engine import Row

from sottovoce.model import Codes
from sottovoce.stores.database.packed import PSEUDONYM, factorized
from sottovoce.stores.database.tables import reports

__all__ = ["EVERYBODY", "Ordered", "cut", "reports_between"]

EVERYBODY = range(1 << 8 * PSEUDONYM)
"""All pseudonyms there can be, as numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Ordered:
    """Some reports by pseudonym, then by the task's place; all of a worker's are among them.

    `worker` holds places among `pseudonyms`, which are joined, and `task` places in the campaign's
    list.
    """

    pseudonyms: bytes
    worker: Codes
    task: npt.NDArray[np.uint32]
    code: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.task)


def cut(workers: range, count: int) -> list[range]:
    """A range of pseudonyms as so many equal ones, one after another.

    >>> cut(range(10), 3)
    [range(0, 3), range(3, 6), range(6, 10)]
    """
    width = workers.stop - workers.start
    bounds = (workers.start + width * turn // count for turn in range(count + 1))
    return [range(start, stop) for start, stop in pairwise(bounds)]


def reports_between(
    connection: Connection, campaign: int, kind: np.dtype[Any], workers: range, *, most: int
) -> Iterator[Ordered]:
    """What a campaign received from the workers in a range, in the order of their pseudonyms.

    A range with more than `most` submissions is halved until it has less: what is held at once
    does not depend on how even pseudonyms are, unless one worker alone has more.
    """
    is_one = workers.stop - workers.start == 1
    query: Select[Any] = (
        select(reports.c.worker, reports.c.tasks, reports.c.codes)
        .where(
            reports.c.campaign == campaign,
            reports.c.worker.between(_bytes(workers.start), _bytes(workers.stop - 1)),
        )
        .limit(None if is_one else most + 1)
    )
    rows = connection.execute(query).all()
    if len(rows) > most and not is_one:
        for half in cut(workers, 2):
            yield from reports_between(connection, campaign, kind, half, most=most)
    elif rows:
        yield _ordered(rows, kind)


def _bytes(pseudonym: int) -> bytes:
    return pseudonym.to_bytes(PSEUDONYM)


def _ordered(rows: Sequence[Row[Any]], kind: np.dtype[Any]) -> Ordered:
    workers, tasks, codes = zip(*rows, strict=True)
    submission, pseudonyms = factorized(b"".join(workers))
    worker = np.repeat(submission, [len(each) // 4 for each in tasks])
    task = np.frombuffer(b"".join(tasks), "<u4").astype(np.uint32, copy=False)
    code = np.frombuffer(b"".join(codes), kind).astype(kind.newbyteorder("="), copy=False)
    # One key instead of two sorts several times as fast; a worker has a task once.
    order = np.argsort(worker.astype(np.int64) << 32 | task)
    return Ordered(pseudonyms, worker[order], task[order], code[order])
