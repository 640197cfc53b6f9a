"""Sealed campaigns for requesters: links for keyholders, and the progress of rounds."""

from __future__ import annotations

from dataclasses import asdict
from typing import Self

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from sottovoce.server.sealed.keyholders import keyholder_links
from sottovoce.server.sealed.progress import (
    RoundPhase,
    SealedProgress,
    open_without,
    sealed_progress,
)
from sottovoce.server.web.bodies import Day
from sottovoce.server.web.requests import CampaignId, Requester, TheService

router = APIRouter(tags=["sealed"])


class KeyholderLinkBody(BaseModel):
    """A link for one keyholder. It is shown only once."""

    seat: int
    name: str
    link: str = Field(examples=["https://answers.example/k/k7f3q2mzab#svh_cq7Wd0m…"])


class KeyholderLinksBody(BaseModel):
    """A link for each keyholder; earlier links no longer work."""

    links: list[KeyholderLinkBody]


class SeatBody(BaseModel):
    """One keyholder: its name, when it was last online, and its progress."""

    seat: int
    name: str
    fingerprint: str = Field(examples=["6c69 215f 0b1c 83aa 19d2 4e77 c0de 0a3b"])
    seen_on: Day | None = Field(description="The last day (UTC) on which it asked for work.")
    is_here: bool = Field(description="Whether it asked for work in the last minute.")
    dealt: bool
    confirmed: int | None = Field(description="The last batch that it confirmed.")
    opened: bool


class DroppedBody(BaseModel):
    """A contribution that failed the keyholders' checks and is in no total."""

    worker: str
    reason: str = Field(examples=["invalid"])
    words: str


class QuorumBody(BaseModel):
    """How many keyholders are needed to open the total, and how many have opened it."""

    needed: int
    opened: int


class RoundsBody(BaseModel):
    """The progress of a sealed campaign."""

    phase: RoundPhase
    keyholders: list[SeatBody]
    uploads: int
    waiting: int = Field(description="Contributions that are not in a certified state yet.")
    checked: int = Field(description="Contributions in the last certified state.")
    dropped: list[DroppedBody]
    minimum: int = Field(description="The fewest contributions in an opened total.")
    quorum: QuorumBody
    problem: str | None = Field(description="The obstacle, if there is one.")
    state: str | None = Field(description="The hash of the last certified state.")

    @classmethod
    def of(cls, found: SealedProgress) -> Self:
        """The progress as a response."""
        dropped = [DroppedBody(**asdict(each), words=each.words) for each in found.dropped]
        quorum = QuorumBody(needed=found.needed, opened=found.opened)
        return cls(**{**asdict(found), "dropped": dropped, "quorum": quorum})


@router.post("/campaigns/{campaign_id}/keyholders", status_code=201)
def post_keyholders(
    request: Request, _: Requester, service: TheService, campaign_id: CampaignId
) -> KeyholderLinksBody:
    """Make a link for each keyholder of a sealed campaign; earlier links stop working."""
    public_url = request.app.state.settings.public_url
    links = keyholder_links(service, campaign_id, public_url=public_url)
    return KeyholderLinksBody(links=[KeyholderLinkBody(**asdict(link)) for link in links])


@router.get("/campaigns/{campaign_id}/rounds")
def get_rounds(_: Requester, service: TheService, campaign_id: CampaignId) -> RoundsBody:
    """Show the progress of a sealed campaign."""
    return RoundsBody.of(sealed_progress(service, campaign_id))


@router.post("/campaigns/{campaign_id}/rounds/open-without")
def post_open_without(_: Requester, service: TheService, campaign_id: CampaignId) -> RoundsBody:
    """Discard contributions that are not certified, and have the rest opened.

    For a closed campaign with keyholders who do not come back, as long as none of them has
    confirmed a later state.
    """
    open_without(service, campaign_id)
    return RoundsBody.of(sealed_progress(service, campaign_id))
