"""The tasks of a campaign, from a file and in pages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from sottovoce.errors import Reason, Refused
from sottovoce.model.campaign import MOST_TASKS
from sottovoce.server.campaigns.drafts import change_tasks, list_tasks
from sottovoce.server.service import Service
from sottovoce.server.web.bodies import LIST_OF_TASKS, TaskBody
from sottovoce.server.web.requests import (
    LARGEST,
    CampaignId,
    Requester,
    TheService,
    bounded_body,
    kind_of,
)
from sottovoce.tables.task_table import TaskFormat, read_task_table

router = APIRouter(tags=["campaigns"])

FORMATS: dict[str, TaskFormat] = {
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "application/x-ndjson": "jsonl",
    "application/json": "json",
}
_CONTENT: dict[str, Any] = {
    "text/csv": {
        "schema": {"type": "string"},
        "example": "task,text,image\nleaf-17,Which tree is this leaf from?,\n",
    },
    "text/tab-separated-values": {"schema": {"type": "string"}},
    "application/x-ndjson": {"schema": {"type": "string"}},
    "application/json": {"schema": LIST_OF_TASKS},
}


class TasksTakenBody(BaseModel):
    """How many tasks a draft now has."""

    tasks: int
    ignored: list[str] = Field(description="Unknown columns, which were ignored.")


class TasksBody(BaseModel):
    """A page of a campaign's tasks, in order."""

    tasks: list[TaskBody]
    total: int


@router.put(
    "/campaigns/{campaign_id}/tasks",
    openapi_extra={"requestBody": {"required": True, "content": _CONTENT}},
)
async def put_tasks(
    request: Request, _: Requester, service: TheService, campaign_id: CampaignId
) -> TasksTakenBody:
    """Replace the tasks of a draft.

    The body is a table with the columns task, text, image and known, of which task is required, as
    CSV, TSV, JSON lines or a JSON list. An error names its row and column, and changes nothing.
    Known truths are checked against the answers when the campaign opens.
    """
    kind = kind_of(request)
    if kind not in FORMATS:
        raise Refused(Reason.UNSUPPORTED, f"send tasks as {', '.join(FORMATS)}")
    content = await bounded_body(request, LARGEST)
    return await run_in_threadpool(_taken, service, campaign_id, content, FORMATS[kind])


@router.get("/campaigns/{campaign_id}/tasks")
def get_tasks(
    _: Requester,
    service: TheService,
    campaign_id: CampaignId,
    offset: Annotated[int, Query(ge=0, le=MOST_TASKS)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> TasksBody:
    """List tasks in order, a page at a time."""
    tasks, total = list_tasks(service, campaign_id, offset, limit)
    return TasksBody(tasks=[TaskBody.of(task) for task in tasks], total=total)


def _taken(
    service: Service, campaign_id: str, content: bytes, format: TaskFormat
) -> TasksTakenBody:
    table = read_task_table(content, format)
    change_tasks(service, campaign_id, table.tasks)
    return TasksTakenBody(tasks=len(table.tasks), ignored=list(table.ignored))
