"""Why reports were refused."""

from __future__ import annotations

from typing import Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from sottovoce.campaign.rejecting import Rejected, list_rejections
from sottovoce.errors import Reason
from sottovoce.web.requests import CampaignId, Requester, TheService

__all__ = ["router"]

router = APIRouter(tags=["results"])


class RejectionBody(BaseModel):
    """One reason, for programs and for people, and how many submissions were refused for it."""

    reason: Reason
    words: str = Field(examples=["with an invite that had expired"])
    count: int

    @classmethod
    def of(cls, rejected: Rejected) -> Self:
        """What was counted, as an answer has it."""
        return cls(reason=rejected.reason, words=rejected.words, count=rejected.count)


class RejectionsBody(BaseModel):
    """Every reason that was given, the most frequent first."""

    rejections: list[RejectionBody]
    total: int


@router.get("/campaigns/{campaign_id}/rejections")
def get_rejections(_: Requester, service: TheService, campaign_id: CampaignId) -> RejectionsBody:
    """How many submissions were refused, by reason. Counts come a few seconds late.

    Nothing else of a refused submission is kept: not who sent it, when, or what was in it.
    """
    found = list_rejections(service, campaign_id)
    return RejectionsBody(
        rejections=[RejectionBody.of(one) for one in found], total=sum(one.count for one in found)
    )
