"""Campaign routes: create, change, open, close and delete."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from sottovoce.mechanisms.affordability import Affordability
from sottovoce.model import Campaign, Guarantee, State, Terms
from sottovoce.model.budget import DEFAULT_BUDGET
from sottovoce.model.campaign import Assignment
from sottovoce.server.campaigns.drafts import change_draft, create_draft
from sottovoce.server.campaigns.guarantees import KeptGuarantees, devices_of, guarantees_of
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
    """The largest privacy loss of a worker's reports, for one unit."""

    epsilon: float | None = Field(description="null if no finite epsilon holds.")
    delta: float
    exact: bool = Field(description="Whether epsilon is the smallest possible.")
    answers: int = Field(description="The most answers of a worker that it covers.")

    @classmethod
    def of(cls, held: Guarantee, answers: int) -> Self:
        """A guarantee as JSON, which has no infinity."""
        epsilon = held.epsilon if math.isfinite(held.epsilon) else None
        return cls(epsilon=epsilon, delta=held.delta, exact=held.exact, answers=answers)


class GuaranteeBody(BaseModel):
    """A campaign's guarantee. Workers' clients compute it from the policy themselves."""

    per_answer: HeldBody
    per_worker: HeldBody
    odds: str | None = Field(
        description="The odds for 100 answers.",
        examples=["Of 100 workers with the same answer 73 send it and 27 send the other label."],
    )
    warning: str | None = Field(description="Given if little or nothing is hidden.")

    @classmethod
    def of(cls, kept: KeptGuarantees, answers: int) -> Self:
        """A policy's guarantee for a worker with up to `answers` answers."""
        return cls(
            per_answer=HeldBody.of(kept.per_answer, answers),
            per_worker=HeldBody.of(kept.per_worker, answers),
            odds=kept.odds,
            warning=kept.warning,
        )


class DevicesBody(BaseModel):
    """The behaviour of workers' devices that have spent nothing of their default budget."""

    budget: float | None = DEFAULT_BUDGET.worker_epsilon
    answered: int = Field(description="How many of its tasks a device answers; 0: it refuses.")
    most: int = Field(description="Tasks of which it would answer all; 0: no number is sure to.")
    workers: int | None = Field(
        description="How many workers with `most` tasks each send as many reports as planned."
    )
    warning: str | None = Field(description="Given if not all are answered: what to change.")

    @classmethod
    def of(cls, found: Affordability, workers: int | None) -> Self:
        """The behaviour of devices in a campaign for this number of workers, if it is known."""
        crowd = found.workers_for(workers) if workers else None
        return cls(answered=found.answered, most=found.most, workers=crowd, warning=found.warning)


class CampaignBody(BaseModel):
    """A campaign as its requester sees it. Title, question and unit are plain text."""

    id: str = Field(examples=["k7f3q2mzab"])
    state: State
    simulated: bool = Field(description="Whether its workers are simulated.")
    title: str
    question: str
    unit: str | None
    domain: dict[str, Any] = Field(examples=[{"kind": "categorical", "labels": ["no", "yes"]}])
    policy: dict[str, Any] = Field(description="The policy's document, which clients pin.")
    policy_hash: str
    guarantee: GuaranteeBody
    devices: DevicesBody | None = Field(description="null without tasks, or if simulated.")
    answers: int = Field(description="The most answers of a worker.")
    block: int = Field(description="How many tasks a worker gets.")
    tasks: int
    quota: int | None
    closes_on: Day | None
    workers: int
    submissions: int
    reports: int
    cut_short: int = Field(
        description="How many workers' devices said that their budget does not cover all tasks."
    )
    opened_on: Day | None
    closed_on: Day | None
    sealed: bool = Field(description="Whether answers are sealed and only totals are opened.")
    published: bool = Field(description="Whether workers can read the truths.")
    assignment: Assignment = Field(
        description="Whether tasks are given by need or by a hash of the worker's pseudonym."
    )

    @classmethod
    def of(cls, campaign: Campaign) -> Self:
        """A campaign with its guarantee; may take seconds for a new policy."""
        terms, counts = campaign.terms, campaign.counts
        return cls(
            **campaign_fields(campaign),
            domain=terms.policy.domain.as_json(),
            guarantee=GuaranteeBody.of(guarantees_of(terms.policy), terms.answers),
            devices=_devices(campaign),
            quota=terms.quota,
            closes_on=terms.closes_on,
            workers=counts.workers,
            submissions=counts.submissions,
            reports=counts.reports,
            cut_short=counts.cut_short,
            opened_on=campaign.opened_on,
            closed_on=campaign.closed_on,
            sealed=terms.policy.sealed,
        )


class CampaignsBody(BaseModel):
    """All campaigns, the newest first."""

    campaigns: list[CampaignBody]


@router.post("/campaigns", status_code=201)
def post_campaign(_: Requester, service: TheService, body: DraftBody) -> CampaignBody:
    """Create a draft campaign. It accepts no reports until it is opened."""
    return CampaignBody.of(create_draft(service, _terms(service, body), body.made_tasks()))


@router.post("/sample", status_code=201)
def post_sample(_: Requester, service: TheService) -> CampaignBody:
    """Make a sample campaign. It is open, and simulated workers report within seconds.

    It accepts no real reports and no invites. Its results and exports are marked as simulated.
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
    """Change the terms of a draft; its tasks stay unless new ones are given."""
    find_campaign(service, campaign_id)  # before a policy is calibrated in vain
    terms = _terms(service, body)
    return CampaignBody.of(change_draft(service, campaign_id, terms, body.made_tasks()))


@router.delete("/campaigns/{campaign_id}", status_code=204)
def remove_campaign(_: Requester, service: TheService, campaign_id: CampaignId) -> None:
    """Delete a campaign with its tasks, invites, reports and results, in any state."""
    delete_campaign(service, campaign_id)


@router.post("/campaigns/{campaign_id}/open")
def post_open(
    _: Requester, service: TheService, campaign_id: CampaignId, over_budget: bool = False
) -> CampaignBody:
    """Open a campaign: it accepts reports, and its terms can no longer change.

    If every device would refuse it at its default budget, it opens with `over_budget=true` only.
    """
    return CampaignBody.of(open_campaign(service, campaign_id, over_budget=over_budget))


@router.post("/campaigns/{campaign_id}/close")
def post_close(_: Requester, service: TheService, campaign_id: CampaignId) -> CampaignBody:
    """Close a campaign: it accepts no more reports. It cannot be opened again."""
    return CampaignBody.of(close_campaign(service, campaign_id))


@router.post("/campaigns/{campaign_id}/publish")
def post_publish(_: Requester, service: TheService, campaign_id: CampaignId) -> CampaignBody:
    """Publish the truths of a closed campaign to its workers. This cannot be undone."""
    return CampaignBody.of(publish(service, campaign_id))


def _terms(service: Service, body: DraftBody) -> Terms:
    return body.terms(partial(coordinator_of, service))


def _devices(campaign: Campaign) -> DevicesBody | None:
    if campaign.simulated or not campaign.tasks:
        return None
    terms = campaign.terms
    return DevicesBody.of(devices_of(terms.policy, campaign.block), terms.quota)
