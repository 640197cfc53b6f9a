"""Sealed campaigns as their requesters see them: links for keyholders, and how rounds go."""

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
    """A link for one keyholder, which is shown now and never again."""

    seat: int
    name: str
    link: str = Field(examples=["https://answers.example/k/k7f3q2mzab#svh_cq7Wd0m…"])


class KeyholderLinksBody(BaseModel):
    """A link for each keyholder; those that were made before no longer work."""

    links: list[KeyholderLinkBody]


class SeatBody(BaseModel):
    """One keyholder: who it is, when it was here, and what it has done."""

    seat: int
    name: str
    fingerprint: str = Field(examples=["6c69 215f 0b1c 83aa 19d2 4e77 c0de 0a3b"])
    seen_on: Day | None = Field(description="The last day (UTC) on which it asked for work.")
    is_here: bool = Field(description="Whether it asked in the last minute.")
    dealt: bool
    confirmed: int | None = Field(description="The last batch that it has confirmed.")
    opened: bool


class DroppedBody(BaseModel):
    """A contribution that failed the keyholders' checks and is in no total."""

    worker: str
    reason: str = Field(examples=["invalid"])
    words: str


class QuorumBody(BaseModel):
    """How many keyholders must open the total, and how many have."""

    needed: int
    opened: int


class RoundsBody(BaseModel):
    """How a sealed campaign gets on."""

    phase: RoundPhase
    keyholders: list[SeatBody]
    uploads: int
    waiting: int = Field(description="Contributions that are in no certified state yet.")
    checked: int = Field(description="Contributions in the last certified state.")
    dropped: list[DroppedBody]
    minimum: int = Field(description="The fewest contributions that are opened.")
    quorum: QuorumBody
    problem: str | None = Field(description="What stands in the way, if anything does.")
    state: str | None = Field(description="The hash of the last certified state.")

    @classmethod
    def of(cls, found: SealedProgress) -> Self:
        """Rounds as an answer has them."""
        return cls(
            phase=found.phase,
            keyholders=[SeatBody(**asdict(each)) for each in found.keyholders],
            uploads=found.uploads,
            waiting=found.waiting,
            checked=found.checked,
            dropped=[DroppedBody(**asdict(each), words=each.words) for each in found.dropped],
            minimum=found.minimum,
            quorum=QuorumBody(needed=found.needed, opened=found.opened),
            problem=found.problem,
            state=found.state,
        )


@router.post("/campaigns/{campaign_id}/keyholders", status_code=201)
def post_keyholders(
    request: Request, _: Requester, service: TheService, campaign_id: CampaignId
) -> KeyholderLinksBody:
    """Make a link for each keyholder of a sealed campaign; earlier links end."""
    public_url = request.app.state.settings.public_url
    links = keyholder_links(service, campaign_id, public_url=public_url)
    return KeyholderLinksBody(links=[KeyholderLinkBody(**asdict(link)) for link in links])


@router.get("/campaigns/{campaign_id}/rounds")
def get_rounds(_: Requester, service: TheService, campaign_id: CampaignId) -> RoundsBody:
    """Show how a sealed campaign gets on."""
    return RoundsBody.of(sealed_progress(service, campaign_id))


@router.post("/campaigns/{campaign_id}/rounds/open-without")
def post_open_without(_: Requester, service: TheService, campaign_id: CampaignId) -> RoundsBody:
    """Give up contributions that are not certified, and have the rest opened.

    For a closed campaign whose keyholders do not all come back, as long as none of them has
    confirmed a later state.
    """
    open_without(service, campaign_id)
    return RoundsBody.of(sealed_progress(service, campaign_id))
