"""Worker routes: offers, tasks, own reports and their deletion."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from sottovoce.model import Campaign, State, Task
from sottovoce.model.campaign import Assignment
from sottovoce.server.campaigns.offers import block_for, offered
from sottovoce.server.campaigns.own_reports import Returned, erase, own_reports
from sottovoce.server.campaigns.results import published_truths
from sottovoce.server.web.bodies import campaign_fields
from sottovoce.server.web.requests import Bearer, CampaignId, ReportId, TheService, receipt_of

router = APIRouter(tags=["worker"])


async def _receipt(request: Request) -> str:
    return receipt_of(request)


Receipt = Annotated[str, Depends(_receipt)]


class OfferBody(BaseModel):
    """A campaign's terms. The worker's client computes the guarantee from the policy itself."""

    id: str
    state: State
    simulated: bool = Field(description="Whether its workers are simulated.")
    title: str
    question: str
    unit: str | None = None
    policy: dict[str, Any]
    policy_hash: str
    tasks: int = Field(description="How many tasks the campaign has.")
    block: int = Field(description="How many tasks a worker gets.")
    answers: int = Field(description="The most answers of a worker.")
    quota_left: int | None = Field(None, description="How many more workers may take part.")
    published: bool = Field(description="Whether the truths can be read by workers.")
    assignment: Assignment = Field(
        description="Whether tasks are given by need or by a hash of the worker's pseudonym."
    )

    @classmethod
    def of(cls, campaign: Campaign) -> OfferBody:
        quota = campaign.terms.quota
        left = None if quota is None else max(0, quota - campaign.counts.workers)
        return cls(**campaign_fields(campaign), quota_left=left)


class GivenTask(BaseModel):
    """One task. Its text is plain text from the requester."""

    task: str
    text: str
    image: str | None = None
    need: int | None = Field(
        None,
        description="How much reports on it are wanted: the largest first, and none at 0, because "
        "it is settled. null if a hash assigned the tasks.",
    )

    @classmethod
    def of(cls, task: Task) -> GivenTask:
        return cls(task=task.name, text=task.text, image=task.image, need=task.need)


class BlockBody(BaseModel):
    """The tasks that a worker gets, and its pseudonym in the campaign."""

    worker: str
    tasks: list[GivenTask]


class OwnReport(BaseModel):
    """One report as sent; `sealed` if it is sealed and nobody can read it."""

    task: str
    report: str | float | int


class OwnSubmission(BaseModel):
    """Reports of one submission, and its day."""

    report_id: str
    received_on: date
    reports: list[OwnReport]

    @classmethod
    def of(cls, returned: Returned) -> OwnSubmission:
        pairs = zip(returned.tasks, returned.reports, strict=True)
        return cls(
            report_id=returned.report_id,
            received_on=returned.received_on,
            reports=[OwnReport(task=task, report=report) for task, report in pairs],
        )


class OwnReportsBody(BaseModel):
    """Everything that a campaign stores of one worker."""

    worker: str
    submissions: list[OwnSubmission]


@router.get("/campaigns/{campaign_id}/offer")
def get_offer(service: TheService, campaign_id: CampaignId, invite: Bearer) -> OfferBody:
    """Show a campaign's terms to the holder of an invite."""
    return OfferBody.of(offered(service, campaign_id, invite))


@router.get("/campaigns/{campaign_id}/block")
def get_block(
    service: TheService, campaign_id: CampaignId, invite: Bearer, receipt: Receipt
) -> BlockBody:
    """List the tasks of the worker with this receipt (header Sottovoce-Receipt)."""
    block = block_for(service, campaign_id, invite, receipt)
    return BlockBody(worker=block.worker, tasks=[GivenTask.of(task) for task in block.tasks])


@router.get("/campaigns/{campaign_id}/reports")
def get_own_reports(
    service: TheService, campaign_id: CampaignId, receipt: Bearer
) -> OwnReportsBody:
    """Show everything that the campaign stores of the worker with this receipt, exactly as sent."""
    own = own_reports(service, campaign_id, receipt)
    return OwnReportsBody(
        worker=own.worker, submissions=[OwnSubmission.of(each) for each in own.submissions]
    )


class PublishedTruth(BaseModel):
    """The published truth of a task."""

    task: str
    truth: str | int | float


class PublishedTruthsBody(BaseModel):
    """All truths, in the order of the tasks."""

    truths: list[PublishedTruth]


@router.get("/campaigns/{campaign_id}/truths", response_model=PublishedTruthsBody)
def get_published_truths(service: TheService, campaign_id: CampaignId, shown: Bearer) -> Response:
    """List the truths of a campaign after its requester has published them.

    Workers can then compute their own weights, on their own devices.
    """
    truths = published_truths(service, campaign_id, shown)
    return Response(f'{{"truths":{truths}}}', media_type="application/json")


@router.delete("/campaigns/{campaign_id}/reports/{report_id}", status_code=204)
def delete_own_report(
    service: TheService, campaign_id: CampaignId, report_id: ReportId, receipt: Bearer
) -> None:
    """Delete a submission while the campaign is open. Repeating it changes nothing.

    A sealed one can be deleted until the keyholders start to check it.
    """
    erase(service, campaign_id, receipt, report_id)
