"""Request parts for routes: the service, credentials, and bounded bodies.

The credential is checked first, then the body's size, then its content.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Annotated, Any, ClassVar, NoReturn, TypeVar

from fastapi import Depends, Path, Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from sottovoce.errors import Reason, Refused
from sottovoce.model.canonical_json import RepeatedField, unique_fields
from sottovoce.server.credentials import check_setup, check_token
from sottovoce.server.sealed.attendance import Attendance
from sottovoce.server.service import Service

T = TypeVar("T")

JSON = "application/json"

USUAL, LARGEST = 64 << 10, 64 << 20
"""The most bytes of a body: of most, and of those that may hold all tasks of a campaign."""


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
    """The worker's own credential, sent in addition to the invite."""
    receipt = request.headers.get("sottovoce-receipt")
    if receipt is None:
        raise Refused(Reason.NO_CREDENTIAL, "send the worker's receipt as Sottovoce-Receipt")
    return receipt


def kind_of(request: Request, unsaid: str = "") -> str:
    """The request's content type, without parameters."""
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


# Asynchronous: FastAPI would run a plain function in another thread at each request.
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
        description="Chosen at random by the worker's client, once per submission.",
        examples=["0c5f1e7d2b9a48c6a3f7d1e0b2c4a698"],
    ),
]


async def bounded_body(request: Request, most: int) -> bytes:
    """The body, if it is uncompressed and within the limit."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise Refused(Reason.UNSUPPORTED, "send the body without compression")
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
        raise Refused(Reason.MALFORMED, "the body is incomplete") from None
    return b"".join(pieces)


async def long_poll(
    attendance: Attendance, id: str, seconds: int, look: float, ask: Callable[[], T | None]
) -> T | None:
    """The result of `ask` within `seconds`, or None.

    It is retried when the campaign's or session's bell rings, and every `look` seconds, because
    other servers on the same database do not ring this bell.
    """
    deadline = time.monotonic() + seconds
    with attendance.listening(id) as bell:
        while True:
            bell.clear()
            found = await run_in_threadpool(ask)
            left = deadline - time.monotonic()
            if found is not None or left <= 0 or attendance.ending:
                return found
            # Waiting holds neither a thread nor a database connection.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, look)):
                    await bell.wait()


def replayed_response(replayed: bool) -> Response:
    """The reply to a stored message: 201, or 200 if it was stored before."""
    content = json.dumps({"replayed": replayed})
    return Response(content, 200 if replayed else 201, media_type=JSON)


def _oversize(most: int) -> Refused:
    return Refused(Reason.OVERSIZE, f"the body may have up to {most:,} bytes")


class BoundedRoute(APIRoute):
    """A route that reads a bounded body, after it has checked the credential.

    FastAPI reads a whole body before it runs any dependency, so anyone could fill the memory.
    Use it with `APIRouter(route_class=BoundedRoute)`; the body's model is declared as usual.
    """

    most: ClassVar[int] = USUAL

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, with a body that has already been read."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        asked = {dependency.call for dependency in self.dependant.dependencies}
        checks = [check for check in (requester_of, setup_of) if check in asked]

        async def bounded(request: Request) -> Response:
            for check in checks:
                await check(request)
            check_is_json(request)
            content = await bounded_body(request, self.most)
            # Long bodies are parsed in another thread, so that other requests do not wait.
            long = len(content) > USUAL
            document = (
                await run_in_threadpool(parsed_json, content) if long else parsed_json(content)
            )
            if not isinstance(document, dict):
                raise _malformed("the body must be a JSON object")
            return await handle(_Read(request, content, document))

        return bounded


class RoomyRoute(BoundedRoute):
    """The same for bodies that may hold all tasks of a campaign."""

    most = LARGEST


def parsed_json(content: bytes) -> Any:
    """The JSON document in these bytes, if every JSON parser would read it alike."""
    try:
        document = json.loads(
            # Given bytes, json would guess an encoding and accept lone surrogates.
            content.decode("utf-8"),
            parse_constant=_refuse_constant,
            parse_float=_finite,
            object_pairs_hook=unique_fields,
        )
        if b"\\u" in content:
            _check_encodes(document)
    except UnicodeDecodeError:
        raise _malformed("the body is not UTF-8") from None
    except UnicodeEncodeError:
        raise _malformed("the body has half of a character (a lone surrogate)") from None
    except RepeatedField:
        raise _malformed("the body has a field twice") from None
    except (ValueError, RecursionError):
        raise _malformed("the body is not JSON") from None
    return document


class _Read(Request):
    """A request whose body has been read."""

    def __init__(self, request: Request, content: bytes, document: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._content, self._document = content, document

    async def body(self) -> bytes:
        return self._content

    async def json(self) -> Any:
        return self._document


def check_is_json(request: Request) -> None:
    """Refuse a body whose content type is not JSON."""
    if kind_of(request) != JSON:
        raise Refused(Reason.UNSUPPORTED, f"send the body as JSON, with Content-Type: {JSON}")


def _check_encodes(document: Any) -> None:
    """Refuse lone surrogates: JSON escapes can name them, but no text can hold them."""
    json.dumps(document, ensure_ascii=False).encode("utf-8")


def _refuse_constant(_: str) -> NoReturn:
    raise _malformed("the body has a number that is not finite")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text)


def _malformed(message: str) -> Refused:
    return Refused(Reason.MALFORMED, message)
