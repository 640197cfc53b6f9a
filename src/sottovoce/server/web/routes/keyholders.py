"""Keyholders' routes: work, batches and signed messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from sottovoce.errors import Reason, Refused
from sottovoce.model import State
from sottovoce.securesum.committee.messages import WorkKind
from sottovoce.server.database.campaigns import the_campaign
from sottovoce.server.sealed.keyholders import AuthenticatedKeyholder, authenticated_keyholder
from sottovoce.server.sealed.mailbox import batch, closed, largest_message, next_work, receive
from sottovoce.server.sealed.state import KeyholderWork
from sottovoce.server.web.requests import (
    JSON,
    Bearer,
    CampaignId,
    TheService,
    bounded_body,
    kind_of,
    long_poll,
    replayed_response,
)

router = APIRouter(tags=["keyholder"])

MOST_SECONDS = 60
LOOK = 1.0
"""Seconds between two checks for messages that other servers on the same database have stored."""


class CommitteeBody(BaseModel):
    """A campaign's data for a keyholder, which computes everything else itself."""

    campaign: str
    policy: dict[str, Any]
    policy_hash: str
    tasks: list[str] = Field(description="The names of all tasks, in their order.")
    seat: int
    state: State


class WorkBody(BaseModel):
    """A keyholder's next step."""

    work: WorkKind
    number: int | None = Field(description="The batch of this step, or null.")


class EnvelopeBody(BaseModel):
    """A signed message: canonical JSON as text, and an Ed25519 signature over it."""

    signature: str
    text: str


class DealtBody(EnvelopeBody):
    """One keyholder's share of a deal or contribution, sealed to it."""

    share: str


class BatchBody(BaseModel):
    """A batch for one keyholder; batch 0 holds the deals."""

    propose: EnvelopeBody
    items: list[DealtBody]
    checks: list[EnvelopeBody]
    confirms: list[EnvelopeBody]


class ClosedBody(BaseModel):
    """The state that the server asks to open, with all keyholders' confirmations."""

    close: EnvelopeBody
    confirms: list[EnvelopeBody]


class StoredBody(BaseModel):
    """The message is stored durably."""

    replayed: bool


async def _keyholder(
    service: TheService, campaign_id: CampaignId, credential: Bearer
) -> AuthenticatedKeyholder:
    return await run_in_threadpool(authenticated_keyholder, service, campaign_id, credential)


TheSeat = Annotated[AuthenticatedKeyholder, Depends(_keyholder)]
Number = Annotated[int, Path(ge=0, le=1 << 30)]
Wait = Annotated[
    int, Query(ge=0, le=MOST_SECONDS, description="Seconds to wait for work if there is none.")
]


@router.get("/campaigns/{campaign_id}/sealed")
def get_committee(service: TheService, campaign_id: CampaignId, seat: TheSeat) -> CommitteeBody:
    """Show a keyholder its campaign."""
    admission = seat.admission
    with service.database.reading() as connection:
        state = the_campaign(connection, campaign_id).campaign.state
    policy = admission.session.policy
    return CommitteeBody(
        campaign=campaign_id,
        policy=policy.as_json(),
        policy_hash=policy.hash,
        tasks=list(admission.names),
        seat=seat.seat,
        state=state,
    )


@router.get("/campaigns/{campaign_id}/sealed/next")
async def get_next(
    service: TheService, campaign_id: CampaignId, seat: TheSeat, wait: Wait = 0
) -> WorkBody:
    """Tell a keyholder its next step; wait for one if requested."""

    def asked() -> KeyholderWork | None:
        work = next_work(service, seat)
        return None if work.kind is WorkKind.WAIT else work

    work = await long_poll(service.attendance, campaign_id, wait, LOOK, asked)
    if work is None:
        return WorkBody(work=WorkKind.WAIT, number=None)
    return WorkBody(work=work.kind, number=work.number)


@router.get("/campaigns/{campaign_id}/sealed/batches/{number}", response_model=BatchBody)
def get_batch(
    service: TheService, campaign_id: CampaignId, seat: TheSeat, number: Number
) -> Response:
    """Send a keyholder a batch, with its own share of each contribution."""
    found = batch(service, seat, number)
    return _json(
        propose=found.propose,
        items=_listed(found.items),
        checks=_listed(found.checks),
        confirms=_listed(found.confirms),
    )


@router.get("/campaigns/{campaign_id}/sealed/close", response_model=ClosedBody)
def get_close(service: TheService, campaign_id: CampaignId, seat: TheSeat) -> Response:
    """Send a keyholder the state to open, once the campaign is closed and checked."""
    found = closed(service, seat)
    return _json(close=found.close, confirms=_listed(found.confirms))


@router.post(
    "/campaigns/{campaign_id}/sealed/messages",
    status_code=201,
    response_model=StoredBody,
    responses={200: {"model": StoredBody, "description": "Stored before."}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {JSON: {"schema": {"$ref": "#/components/schemas/Message"}}},
        }
    },
)
async def post_message(
    request: Request, service: TheService, campaign_id: CampaignId, seat: TheSeat
) -> Response:
    """Store a keyholder's message: 201; 200 if it was stored before; 409 if another one was."""
    if kind_of(request, unsaid=JSON) != JSON:
        raise Refused(Reason.UNSUPPORTED, f"send the message as {JSON}")
    content = await bounded_body(request, largest_message(seat.admission.session))
    replayed = await run_in_threadpool(receive, service, seat, content)
    return replayed_response(replayed)


def _listed(contents: Iterable[bytes]) -> bytes:
    return b"[%b]" % b",".join(contents)


def _json(**fields: bytes) -> Response:
    """A JSON object of fields that are already JSON, byte for byte as signed."""
    content = b",".join(b'"%b":%b' % (name.encode(), text) for name, text in fields.items())
    return Response(b"{%b}" % content, media_type=JSON)
