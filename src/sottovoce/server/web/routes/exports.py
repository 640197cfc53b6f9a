"""Export routes: streamed files."""

from __future__ import annotations

from typing import Annotated

import anyio
from fastapi import APIRouter, Path, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from sottovoce.server.campaigns.exports import (
    EXPORTS,
    MEDIA_TYPES,
    SEALED_EXPORTS,
    Export,
    export,
)
from sottovoce.server.web.requests import CampaignId, Requester, TheService

router = APIRouter(tags=["results"])

ExportName = Annotated[
    str,
    Path(
        description=f"One of {', '.join(EXPORTS)}; of a sealed campaign also one of "
        f"{', '.join(SEALED_EXPORTS)}.",
        examples=["reports.csv"],
    ),
]
Raw = Annotated[
    bool,
    Query(
        description="CSV without the apostrophe before text that a spreadsheet would run as a "
        "formula. For programs that read the file. JSONL and Parquet are always exact."
    ),
]


class ExportResponse(StreamingResponse):
    """Streams an export made in a thread. It is closed however the request ends."""

    def __init__(self, export: Export) -> None:
        headers = {"Content-Disposition": f'attachment; filename="{export.name}"'}
        if export.rows is not None:
            headers["Sottovoce-Rows"] = str(export.rows)
        super().__init__(export.pieces, headers=headers, media_type=export.media_type)
        self._export = export

    async def stream_response(self, send: Send) -> None:
        """Start the response after its first bytes, so that an early error is still reported."""
        held: list[Message] = []

        async def send_in_time(message: Message) -> None:
            if message["type"] == "http.response.start":
                held.append(message)
            elif held and (message["body"] or not message["more_body"]):
                await send(held.pop())
            if not held:
                await send(message)

        await super().stream_response(send_in_time)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            # Also when the client has gone and this is being cancelled.
            with anyio.CancelScope(shield=True):
                await run_in_threadpool(self._export.close)


@router.get(
    "/campaigns/{campaign_id}/exports/{name}",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "The file. The header Sottovoce-Rows has the number of rows.",
            "content": {name.partition(";")[0]: {} for name in MEDIA_TYPES.values()},
        }
    },
)
def get_export(
    service: TheService, _: Requester, campaign_id: CampaignId, name: ExportName, raw: Raw = False
) -> ExportResponse:
    """Export a campaign's reports, truths, workers, tasks or policy as a consistent snapshot."""
    return ExportResponse(export(service, campaign_id, name, raw=raw))
