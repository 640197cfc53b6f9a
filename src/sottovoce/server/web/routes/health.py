"""Liveness, readiness and metrics routes."""

from __future__ import annotations

import shutil
import time
from concurrent.futures import TimeoutError as TookTooLong
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from sqlalchemy import Connection
from starlette.responses import JSONResponse

from sottovoce.errors import Reason, Refused, SottovoceError
from sottovoce.server.database.campaigns import note_event
from sottovoce.server.database.schema_version import check_schema
from sottovoce.server.service import Service
from sottovoce.server.web.metrics import CONTENT_TYPE_LATEST
from sottovoce.server.web.requests import Requester, TheService

router = APIRouter(tags=["health"])

PATIENCE = 2.0
"""Seconds within which a change must be possible."""

LEAST_FREE = 64 << 20
"""Bytes that must be free where SQLite writes."""

FRESH = 1.0
"""Seconds for which a check is not repeated: anyone may ask, and it costs a transaction."""


class HealthBody(BaseModel):
    """All is well."""

    status: str = "ok"


@router.api_route("/healthz", methods=["GET"], response_model=HealthBody)
async def alive() -> Response:
    """Whether the process answers."""
    return JSONResponse({"status": "ok"})


@router.api_route("/readyz", methods=["GET"], response_model=HealthBody)
def ready(request: Request, service: TheService) -> HealthBody:
    """Whether reports can be stored.

    The database takes changes and has this release's tables, and the disk has room; 503 says which
    of them fails.
    """
    state, now = request.app.state, time.monotonic()
    checked, fault = getattr(state, "readiness", (-FRESH, None))
    if now - checked >= FRESH:
        fault = _fault(service)
        state.readiness = (now, fault)
    if fault is not None:
        raise Refused(Reason.UNAVAILABLE, fault)
    return HealthBody()


@router.get(
    "/metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request, _: Requester) -> Response:
    """Counts for Prometheus; requests and outcomes, nothing of what was sent."""
    content: bytes = request.app.state.metrics.text()
    return Response(content, headers={"content-type": CONTENT_TYPE_LATEST})


class _Enough(Exception):  # noqa: N818 - not an error: it takes the trial back
    """Ends the trial change, so that it leaves no trace."""


def _fault(service: Service) -> str | None:
    """What keeps the server from storing reports, in words."""
    file = service.database.file
    if file is not None and shutil.disk_usage(file.parent).free < LEAST_FREE:
        return f"disk: less than {LEAST_FREE >> 20} MiB are free where the database is"
    try:
        service.writer.change(lambda connection: _try(connection, service)).result(PATIENCE)
    except _Enough:
        pass
    except TookTooLong:
        return f"database: takes more than {PATIENCE:g} seconds for a change"
    except Exception:
        return "database: takes no changes"
    try:
        check_schema(service.database)
    except SottovoceError:
        return "schema: not this release's; run sottovoce doctor"
    return None


def _try(connection: Connection, service: Service) -> Any:
    note_event(connection, "ready?", service.today(), None)
    raise _Enough
