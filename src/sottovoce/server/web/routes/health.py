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
"""Seconds for which a check is cached: anyone may ask, and it costs a transaction."""


class HealthBody(BaseModel):
    """The check passed."""

    status: str = "ok"


@router.api_route("/healthz", methods=["GET"], response_model=HealthBody)
async def alive() -> Response:
    """Check whether the process responds."""
    return JSONResponse({"status": "ok"})


@router.api_route("/readyz", methods=["GET"], response_model=HealthBody)
def ready(request: Request, service: TheService) -> HealthBody:
    """Check whether reports can be stored.

    The database must accept changes and have this release's tables, and the disk must have room. A
    503 names the one that fails.
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
    """Show metrics for Prometheus: requests and outcomes, nothing that was sent."""
    content: bytes = request.app.state.metrics.text()
    return Response(content, headers={"content-type": CONTENT_TYPE_LATEST})


class _Enough(Exception):  # noqa: N818 - not an error: it takes the trial back
    """Rolls the trial change back."""


def _fault(service: Service) -> str | None:
    """The reason why the server cannot store reports."""
    file = service.database.file
    if file is not None and shutil.disk_usage(file.parent).free < LEAST_FREE:
        return f"disk: less than {LEAST_FREE >> 20} MiB free for the database"
    try:
        service.writer.change(lambda connection: _try(connection, service)).result(PATIENCE)
    except _Enough:
        pass
    except TookTooLong:
        return f"database: takes more than {PATIENCE:g} seconds for a write"
    except Exception:
        return "database: does not accept writes"
    try:
        check_schema(service.database)
    except SottovoceError:
        return "schema: of another release; run sottovoce doctor"
    return None


def _try(connection: Connection, service: Service) -> Any:
    note_event(connection, "ready?", service.today(), None)
    raise _Enough
