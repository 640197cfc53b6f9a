"""What bodies of requests and answers have in common."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from sottovoce.model import Task
from sottovoce.model.campaign import LONGEST_NAME, LONGEST_TEXT

__all__ = ["LIST_OF_TASKS", "Asked", "Day", "TaskBody"]

_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Asked(BaseModel):
    """A body as a request has it: types are taken at their word, unknown fields are refused."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


def _day(value: Any) -> date:
    if isinstance(value, date):
        return value
    if not (isinstance(value, str) and _ISO_DAY.fullmatch(value)):
        raise ValueError("a day is written as 2031-12-24")
    return date.fromisoformat(value)


Day = Annotated[date, BeforeValidator(_day), Field(examples=["2031-12-24"])]
"""A day, in UTC."""


class TaskBody(Asked):
    """A task: its name in tables, what a worker reads, and perhaps an image."""

    task: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["leaf-17"])
    text: str | None = Field(
        None,
        max_length=LONGEST_TEXT,
        description="Plain text. The task's name if it is left out.",
        examples=["Which tree is this leaf from?"],
    )
    image: str | None = Field(
        None, max_length=LONGEST_TEXT, examples=["https://images.example/leaf-17.jpg"]
    )

    def made(self) -> Task:
        """The task, checked."""
        return Task(self.task, self.text or self.task, self.image)

    @classmethod
    def of(cls, task: Task) -> Self:
        """A task as an answer has it."""
        return cls(task=task.name, text=task.text, image=task.image)


LIST_OF_TASKS: dict[str, Any] = {
    "type": "array",
    "items": {"$ref": "#/components/schemas/TaskBody"},
}
"""How a list of tasks is described where it is looked into by hand."""
