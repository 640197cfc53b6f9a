"""Result routes: truths and weights."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from sottovoce.server.campaigns.results import Sort, truths_page, workers_page
from sottovoce.server.web.requests import CampaignId, Requester, TheService

router = APIRouter(tags=["results"])

MOST_ROWS = 100_000
"""The most rows in one response; an export has them all."""

Offset = Annotated[int, Query(ge=0, le=1 << 31)]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]


class SummaryBody(BaseModel):
    """The summary of a result."""

    method: str | None
    rounds: int
    converged: bool = Field(description="Whether the fit converged.")
    settled: bool = Field(
        description="Whether the campaign has converged: every task has 5 reports, and at most 1 % "
        "of truths changed since there were 10 % fewer reports (for numbers: they moved by at most "
        "1 % of the range on average)."
    )
    reports: int
    left_out: int = Field(
        description="How many reports the method cannot use. A method that models the noise "
        "uses all, including NULL."
    )
    workers: int
    tasks: int
    policy_hash: str
    version: str
    warnings: list[str] = Field(description="Why the truths may be of little use.")
    alpha: tuple[float, float, float] | None = Field(
        description="Krippendorff's alpha of the reports and its 95 % interval. Noise lowers it: "
        "answers agree more. Null where reports cannot be compared."
    )
    problem: str | None = Field(description="Why the latest reports have no truths.")
    known: int = Field(description="How many known truths inference used.")
    calibration: str | None = Field(description="How known truths changed confidence.")


SUMMARY = tuple(SummaryBody.model_fields)


class TruthBody(BaseModel):
    """The truth of a task; labels have a confidence, numbers a standard error."""

    task: str
    truth: str | int | float
    confidence: float | None = None
    standard_error: float | None = None
    answers: int
    known: bool | None = Field(
        None, description="Whether the requester gave this truth; left out if it gave none."
    )


class TruthsBody(BaseModel):
    """A page of truths; `reports_waiting` is how many reports are not included yet."""

    summary: SummaryBody | None
    truths: list[TruthBody]
    total: int
    reports_waiting: int


class WeightBody(BaseModel):
    """A worker's weight; the worker's pseudonym is for this campaign only."""

    worker: str
    weight: float | None
    answers: int


class WeightsBody(BaseModel):
    """A page of workers, sorted by pseudonym."""

    workers: list[WeightBody]
    total: int


@router.get("/campaigns/{campaign_id}/results", response_model=TruthsBody)
def get_results(
    service: TheService,
    _: Requester,
    campaign_id: CampaignId,
    offset: Offset = 0,
    limit: Limit = 1000,
    sort: Sort = Sort.PLACE,
) -> Response:
    """List the truths of tasks that have reports; by confidence, the least certain come first."""
    page = truths_page(service, campaign_id, offset, limit, sort)
    summary = page.summary and {name: asdict(page.summary)[name] for name in SUMMARY}
    return _json(
        summary=json.dumps(summary),
        truths=page.rows(),
        total=str(page.total),
        reports_waiting=str(page.waiting),
    )


@router.get("/campaigns/{campaign_id}/results/workers", response_model=WeightsBody)
def get_workers(
    service: TheService,
    _: Requester,
    campaign_id: CampaignId,
    offset: Offset = 0,
    limit: Limit = 1000,
) -> Response:
    """List the weights of workers, as the method defines them."""
    page = workers_page(service, campaign_id, offset, limit)
    return _json(workers=page.rows(), total=str(page.total))


def _json(**fields: str) -> Response:
    """A JSON object of fields that are already JSON.

    Validating 100,000 rows made here would take longer than making them.
    """
    content = ",".join(f'"{name}":{text}' for name, text in fields.items())
    return Response(f"{{{content}}}", media_type="application/json")
