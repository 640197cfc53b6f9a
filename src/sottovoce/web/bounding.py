"""JSON bodies within bounds: who sends is asked first, then how long it is, then what it says."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, NoReturn

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from sottovoce.errors import Reason, Refused
from sottovoce.model.canonical_json import RepeatedField, unique_fields
from sottovoce.web.requests import bounded_body, kind_of, requester_of, setup_of

__all__ = ["LARGEST", "BoundedRoute", "RoomyRoute", "parsed_json"]

USUAL, LARGEST = 64 << 10, 64 << 20
"""Bytes of a body: of most, and of those that may hold all tasks of a campaign."""


class BoundedRoute(APIRoute):
    """A route whose body is read only so far, and only after the credential was checked.

    FastAPI reads a body whole before it asks any dependency, so that anybody could fill the memory.
    Use it with `APIRouter(route_class=BoundedRoute)`; the body's model is declared as usual.
    """

    most: ClassVar[int] = USUAL

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, which is given a body that was read before."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        asked = {dependency.call for dependency in self.dependant.dependencies}
        checks = [check for check in (requester_of, setup_of) if check in asked]

        async def bounded(request: Request) -> Response:
            for check in checks:
                await check(request)
            _check_is_json(request)
            content = await bounded_body(request, self.most)
            # What is long is read elsewhere: others wait for this thread.
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
    """What these bytes say, if every reader of JSON would take it for the same."""
    try:
        document = json.loads(
            # Given bytes, it would guess an encoding, and let halves of characters pass.
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
        raise _malformed("the body has half a character, which no text can hold") from None
    except RepeatedField:
        raise _malformed("the body has a field twice") from None
    except (ValueError, RecursionError):
        raise _malformed("the body is not JSON") from None
    return document


class _Read(Request):
    """A request whose body was read."""

    def __init__(self, request: Request, content: bytes, document: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._content, self._document = content, document

    async def body(self) -> bytes:
        return self._content

    async def json(self) -> Any:
        return self._document


def _check_is_json(request: Request) -> None:
    if kind_of(request) != "application/json":
        raise Refused(
            Reason.UNSUPPORTED, "send the body as JSON, with Content-Type: application/json"
        )


def _check_encodes(document: Any) -> None:
    """Refuse halves of characters, which an escape can name and no text can hold."""
    json.dumps(document, ensure_ascii=False).encode("utf-8")


def _refuse_constant(_: str) -> NoReturn:
    raise _malformed("the body has a number that is not finite")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text)


def _malformed(message: str) -> Refused:
    return Refused(Reason.MALFORMED, message)
