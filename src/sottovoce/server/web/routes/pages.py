"""Pages for invites, other links, and requesters. They contain no reports."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse

from sottovoce.model import State
from sottovoce.model.campaign import CAMPAIGN_ID
from sottovoce.server.database.campaigns import find_campaign
from sottovoce.server.web.page_templates import page
from sottovoce.server.web.requests import TheService
from sottovoce.server.web.worker_page import PAGE, STATIC

router = APIRouter(include_in_schema=False, tags=["pages"])

BOTH = ["GET", "HEAD"]


@router.api_route("/k/{campaign_id}", methods=BOTH, tags=["keyholder"])
async def keyholder(request: Request) -> Response:
    """The page behind keyholders' links: how to use them. The secret is after the #."""
    return page(request, "keyholder.html")


@router.api_route("/c/{campaign_id}", methods=BOTH, tags=["worker"])
def campaign(request: Request, service: TheService, campaign_id: str) -> Response:
    """The page behind invites. Its bytes are the same everywhere, so that it can be verified."""
    found = None
    if CAMPAIGN_ID.fullmatch(campaign_id):
        with service.database.reading() as connection:
            found = find_campaign(connection, campaign_id)
    if found is None or found.campaign.state is State.DRAFT:
        return page(request, "no_campaign.html", 404)
    return FileResponse(STATIC / PAGE, media_type="text/html")


PAGES = {
    "/": "home.html",
    "/setup": "setup.html",  # the one-time secret is after the #, which browsers do not send
    "/campaigns": "campaigns.html",
    "/campaigns/new": "drafting.html",  # the part after the # is a draft to continue
    "/campaigns/{campaign_id}": "dashboard.html",  # the page reads its own address
    "/campaigns/{campaign_id}/sheet": "sheet.html",
    "/lab": "lab.html",
}
"""The requester's pages. They are the same for everyone; data is fetched with the token."""


def _shows(template: str) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        return page(request, template)

    return show


for _path, _template in PAGES.items():
    router.add_api_route(_path, _shows(_template), methods=BOTH)
