"""The pages that invites and other links lead to. They know nothing of reports."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from sottovoce.model import State
from sottovoce.model.campaign import CAMPAIGN_ID
from sottovoce.server.database.campaigns import find_campaign
from sottovoce.web.assets import PAGE, STATIC
from sottovoce.web.requests import TheService
from sottovoce.web.templating import page

__all__ = ["router"]

router = APIRouter(include_in_schema=False, tags=["pages"])

BOTH = ["GET", "HEAD"]


@router.api_route("/k/{campaign_id}", methods=BOTH, tags=["keyholder"])
async def keyholder(request: Request) -> Response:
    """Where keyholders' links lead: what to do with them. The secret follows the #."""
    return page(request, "keyholder.html")


@router.api_route("/c/{campaign_id}", methods=BOTH, tags=["worker"])
def campaign(request: Request, service: TheService, campaign_id: str) -> Response:
    """Where invites lead: a page whose bytes are the same everywhere, so that it can be checked."""
    found = None
    if CAMPAIGN_ID.fullmatch(campaign_id):
        with service.database.reading() as connection:
            found = find_campaign(connection, campaign_id)
    if found is None or found.campaign.state is State.DRAFT:
        return page(request, "no_campaign.html", 404)
    return FileResponse(STATIC / PAGE, media_type="text/html")
