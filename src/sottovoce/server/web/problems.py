"""Turns errors into HTTP responses in one format (RFC 9457)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Match, Mount

from sottovoce.errors import DataError, Reason, Refused, UsageError
from sottovoce.server.database.connection import STORAGE_ERRORS, unavailable
from sottovoce.server.web.page_templates import page, wants_page

STATUS: dict[Reason, HTTPStatus] = {
    Reason.MALFORMED: HTTPStatus.UNPROCESSABLE_ENTITY,
    Reason.OVERSIZE: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    Reason.UNSUPPORTED: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    Reason.NO_CREDENTIAL: HTTPStatus.UNAUTHORIZED,
    Reason.BAD_CREDENTIAL: HTTPStatus.FORBIDDEN,
    Reason.INVITE_EXPIRED: HTTPStatus.FORBIDDEN,
    Reason.INVITE_USED: HTTPStatus.FORBIDDEN,
    Reason.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Reason.NOT_OPEN: HTTPStatus.CONFLICT,
    Reason.NOT_A_DRAFT: HTTPStatus.CONFLICT,
    Reason.QUOTA_REACHED: HTTPStatus.CONFLICT,
    Reason.FOREIGN_POLICY: HTTPStatus.CONFLICT,
    Reason.SIMULATED: HTTPStatus.UNPROCESSABLE_ENTITY,
    Reason.NOT_ADMITTED: HTTPStatus.UNPROCESSABLE_ENTITY,
    Reason.ALREADY_REPORTED: HTTPStatus.CONFLICT,
    Reason.CONFLICT: HTTPStatus.CONFLICT,
    Reason.ERASED: HTTPStatus.GONE,
    Reason.BUSY: HTTPStatus.TOO_MANY_REQUESTS,
    Reason.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
}
RETRY_AFTER = {Reason.BUSY: "1", Reason.UNAVAILABLE: "10"}
MEDIA_TYPE = "application/problem+json"
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}", re.ASCII)

REASON = "sottovoce_reason"
"""The key in a request's scope for the reason of a refusal, for the metrics."""


class ProblemBody(BaseModel):
    """Why a request was refused. `detail` is for people, `reason` for programs."""

    type: str = Field(examples=["urn:sottovoce:problem:not_open"])
    title: str
    status: int
    reason: Reason
    detail: str
    field: str | None = None
    row: int | None = None
    column: str | None = None


PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": ProblemBody, "description": "Refused; nothing was changed."},
    "5XX": {"model": ProblemBody, "description": "Not now; nothing was changed."},
}
"""The refusals of every route, for its documentation."""


def problem_response(refused: Refused, *, status: int | None = None) -> JSONResponse:
    """A refusal as a response."""
    code = HTTPStatus(status or STATUS[refused.reason])
    content = {
        "type": f"urn:sottovoce:problem:{refused.reason}",
        "title": code.phrase,
        "status": code.value,
        "reason": str(refused.reason),
        "detail": str(refused),
        "field": refused.field,
        "row": refused.row,
        "column": refused.column,
    }
    headers = {}
    if refused.reason in RETRY_AFTER:
        headers["Retry-After"] = RETRY_AFTER[refused.reason]
    if code is HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    given = {name: value for name, value in content.items() if value is not None}
    return JSONResponse(given, code.value, headers, MEDIA_TYPE)


def unexpected_problem() -> JSONResponse:
    """The response to a request that caused an unexpected error."""
    refused = Refused(Reason.UNAVAILABLE, "an error occurred on the server")
    return problem_response(refused, status=HTTPStatus.INTERNAL_SERVER_ERROR)


def malformed(fault: Mapping[str, Any], *above: str) -> Refused:
    """A validation error of pydantic: where, and what was expected; never what was sent."""
    field = ".".join([*above, *map(_named, fault["loc"])])
    return Refused(Reason.MALFORMED, f"{field}: {_expected(fault)}", field=field)


def add_handlers(app: FastAPI) -> None:
    """Handle every error that routes raise."""

    @app.exception_handler(Refused)
    async def refused(request: Request, error: Refused) -> Response:
        return _answer(request, error)

    @app.exception_handler(UsageError)
    @app.exception_handler(DataError)
    async def misused(request: Request, error: UsageError | DataError) -> Response:
        row, column = getattr(error, "row", None), getattr(error, "column", None)
        return _answer(request, Refused(Reason.MALFORMED, str(error), row=row, column=column))

    async def unstored(request: Request, error: Exception) -> Response:
        return _answer(request, unavailable(error))

    for kind in STORAGE_ERRORS:
        app.exception_handler(kind)(unstored)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        part, *place = first["loc"]  # of the body, the path or the query
        return _answer(request, malformed({**first, "loc": place or [part]}))

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> Response:
        if error.status_code == HTTPStatus.NOT_FOUND:
            return _answer(
                request, Refused(Reason.NOT_FOUND, "there is no page or route at this address")
            )
        refused = Refused(Reason.UNSUPPORTED, "this method is not allowed at this address")
        response = _answer(request, refused, status=error.status_code)
        response.headers.update(error.headers or {})
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED and (allowed := _allowed(request)):
            response.headers["Allow"] = ", ".join(allowed)
        return response


def _allowed(request: Request) -> list[str]:
    """The methods of all routes at this address; Starlette names only those of the first."""
    routes = [route for route in request.app.router.routes if not isinstance(route, Mount)]
    return [
        method
        for method in METHODS
        if any(
            route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes
        )
    ]


def _named(part: str | int) -> str:
    """A part of a location. A client may choose the name of a field: only a word is quoted."""
    return str(part) if isinstance(part, int) or WORD.fullmatch(part) else "(a name)"


def _expected(fault: Mapping[str, Any]) -> str:
    """The expected input, in words."""
    if fault["type"] == "union_tag_invalid":  # the library's own message quotes the input
        return f"Input should be {fault['ctx']['expected_tags']}"
    if fault["type"] == "extra_forbidden":
        return "Unknown field"
    message: str = fault["msg"]
    return message.removeprefix("Value error, ")


def _answer(request: Request, refused: Refused, *, status: int | None = None) -> Response:
    """A problem document, or a page for a browser outside the API."""
    request.scope[REASON] = refused.reason
    if wants_page(request):
        code = HTTPStatus(status or STATUS[refused.reason])
        return page(
            request,
            "problem.html",
            code,
            status=code.value,
            heading=code.phrase,
            message=str(refused),
        )
    return problem_response(refused, status=status)
