"""The requester's pages. They are the same for everybody: data comes later, with the token."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from sottovoce.web.templating import page

__all__ = ["router"]

router = APIRouter(include_in_schema=False, tags=["pages"])

BOTH = ["GET", "HEAD"]


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
