"""Live session routes for workers and the dealer."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool

from sottovoce.errors import Reason, Refused
from sottovoce.live.server.exchange import agreed, largest_reply, receive, take_deal, turn
from sottovoce.live.server.roster import check_dealer, check_worker, join, offered, seated
from sottovoce.securesum.em.terms import Mode
from sottovoce.securesum.star.terms import Suite
from sottovoce.server.database.live_sessions import AuthenticatedMember, LiveState
from sottovoce.server.web.bodies import Asked
from sottovoce.server.web.problems import malformed
from sottovoce.server.web.requests import (
    JSON,
    LARGEST,
    Bearer,
    CampaignId,
    TheService,
    bounded_body,
    check_is_json,
    kind_of,
    long_poll,
    parsed_json,
    replayed_response,
)

Body = TypeVar("Body", bound=Asked)

router = APIRouter(tags=["member"])

MOST_SECONDS = 60
LOOK = 0.5
"""Seconds between two checks of the clock and of other servers' events."""

BYTES = "application/octet-stream"
CONTENT: dict[str, Any] = {BYTES: {"schema": {"type": "string", "format": "binary"}}}
SHORT = 64 << 10


SessionId = CampaignId


class OfferBody(BaseModel):
    """The offer that a member agrees to before joining."""

    id: str
    state: LiveState
    joined: int
    coordinator: str = Field(description="The server's signing key, in base64.")
    title: str
    tasks: list[str]
    labels: list[str]
    suite: Suite
    mode: Mode
    workers: int
    scale: int | None
    rounds: int
    patience: float
    threshold: int | None
    minimum: int | None
    epsilon: float | None
    delta: float | None
    weighted_rounds: int | None
    bits: int | None
    s: int | None
    dealer: dict[str, str] | None = Field(description="The dealer's name and public keys.")


class JoinAskedBody(Asked):
    """A worker's public keys for this session, each of 32 bytes in URL-safe base64."""

    signing: str = Field(min_length=43, max_length=43)
    sealing: str = Field(min_length=43, max_length=43)


class JoinedBody(BaseModel):
    """A worker's number, counted from 1 in the order of joining."""

    number: int


class DealAskedBody(Asked):
    """A key, published and sealed by its dealer."""

    public: str = Field(description="The exact bytes of the signed document.")
    shares: list[str] = Field(
        description="Sealed shares in base64: the workers' by number, then the server's."
    )


class DealtKeyBody(BaseModel):
    """The dealer's signed document, and the worker's own sealed share."""

    public: str
    share: str


class AgreedBody(BaseModel):
    """The fixed terms of a session."""

    terms: dict[str, Any]
    sealing: str | None = Field(
        description="For the dealer: the key to which the server's share must be sealed."
    )
    deal: DealtKeyBody | None


class TakenBody(BaseModel):
    """The message is stored durably."""

    replayed: bool


async def _seat(
    service: TheService, session_id: SessionId, credential: Bearer
) -> AuthenticatedMember:
    return await run_in_threadpool(seated, service, session_id, credential)


TheMember = Annotated[AuthenticatedMember, Depends(_seat)]
Wait = Annotated[
    int, Query(ge=0, le=MOST_SECONDS, description="Seconds to wait if there is nothing yet.")
]


def _body_of(model: type[BaseModel]) -> dict[str, Any]:
    content = {JSON: {"schema": model.model_json_schema()}}
    return {"requestBody": {"required": True, "content": content}}


def _taken(words: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"model": TakenBody, "description": words}}


@router.get("/live/{session_id}/offer")
def get_live_offer(service: TheService, session_id: SessionId, credential: Bearer) -> OfferBody:
    """Show a member the session's offer."""
    return OfferBody.model_validate(offered(service, session_id, credential))


@router.post(
    "/live/{session_id}/join",
    status_code=201,
    response_model=JoinedBody,
    responses={200: {"model": JoinedBody, "description": "Joined before, with the same keys."}},
    openapi_extra=_body_of(JoinAskedBody),
)
async def post_join(
    request: Request,
    service: TheService,
    session_id: SessionId,
    credential: Bearer,
    member: TheMember,
) -> Response:
    """Join a live session with fresh keys. A link works once; the last worker to join starts it."""
    check_worker(member)
    body = await _read(request, JoinAskedBody, SHORT)
    found = await run_in_threadpool(
        join, service, session_id, credential, body.signing, body.sealing
    )
    status = 200 if found.replayed else 201
    return Response(json.dumps({"number": found.number}), status, media_type=JSON)


@router.get("/live/{session_id}/terms")
async def get_live_terms(
    service: TheService, session_id: SessionId, member: TheMember, wait: Wait = 0
) -> AgreedBody:
    """Show a member the terms once the session has started; wait for that if requested."""
    found = await long_poll(
        service.attendance, session_id, wait, LOOK, lambda: agreed(service, session_id, member)
    )
    if found is None:
        raise Refused(Reason.NOT_FOUND, "the session has not started; try again")
    return AgreedBody(**found)


@router.post(
    "/live/{session_id}/deal",
    status_code=201,
    response_model=TakenBody,
    responses=_taken("Dealt before."),
    openapi_extra=_body_of(DealAskedBody),
)
async def post_deal(
    request: Request, service: TheService, session_id: SessionId, member: TheMember
) -> Response:
    """Store the session's key from the dealer, once."""
    check_dealer(member)
    body = await _read(request, DealAskedBody, LARGEST)
    replayed = await run_in_threadpool(
        take_deal, service, session_id, member, body.public, body.shares
    )
    return replayed_response(replayed)


@router.get(
    "/live/{session_id}/turn",
    response_class=Response,
    responses={
        200: {
            "description": "A signed frame.",
            "content": CONTENT,
        },
        204: {"description": "There is no turn for the worker yet."},
    },
)
async def get_turn(
    service: TheService, session_id: SessionId, member: TheMember, wait: Wait = 0
) -> Response:
    """Send a worker its current turn, as bytes signed by the server; wait for it if requested."""
    found = await long_poll(
        service.attendance, session_id, wait, LOOK, lambda: turn(service, session_id, member)
    )
    return Response(status_code=204) if found is None else Response(found, media_type=BYTES)


@router.post(
    "/live/{session_id}/replies",
    status_code=201,
    response_model=TakenBody,
    responses=_taken("Accepted before."),
    openapi_extra={"requestBody": {"required": True, "content": CONTENT}},
)
async def post_reply(
    request: Request, service: TheService, session_id: SessionId, member: TheMember
) -> Response:
    """Accept a worker's reply to its turn: 201, or 200 if the same bytes were accepted before."""
    check_worker(member)
    if kind_of(request) != BYTES:
        raise Refused(Reason.UNSUPPORTED, f"send the reply as {BYTES}")
    most = await run_in_threadpool(largest_reply, service, session_id)
    content = await bounded_body(request, most)
    future = await run_in_threadpool(receive, service, session_id, member, content)
    return replayed_response(await asyncio.wrap_future(future))


async def _read(request: Request, model: type[Body], most: int) -> Body:
    """The body, read only after the credential was checked."""
    check_is_json(request)
    document = await run_in_threadpool(parsed_json, await bounded_body(request, most))
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise malformed(dict(error.errors()[0])) from None
