"""Pages for people. They know nothing of reports."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from sottovoce.campaign.guaranteeing import kept_by
from sottovoce.model import State
from sottovoce.model.campaign import CAMPAIGN_ID
from sottovoce.stores.database.campaigns import find_campaign
from sottovoce.web.requests import TheService
from sottovoce.web.templating import page

__all__ = ["router"]

router = APIRouter(include_in_schema=False, tags=["pages"])

BOTH = ["GET", "HEAD"]


@router.api_route("/", methods=BOTH)
async def home(request: Request) -> Response:
    """What runs here."""
    return page(request, "home.html")


@router.api_route("/setup", methods=BOTH)
async def setup(request: Request) -> Response:
    """Where the one-time link leads. Its secret follows the #, and browsers keep that."""
    return page(request, "setup.html")


@router.api_route("/c/{campaign_id}", methods=BOTH, tags=["worker"])
def campaign(request: Request, service: TheService, campaign_id: str) -> Response:
    """Where invites lead: what is asked, what is promised, and how to answer."""
    found = None
    if CAMPAIGN_ID.fullmatch(campaign_id):
        with service.database.reading() as connection:
            found = find_campaign(connection, campaign_id)
    if found is None or found.campaign.state is State.DRAFT:
        return page(request, "no_campaign.html", 404)
    terms = found.campaign.terms
    return page(
        request,
        "campaign.html",
        terms=terms,
        block=found.campaign.block,
        tasks=found.campaign.tasks,
        is_open=found.campaign.takes_reports(service.today()),
        kept=kept_by(terms),
        policy_hash=terms.policy.hash,
    )
