"""Live sessions as a feature of the server: their routes, their page and their background job."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from sottovoce.live.server import member_routes, requester_routes
from sottovoce.live.server.supervision import phase_supervision
from sottovoce.server.web.app import Feature
from sottovoce.server.web.page_templates import page

router = APIRouter(include_in_schema=False, tags=["pages"])


@router.api_route("/l/{session_id}", methods=["GET", "HEAD"], tags=["member"])
async def live_page(request: Request) -> Response:
    """The page behind links of live sessions: how to use them. The secret is after the #."""
    return page(request, "live.html")


FEATURE = Feature(
    api=(member_routes.router, requester_routes.router), pages=(router,), jobs=(phase_supervision,)
)
