"""The route that receives reports."""

from __future__ import annotations

import re
from contextlib import suppress

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from sottovoce.errors import Reason, Refused
from sottovoce.model.campaign import CAMPAIGN_ID
from sottovoce.server.campaigns.rejections import find_number
from sottovoce.server.service import Service
from sottovoce.server.web.requests import (
    JSON,
    CampaignId,
    ReportId,
    bearer_of,
    bounded_body,
    kind_of,
    receipt_of,
    service_of,
)

CUT_SHORT = "Sottovoce-Cut-Short"
"""The header of a device whose budget does not cover all tasks it was asked; its value is yes."""

REPORT_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)


class DirectRoute(APIRoute):
    """A documented route that calls its function directly.

    For the route that is called a thousand times a second: its function checks the path itself.
    """

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in (self.methods or ()):
            await super().handle(scope, receive, send)
            return
        request = Request(scope, receive, send)
        response: Response = await self.endpoint(request, **request.path_params)
        await response(scope, receive, send)


router = APIRouter(tags=["worker"], route_class=DirectRoute)


class AcknowledgementBody(BaseModel):
    """These reports are stored durably."""

    report_id: str
    replayed: bool


@router.put(
    "/campaigns/{campaign_id}/reports/{report_id}",
    status_code=201,
    response_model=AcknowledgementBody,
    responses={200: {"model": AcknowledgementBody, "description": "Stored before."}},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                JSON: {
                    "schema": {
                        "anyOf": [
                            {"$ref": "#/components/schemas/Submission"},
                            {"$ref": "#/components/schemas/Contribution"},
                        ]
                    }
                }
            },
        }
    },
)
async def put_report(request: Request, campaign_id: CampaignId, report_id: ReportId) -> Response:
    """Store one submission: 201; 200 if these bytes were stored before; 409 if others were.

    A sealed campaign accepts a contribution instead, one per worker. The header
    `Sottovoce-Cut-Short: yes` says that the worker's budget does not cover all its tasks.
    """
    try:
        return await _taken(request, campaign_id, report_id)
    except Refused as refused:
        await _count(service_of(request), campaign_id, refused.reason)
        raise


async def _taken(request: Request, campaign_id: str, report_id: str) -> Response:
    if not CAMPAIGN_ID.fullmatch(campaign_id) or not REPORT_ID.fullmatch(report_id):
        raise Refused(
            Reason.MALFORMED, "the address lacks the identifier of a campaign or a report"
        )
    reception = service_of(request).reception
    invite, receipt = bearer_of(request), receipt_of(request)
    admission = reception.known_admission(campaign_id)
    if admission is None:
        admission = await run_in_threadpool(reception.admission, campaign_id)
    if kind_of(request, unsaid=JSON) != JSON:
        raise Refused(Reason.UNSUPPORTED, f"send the submission as {JSON}")
    content = await bounded_body(request, admission.largest)
    cut_short = request.headers.get(CUT_SHORT) == "yes"
    replayed = await reception.receive(admission, report_id, invite, receipt, content, cut_short)
    return Response(
        f'{{"report_id":"{report_id}","replayed":{str(replayed).lower()}}}',
        200 if replayed else 201,
        media_type=JSON,
    )


async def _count(service: Service, campaign_id: str, reason: Reason) -> None:
    """Count a refusal if the campaign exists; nothing else of the report is kept."""
    if reason is Reason.NOT_FOUND or not CAMPAIGN_ID.fullmatch(campaign_id):
        return
    admission = service.reception.known_admission(campaign_id)
    number = admission.number if admission is not None else None
    if number is None:
        with suppress(SQLAlchemyError):  # the refusal itself matters more
            number = await run_in_threadpool(find_number, service, campaign_id)
    if number is not None:
        service.rejections.count(number, reason)
