"""Campaigns: drafted, changed, opened, closed, deleted."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from sottovoce.model import Campaign, Domain, Guarantee, State, Terms
from sottovoce.server.campaigns.drafts import change_draft, create_draft
from sottovoce.server.campaigns.guarantees import KeptGuarantees, guarantees_of
from sottovoce.server.campaigns.lifecycle import (
    close_campaign,
    delete_campaign,
    find_campaign,
    list_campaigns,
    open_campaign,
)
from sottovoce.server.campaigns.results import publish
from sottovoce.server.campaigns.sample_campaign import rehearse
from sottovoce.server.sealed.keyholders import coordinator_of
from sottovoce.server.service import Service
from sottovoce.server.web.bodies import Day, DraftBody, campaign_fields
from sottovoce.server.web.requests import CampaignId, Requester, RoomyRoute, TheService

router = APIRouter(tags=["campaigns"], route_class=RoomyRoute)


class HeldBody(BaseModel):
    """What all reports of a worker betray at most, for one unit."""

    epsilon: float | None = Field(description="null where no finite epsilon holds.")
    delta: float
    exact: bool = Field(description="Whether no smaller epsilon would do.")
    answers: int = Field(description="For a worker with up to so many answers.")

    @classmethod
    def of(cls, held: Guarantee, answers: int) -> Self:
        """JSON has no infinity."""
        epsilon = held.epsilon if math.isfinite(held.epsilon) else None
        return cls(epsilon=epsilon, delta=held.delta, exact=held.exact, answers=answers)


class GuaranteeBody(BaseModel):
    """What a campaign promises. A worker's software computes it from the policy itself."""

    per_answer: HeldBody
    per_worker: HeldBody
    odds: str | None = Field(
        description="What becomes of 100 answers.",
        examples=["Of 100 workers with the same answer 73 send it and 27 send another label."],
    )
    warning: str | None = Field(description="Said where little or nothing is hidden.")

    @classmethod
    def of(cls, kept: KeptGuarantees, answers: int) -> Self:
        """What a policy keeps for a worker with up to so many answers."""
        return cls(
            per_answer=HeldBody.of(kept.per_answer, answers),
            per_worker=HeldBody.of(kept.per_worker, answers),
            odds=kept.odds,
            warning=kept.warning,
        )


class CampaignBody(BaseModel):
    """A campaign as its requester sees it. Title, question and unit are plain text."""

    id: str = Field(examples=["k7f3q2mzab"])
    state: State
    simulated: bool = Field(description="Whether its workers are simulated: nobody is asked.")
    title: str
    question: str
    unit: str | None
    domain: dict[str, Any] = Field(examples=[{"kind": "categorical", "labels": ["no", "yes"]}])
    policy: dict[str, Any] = Field(description="The policy's document, as clients pin it.")
    policy_hash: str
    guarantee: GuaranteeBody
    answers: int = Field(description="The most answers of a worker.")
    block: int = Field(description="How many tasks a worker is given.")
    tasks: int
    quota: int | None
    closes_on: Day | None
    workers: int
    submissions: int
    reports: int
    opened_on: Day | None
    closed_on: Day | None
    sealed: bool = Field(description="Whether answers are sealed, and only totals opened.")
    published: bool = Field(description="Whether workers are shown the truths.")

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """A campaign, with what its policy keeps; may take seconds at first sight of a policy."""
        terms, counts = campaign.terms, campaign.counts
        return cls(
            **campaign_fields(campaign),
            domain=_domain(terms.policy.domain),
            guarantee=GuaranteeBody.of(guarantees_of(terms.policy), terms.answers),
            quota=terms.quota,
            closes_on=terms.closes_on,
            workers=counts.workers,
            submissions=counts.submissions,
            reports=counts.reports,
            opened_on=campaign.opened_on,
            closed_on=campaign.closed_on,
            sealed=terms.policy.sealed,
        )


class CampaignsBody(BaseModel):
    """All campaigns, the newest first."""

    campaigns: list[CampaignBody]


@router.post("/campaigns", status_code=201)
def post_campaign(_: Requester, service: TheService, body: DraftBody) -> CampaignBody:
    """Draft a campaign. It takes no reports until it is opened."""
    return CampaignBody.of(create_draft(service, _terms(service, body), body.made_tasks()))


@router.post("/sample", status_code=201)
def post_sample(_: Requester, service: TheService) -> CampaignBody:
    """Make a sample campaign. It is open, and simulated workers report in the next seconds.

    It takes no reports of people and no invites. What leaves it is stamped as simulated.
    """
    return CampaignBody.of(rehearse(service))


@router.get("/campaigns")
def get_campaigns(_: Requester, service: TheService) -> CampaignsBody:
    """List all campaigns, the newest first."""
    return CampaignsBody(campaigns=[CampaignBody.of(each) for each in list_campaigns(service)])


@router.get("/campaigns/{campaign_id}")
def get_campaign(_: Requester, service: TheService, campaign_id: CampaignId) -> CampaignBody:
    """Show a campaign."""
    return CampaignBody.of(find_campaign(service, campaign_id))


@router.put("/campaigns/{campaign_id}")
def put_campaign(
    _: Requester, service: TheService, campaign_id: CampaignId, body: DraftBody
) -> CampaignBody:
    """Give a draft other terms; its tasks stay unless others are given."""
    find_campaign(service, campaign_id)  # before a policy is made for nothing
    terms = _terms(service, body)
    return CampaignBody.of(change_draft(service, campaign_id, terms, body.made_tasks()))


@router.delete("/campaigns/{campaign_id}", status_code=204)
def remove_campaign(_: Requester, service: TheService, campaign_id: CampaignId) -> None:
    """Delete a campaign with its tasks, invites, reports and results, in whatever state it is."""
    delete_campaign(service, campaign_id)


@router.post("/campaigns/{campaign_id}/open")
def post_open(_: Requester, service: TheService, campaign_id: CampaignId) -> CampaignBody:
    """Take reports from now on; what the campaign asks and promises no longer changes."""
    return CampaignBody.of(open_campaign(service, campaign_id))


@router.post("/campaigns/{campaign_id}/close")
def post_close(_: Requester, service: TheService, campaign_id: CampaignId) -> CampaignBody:
    """Take no report from now on. A closed campaign does not open again."""
    return CampaignBody.of(close_campaign(service, campaign_id))


@router.post("/campaigns/{campaign_id}/publish")
def post_publish(_: Requester, service: TheService, campaign_id: CampaignId) -> CampaignBody:
    """Show the truths of a closed campaign to its workers, for good."""
    return CampaignBody.of(publish(service, campaign_id))


def _terms(service: Service, body: DraftBody) -> Terms:
    return body.terms(partial(coordinator_of, service))


def _domain(domain: Domain) -> dict[str, Any]:
    """A domain as a request has it: numbers as numbers."""
    if not domain.is_numeric:
        return {"kind": str(domain.kind), "labels": list(domain.labels)}
    step = {} if domain.step is None else {"step": domain.step}
    return {"kind": str(domain.kind), "low": domain.low, "high": domain.high, **step}
