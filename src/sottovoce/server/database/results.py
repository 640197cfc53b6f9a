"""Rows of results: a small summary and packed columns."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, insert, select, update

from sottovoce.model import FloatArray, State
from sottovoce.server.database.schema import campaigns, opened, results


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary of a result.

    `converged` is for the fit, `settled` for the campaign: more reports hardly change its truths.
    `reports` is how many it is based on, `left_out` how many of them the method cannot use (NULL,
    if it does not model the noise), and `counted` how many the campaign counted. `checkpoint` is
    the number of reports of the result that later ones are compared with. `changed` is how much
    truths changed between the last two of these results, and `changed_since` the number of reports
    of the earlier one. `alpha` is Krippendorff's alpha of the reports, with its interval.
    `warnings` are the result's; `problem` is why there are no truths. `known` is how many known
    truths inference used, and `calibration` what they changed. `started_from` is the number of
    reports of the earlier fit that this one started from, or 0.
    """

    reports: int
    counted: int
    policy_hash: str
    version: str
    workers: int = 0
    tasks: int = 0
    method: str | None = None
    rounds: int = 0
    converged: bool = False
    left_out: int = 0
    settled: bool = False
    checkpoint: int = 0
    changed: float | None = None
    changed_since: int = 0
    warnings: Sequence[str] = ()
    alpha: tuple[float, float, float] | None = None
    problem: str | None = None
    known: int = 0
    calibration: str | None = None
    started_from: int = 0

    def text(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def parse(cls, text: str) -> Self:
        """A stored summary."""
        document: Mapping[str, Any] = json.loads(text)
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in document.items() if name in known})


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Truths by the tasks' places and weights by pseudonym.

    `truth` holds codes of labels, or numbers; `certainty` is the confidence of labels and the
    standard error of numbers. `before_place` and `before_truth` are the checkpoint's.
    """

    place: npt.NDArray[np.int32]
    truth: npt.NDArray[Any]
    certainty: FloatArray
    answers: npt.NDArray[np.int64]
    pseudonyms: npt.NDArray[np.uint8]
    weight: FloatArray
    worker_reports: npt.NDArray[np.int64]
    before_place: npt.NDArray[np.int32]
    before_truth: npt.NDArray[Any]

    @property
    def is_numeric(self) -> bool:
        """Whether truths are numbers rather than labels."""
        return self.truth.dtype.kind == "f"

    @property
    def nbytes(self) -> int:
        """The memory they take."""
        return sum(getattr(self, field.name).nbytes for field in fields(self))

    @classmethod
    def none(cls) -> Self:
        """Empty columns."""
        place, counts = np.zeros(0, np.int32), np.zeros(0, np.int64)
        numbers = np.zeros(0, np.float64)
        return cls(
            place, place, numbers, counts, np.zeros(0, np.uint8), numbers, counts, place, place
        )

    def pack(self) -> bytes:
        """The columns in bytes."""
        stream = io.BytesIO()
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        np.savez_compressed(stream, allow_pickle=False, **arrays)
        return stream.getvalue()

    @classmethod
    def unpack(cls, content: bytes) -> Self:
        """The columns in stored bytes."""
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            return cls(**{field.name: arrays[field.name] for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A stored result without its columns: its last submission and its number of erasures."""

    sequence: int
    erasures: int
    summary: Summary

    @property
    def age(self) -> tuple[int, int]:
        """Orders results by how much they include: erasures are never undone."""
        return self.erasures, self.sequence


def find_result(connection: Connection, campaign: int) -> StoredResult | None:
    """A campaign's result, if anything was inferred."""
    columns = (results.c.sequence, results.c.erasures, results.c.summary)
    row = connection.execute(select(*columns).where(results.c.campaign == campaign)).one_or_none()
    return (
        None
        if row is None
        else StoredResult(row.sequence, row.erasures, Summary.parse(row.summary))
    )


def find_content(connection: Connection, campaign: int) -> Columns | None:
    """The columns of a campaign's result."""
    query = select(results.c.content).where(results.c.campaign == campaign)
    content = connection.execute(query).scalar_one_or_none()
    return None if content is None else Columns.unpack(content)


def store_result(
    connection: Connection, campaign: int, found: StoredResult, content: bytes
) -> None:
    """Replace the stored result."""
    values = {
        "sequence": found.sequence,
        "erasures": found.erasures,
        "summary": found.summary.text(),
        "content": content,
    }
    change = update(results).where(results.c.campaign == campaign).values(**values)
    if connection.execute(change).rowcount == 0:
        connection.execute(insert(results).values(campaign=campaign, **values))


def store_problem(
    connection: Connection, campaign: int, before: StoredResult, problem: str, seen: tuple[int, int]
) -> None:
    """Keep the stored result, and record why newer reports and erasures have none."""
    reports, erasures = seen
    summary = replace(before.summary, counted=reports, problem=problem, started_from=0)
    values = {"erasures": erasures, "summary": summary.text()}
    connection.execute(update(results).where(results.c.campaign == campaign).values(**values))


def unfinished(connection: Connection) -> dict[str, tuple[int, int]]:
    """Campaigns with reports or erasures that their results do not include.

    A closed campaign's last fit is from scratch, so that its exported reports reproduce it. The
    identifier of each, with its current numbers of reports and erasures.
    """
    query = (
        select(
            campaigns.c.id,
            campaigns.c.state,
            campaigns.c.reports,
            campaigns.c.erasures,
            results.c.erasures.label("seen"),
            results.c.summary,
        )
        .outerjoin_from(campaigns, results, campaigns.c.number == results.c.campaign)
        .outerjoin(opened, campaigns.c.number == opened.c.campaign)
        .where(campaigns.c.state != State.DRAFT)
        # Sealed answers have no truths until their totals are opened.
        .where((campaigns.c.sealed == 0) | opened.c.campaign.is_not(None))
        .order_by(campaigns.c.number)
    )
    return {
        row.id: (row.reports, row.erasures)
        for row in connection.execute(query)
        if (row.reports, row.erasures) != _seen(row.summary, row.seen, row.state)
    }


def gone(connection: Connection, ids: Collection[str]) -> set[str]:
    """The campaigns among these that no longer exist."""
    found = connection.execute(select(campaigns.c.id).where(campaigns.c.id.in_(ids))).scalars()
    return set(ids) - set(found)


def _seen(summary: str | None, erasures: int | None, state: str) -> tuple[int, int]:
    found = None if summary is None else Summary.parse(summary)
    if found is None or (found.started_from and state == State.CLOSED):
        return 0, 0
    return found.counted, erasures or 0
