"""What routes take from a request: the service, credentials and bodies of bounded length."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from sottovoce.campaign.access import check_setup, check_token
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused

__all__ = [
    "Bearer",
    "CampaignId",
    "ReportId",
    "Requester",
    "Setup",
    "TheService",
    "bearer_of",
    "bounded_body",
    "kind_of",
    "receipt_of",
    "requester_of",
    "service_of",
    "setup_of",
]


def service_of(request: Request) -> Service:
    """The running service."""
    service: Service = request.app.state.service
    return service


def bearer_of(request: Request) -> str:
    """The credential in the header Authorization."""
    authorization = request.headers.get("authorization")
    if authorization is None:
        raise Refused(Reason.NO_CREDENTIAL, "send the header Authorization: Bearer …")
    scheme, _, credential = authorization.partition(" ")
    if scheme.lower() != "bearer" or not credential.isascii():
        raise Refused(Reason.BAD_CREDENTIAL, "the header Authorization must be Bearer …")
    return credential.strip()


def receipt_of(request: Request) -> str:
    """The worker's own credential, beside the invite."""
    receipt = request.headers.get("sottovoce-receipt")
    if receipt is None:
        raise Refused(Reason.NO_CREDENTIAL, "send the worker's receipt as Sottovoce-Receipt")
    return receipt


def kind_of(request: Request, unsaid: str = "") -> str:
    """The kind of content that the request says it has, without parameters."""
    return request.headers.get("content-type", unsaid).partition(";")[0].strip().lower()


async def requester_of(request: Request) -> str:
    """The identifier of the requester's token in the header Authorization; looked up once."""
    known: str | None = getattr(request.state, "requester", None)
    if known is None:
        known = await run_in_threadpool(check_token, service_of(request), bearer_of(request))
        request.state.requester = known
    return known


async def setup_of(request: Request) -> str:
    """The setup secret in the header Authorization; looked up once."""
    known: str | None = getattr(request.state, "setup", None)
    if known is None:
        known = bearer_of(request)
        await run_in_threadpool(check_setup, service_of(request), known)
        request.state.setup = known
    return known


# Asynchronous, since a plain function would be sent to another thread at each request.
async def _service(request: Request) -> Service:
    return service_of(request)


async def _bearer(request: Request) -> str:
    return bearer_of(request)


TheService = Annotated[Service, Depends(_service)]
Bearer = Annotated[str, Depends(_bearer)]
Requester = Annotated[str, Depends(requester_of)]
Setup = Annotated[str, Depends(setup_of)]
CampaignId = Annotated[str, Path(pattern="^[a-z0-9]{4,32}$", examples=["k7f3q2mzab"])]
ReportId = Annotated[
    str,
    Path(
        pattern="^[0-9a-f]{32}$",
        description="Chosen at random by the worker's software, once for each submission.",
        examples=["0c5f1e7d2b9a48c6a3f7d1e0b2c4a698"],
    ),
]


async def bounded_body(request: Request, most: int) -> bytes:
    """The body, if it is not compressed and has no more bytes than that."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(Reason.UNSUPPORTED, "send the body as it is, without compression")
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated[:20]) > most:
        raise _oversize(most)
    pieces, size = [], 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > most:
                raise _oversize(most)
            pieces.append(piece)
    except ClientDisconnect:
        raise Refused(Reason.MALFORMED, "the body ends before it should") from None
    return b"".join(pieces)


def _oversize(most: int) -> Refused:
    return Refused(Reason.OVERSIZE, f"the body may have up to {most:,} bytes")
