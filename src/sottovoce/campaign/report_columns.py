"""How a campaign's reports are written in a table: the column's name, its type, its cells.

Whatever holds reports of a simulated campaign says so in the column's name, as `perturb` names the
column of simulated reports: nothing that is copied from such a table loses the stamp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.codes import report_domain, written_reports
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Alphabet, Domain, Grid, Label, ReportCodes, label_text
from sottovoce.seams import Mechanism
from sottovoce.server.database.campaigns import Stored

__all__ = [
    "COUNT",
    "NUMBER",
    "TEXT",
    "ReportColumn",
    "label_column",
    "label_texts",
    "report_column",
    "reporting_mechanism",
    "stamped",
]

TEXT, NUMBER, COUNT = "VARCHAR", "DOUBLE", "BIGINT"


@dataclass(frozen=True, slots=True)
class ReportColumn:
    """The column of reports: its name, its SQL type, and the labels if codes are their places."""

    name: str
    kind: str
    labels: Sequence[Label] | None
    alphabet: Alphabet
    domain: Domain

    def written(self, codes: ReportCodes) -> npt.NDArray[Any]:
        """Reports as they are written: labels, numbers, or sets as `0 3 7`."""
        if self.labels is not None:
            return _array(self.labels, self.kind)[codes]
        if self.alphabet is not Alphabet.SUBSETS:
            return Grid.over(self.domain).values(codes)
        # There are far fewer sets than reports, and each takes a while to write.
        masks: npt.NDArray[np.uint64]
        masks, places = np.unique(codes, return_inverse=True)
        return _array(written_reports(masks, self.alphabet, self.domain), self.kind)[places]


def report_column(stored: Stored) -> ReportColumn:
    """The column of a campaign's reports; a sealed campaign has none."""
    alphabet, domain = reporting_mechanism(stored).alphabet, stored.campaign.terms.policy.domain
    written = report_domain(alphabet, domain)
    kind, labels = TEXT if alphabet is Alphabet.SUBSETS else NUMBER, None
    if isinstance(written, Domain) and not written.is_numeric:
        kind, labels = label_column(written)
    return ReportColumn(stamped("report", stored), kind, labels, alphabet, domain)


def reporting_mechanism(stored: Stored) -> Mechanism:
    """What made the reports; refused if they are sealed."""
    if stored.campaign.terms.policy.sealed:
        raise Refused(
            Reason.NOT_FOUND,
            "the reports of a sealed campaign can be read by nobody: take totals.csv or truths.csv",
        )
    return mechanism_of(stored.campaign.terms.policy)


def stamped(column: str, stored: Stored) -> str:
    """The name of a column that comes from reports."""
    return f"simulated_{column}" if stored.campaign.simulated else column


def label_column(domain: Domain) -> tuple[str, list[Label]]:
    """The type of a column of labels, and the labels: integers if all are, else texts."""
    if all(isinstance(label, int) for label in domain.labels):
        return COUNT, list(domain.labels)
    return TEXT, label_texts(domain.labels)


def label_texts(labels: Sequence[Label]) -> list[Label]:
    """Labels as they are written."""
    return [label_text(label) for label in labels]


def _array(cells: Sequence[Any], kind: str) -> npt.NDArray[Any]:
    array = np.empty(len(cells), np.int64 if kind == COUNT else object)
    array[:] = cells
    return array
