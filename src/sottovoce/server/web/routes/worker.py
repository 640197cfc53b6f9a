"""What a worker is shown, and what it may take back."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from sottovoce.model import Campaign, State, Task
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
    """What a campaign asks and promises. A worker's software computes what the policy keeps."""

    id: str
    state: State
    simulated: bool = Field(description="Whether its workers are simulated: nobody is asked.")
    title: str
    question: str
    unit: str | None = None
    policy: dict[str, Any]
    policy_hash: str
    tasks: int = Field(description="How many the campaign has.")
    block: int = Field(description="How many of them a worker is given.")
    answers: int = Field(description="The most answers of a worker.")
    quota_left: int | None = Field(None, description="How many more workers may take part.")
    published: bool = Field(description="Whether the truths can be read by workers.")

    @classmethod
    def of(cls, campaign: Campaign) -> OfferBody:
        quota = campaign.terms.quota
        left = None if quota is None else max(0, quota - campaign.counts.workers)
        return cls(**campaign_fields(campaign), quota_left=left)


class GivenTask(BaseModel):
    """One question. Its text is the requester's, and plain."""

    task: str
    text: str
    image: str | None = None

    @classmethod
    def of(cls, task: Task) -> GivenTask:
        return cls(task=task.name, text=task.text, image=task.image)


class BlockBody(BaseModel):
    """The tasks a worker is given, and its name in the campaign."""

    worker: str
    tasks: list[GivenTask]


class OwnReport(BaseModel):
    """One report, as it was sent; `sealed` where it was sealed, and nobody can read it."""

    task: str
    report: str | float | int


class OwnSubmission(BaseModel):
    """Reports that came together, and the day."""

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
    """Everything a campaign has of one worker."""

    worker: str
    submissions: list[OwnSubmission]


@router.get("/campaigns/{campaign_id}/offer")
def get_offer(service: TheService, campaign_id: CampaignId, invite: Bearer) -> OfferBody:
    """What the campaign asks and promises, for whoever holds an invite."""
    return OfferBody.of(offered(service, campaign_id, invite))


@router.get("/campaigns/{campaign_id}/block")
def get_block(
    service: TheService, campaign_id: CampaignId, invite: Bearer, receipt: Receipt
) -> BlockBody:
    """The tasks that the worker with this receipt (header Sottovoce-Receipt) is given."""
    block = block_for(service, campaign_id, invite, receipt)
    return BlockBody(worker=block.worker, tasks=[GivenTask.of(task) for task in block.tasks])


@router.get("/campaigns/{campaign_id}/reports")
def get_own_reports(
    service: TheService, campaign_id: CampaignId, receipt: Bearer
) -> OwnReportsBody:
    """What the campaign has of the worker with this receipt, exactly as it was sent."""
    own = own_reports(service, campaign_id, receipt)
    return OwnReportsBody(
        worker=own.worker, submissions=[OwnSubmission.of(each) for each in own.submissions]
    )


class PublishedTruth(BaseModel):
    """What the requester found about a task."""

    task: str
    truth: str | int | float


class PublishedTruthsBody(BaseModel):
    """All truths, in the order of the tasks."""

    truths: list[PublishedTruth]


@router.get("/campaigns/{campaign_id}/truths", response_model=PublishedTruthsBody)
def get_published_truths(service: TheService, campaign_id: CampaignId, shown: Bearer) -> Response:
    """The truths of a campaign once its requester has published them.

    A worker can so tell how well it did, on its own device.
    """
    truths = published_truths(service, campaign_id, shown)
    return Response(f'{{"truths":{truths}}}', media_type="application/json")


@router.delete("/campaigns/{campaign_id}/reports/{report_id}", status_code=204)
def delete_own_report(
    service: TheService, campaign_id: CampaignId, report_id: ReportId, receipt: Bearer
) -> None:
    """Take a submission back while the campaign is open; doing it again changes nothing.

    A sealed one can be taken back until the keyholders begin to check it.
    """
    erase(service, campaign_id, receipt, report_id)
