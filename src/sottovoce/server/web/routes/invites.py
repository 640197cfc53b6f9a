"""Links for workers."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sottovoce.errors import Reason, Refused
from sottovoce.server.campaigns.invites import (
    MOST_CODES,
    MOST_INVITES,
    InviteKind,
    count_invites,
    invite,
    qr_code,
    revoke_invites,
)
from sottovoce.server.web.bodies import Asked, Day
from sottovoce.server.web.requests import BoundedRoute, CampaignId, Requester, TheService

router = APIRouter(tags=["campaigns"], route_class=BoundedRoute)


class InvitesAskedBody(Asked):
    """The kind and number of links to make."""

    kind: Literal["open", "single"] = Field(
        description="`open`: one link for any number of workers. `single`: each link is for one "
        "worker."
    )
    count: int = Field(1, ge=1, le=MOST_INVITES, description="Open links are made one at a time.")
    expires_on: Day | None = Field(
        None, description="The first day (UTC) on which the links no longer work."
    )
    codes: bool = Field(
        False, description=f"Whether to make QR codes too, of up to {MOST_CODES:,} links at once."
    )


class CodeBody(BaseModel):
    """A QR code: the modules per side, and the dark ones as an SVG path in module units.

    Leave a light border of four modules around it.
    """

    size: int = Field(examples=[41])
    path: str = Field(examples=["M0 0h7v1h-7z…"])


class LinksBody(BaseModel):
    """New links. They are shown only once: the server stores hashes of their secrets."""

    links: list[str] = Field(
        examples=[["https://answers.example/c/k7f3q2mzab#svi_cq7Wd0m…"]],
    )
    codes: list[CodeBody] | None = Field(
        None, description="The links as QR codes, in the same order; null unless requested."
    )


class InviteCountsBody(BaseModel):
    """How many links there are."""

    open: int
    single: int = Field(description="Links for one worker, including used ones.")
    used: int = Field(description="How many links for one worker are used.")


class RevokedBody(BaseModel):
    """How many links no longer work."""

    revoked: int


@router.post("/campaigns/{campaign_id}/invites", status_code=201)
def post_invites(
    request: Request,
    _: Requester,
    service: TheService,
    campaign_id: CampaignId,
    body: InvitesAskedBody,
) -> LinksBody:
    """Make links to a draft or an open campaign."""
    if body.codes and body.count > MOST_CODES:
        raise Refused(
            Reason.MALFORMED,
            f"at most {MOST_CODES:,} links with QR codes can be made at once",
            field="count",
        )
    links = invite(
        service,
        campaign_id,
        InviteKind(body.kind),
        public_url=request.app.state.settings.public_url,
        count=body.count,
        expires_on=body.expires_on,
    )
    codes = [CodeBody(**asdict(qr_code(link))) for link in links] if body.codes else None
    return LinksBody(links=links, codes=codes)


@router.get("/campaigns/{campaign_id}/invites")
def get_invites(_: Requester, service: TheService, campaign_id: CampaignId) -> InviteCountsBody:
    """Count the links to a campaign."""
    return InviteCountsBody(**asdict(count_invites(service, campaign_id)))


@router.delete("/campaigns/{campaign_id}/invites")
def remove_invites(_: Requester, service: TheService, campaign_id: CampaignId) -> RevokedBody:
    """Revoke all links to a campaign, including used ones. Stored reports are kept."""
    return RevokedBody(revoked=revoke_invites(service, campaign_id))
