"""The pages that invites and other links lead to. They know nothing of reports.

The requester's pages. They are the same for everybody: data comes later, with the token.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from sottovoce.model import State
from sottovoce.model.campaign import CAMPAIGN_ID
from sottovoce.server.database.campaigns import find_campaign
from sottovoce.server.web.page_templates import page
from sottovoce.server.web.requests import TheService
from sottovoce.server.web.worker_page import PAGE, STATIC

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


@router.api_route("/", methods=BOTH)
async def home(request: Request) -> Response:
    """What runs here, and where one signs in."""
    return page(request, "home.html")


@router.api_route("/setup", methods=BOTH)
async def setup(request: Request) -> Response:
    """Where the one-time link leads. Its secret follows the #, and browsers keep that."""
    return page(request, "setup.html")


@router.api_route("/campaigns", methods=BOTH)
async def campaigns(request: Request) -> Response:
    """All campaigns."""
    return page(request, "campaigns.html")


@router.api_route("/campaigns/new", methods=BOTH)
async def drafting(request: Request) -> Response:
    """Where a campaign is drafted; what follows the # is a draft to go on with."""
    return page(request, "drafting.html")


@router.api_route("/campaigns/{campaign_id}", methods=BOTH)
async def dashboard(request: Request) -> Response:
    """How a campaign is doing; which one, the page reads in its own address."""
    return page(request, "dashboard.html")


@router.api_route("/campaigns/{campaign_id}/sheet", methods=BOTH)
async def sheet(request: Request) -> Response:
    """Cards with invites, to print."""
    return page(request, "sheet.html")


@router.api_route("/lab", methods=BOTH)
async def lab(request: Request) -> Response:
    """What accuracy a guarantee costs, for a campaign that nobody has begun."""
    return page(request, "lab.html")
