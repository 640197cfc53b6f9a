"""Overview routes: a campaign's state, a methods section, and refused reports."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from sottovoce.errors import Reason
from sottovoce.server.campaigns.certainty import Certainty
from sottovoce.server.campaigns.histogram import Bin
from sottovoce.server.campaigns.methods_section import describe
from sottovoce.server.campaigns.overview import Overview, Weights, overview
from sottovoce.server.campaigns.rejections import list_rejections
from sottovoce.server.database.results import Summary
from sottovoce.server.web.requests import CampaignId, Requester, TheService
from sottovoce.server.web.routes.results import SummaryBody

router = APIRouter(tags=["results"])


class RunBody(BaseModel):
    """Consecutive tasks, by name, and their mean number of reports."""

    first: str
    last: str
    tasks: int
    mean: float


class LevelBody(BaseModel):
    """How many tasks have this many reports, up to the start of the next level."""

    answers: int
    tasks: int


class CoverageBody(BaseModel):
    """Reports per task, as of the latest result; tasks without reports count as 0."""

    hidden: bool = Field(
        description="Whether workers report on every task they get, answered or not. The numbers "
        "would then say nothing about answers and are null."
    )
    untouched: int | None
    least: int | None
    median: float | None
    most: int | None
    strip: list[RunBody]
    histogram: list[LevelBody]


class TaskBinBody(BaseModel):
    """How many tasks lie from low up to high."""

    low: float
    high: float
    tasks: int


class WorkerBinBody(BaseModel):
    """How many workers lie from low up to high."""

    low: float
    high: float
    workers: int


class CertaintyBody(BaseModel):
    """The certainty of truths. Tasks without reports are neither settled nor open."""

    kind: Literal["confidence", "standard_error"]
    threshold: float = Field(
        description="Labels are settled at a confidence of 0.95 or more, numbers at a standard "
        "error of at most 2.5 % of the range."
    )
    settled: int
    open: int
    histogram: list[TaskBinBody]

    @classmethod
    def of(cls, certainty: Certainty) -> Self:
        """The certainty as a response."""
        return cls(
            kind="standard_error" if certainty.kind == "standard_error" else "confidence",
            threshold=certainty.threshold,
            settled=certainty.settled,
            open=certainty.open,
            histogram=[TaskBinBody(tasks=bin.count, **_ends(bin)) for bin in certainty.histogram],
        )


class MoreBody(BaseModel):
    """The estimated effect of more answers."""

    answers: int
    workers: int
    settles: int
    open: int
    words: str


class WeightsSeenBody(BaseModel):
    """The distribution of workers' weights, or why there are none."""

    workers: int
    why_none: str | None
    histogram: list[WorkerBinBody]

    @classmethod
    def of(cls, weights: Weights) -> Self:
        """The weights as a response."""
        histogram = [WorkerBinBody(workers=bin.count, **_ends(bin)) for bin in weights.histogram]
        return cls(workers=weights.workers, why_none=weights.why_none, histogram=histogram)


class ChangedBody(BaseModel):
    """How much truths changed between two results: the share of labels, or how far numbers moved.

    The later one had at least a ninth more reports. Numbers move in parts of the range.
    """

    share: float
    since: int = Field(description="The number of reports of the earlier result.")


class OverviewBody(BaseModel):
    """A campaign's overview; everything but the counts is as of the latest result."""

    tasks: int
    workers: int
    reports: int
    reports_waiting: int
    summary: SummaryBody | None
    coverage: CoverageBody
    certainty: CertaintyBody | None
    more: MoreBody | None
    weights: WeightsSeenBody
    changed: ChangedBody | None

    @classmethod
    def of(cls, found: Overview) -> Self:
        """An overview as a response."""
        seen, summary, further = found.seen, found.summary, found.further
        return cls(
            tasks=found.tasks,
            workers=found.workers,
            reports=found.reports,
            reports_waiting=found.waiting,
            summary=None if summary is None else SummaryBody(**asdict(summary)),
            coverage=CoverageBody(**asdict(seen.coverage)),
            certainty=None if seen.certainty is None else CertaintyBody.of(seen.certainty),
            more=None if further is None else MoreBody(**asdict(further), words=further.words),
            weights=WeightsSeenBody.of(seen.weights),
            changed=None if summary is None else _changed(summary),
        )


class FactBody(BaseModel):
    """One fact about a campaign."""

    name: str
    value: str


class MethodsBody(BaseModel):
    """A methods section for a paper, as plain text."""

    paragraph: str
    citation: str = Field(description="A BibTeX entry of the software.")
    facts: list[FactBody]


@router.get("/campaigns/{campaign_id}/overview")
def get_overview(_: Requester, service: TheService, campaign_id: CampaignId) -> OverviewBody:
    """Show an overview of a campaign: coverage, certainty, weights, effect of more answers."""
    return OverviewBody.of(overview(service, campaign_id))


@router.get("/campaigns/{campaign_id}/methods")
def get_methods(_: Requester, service: TheService, campaign_id: CampaignId) -> MethodsBody:
    """Describe a campaign for a paper: what was asked, promised, received and inferred."""
    return MethodsBody(**asdict(describe(service, campaign_id)))


def _changed(summary: Summary) -> ChangedBody | None:
    if summary.changed is None:
        return None
    return ChangedBody(share=summary.changed, since=summary.changed_since)


def _ends(bin: Bin) -> dict[str, float]:
    return {"low": bin.low, "high": bin.high}


class RejectionBody(BaseModel):
    """One reason, for programs and for people, and how many submissions were refused for it."""

    reason: Reason
    words: str = Field(examples=["with an invite that had expired"])
    count: int


class RejectionsBody(BaseModel):
    """All reasons, the most frequent first."""

    rejections: list[RejectionBody]
    total: int


@router.get("/campaigns/{campaign_id}/rejections")
def get_rejections(_: Requester, service: TheService, campaign_id: CampaignId) -> RejectionsBody:
    """Count refused submissions by reason. Counts are a few seconds late.

    Nothing else of a refused submission is kept: not who sent it, when, or what was in it.
    """
    found = list_rejections(service, campaign_id)
    return RejectionsBody(
        rejections=[RejectionBody(**asdict(one), words=one.words) for one in found],
        total=sum(one.count for one in found),
    )
