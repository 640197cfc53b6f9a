"""What never leaves the device."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NoReturn, SupportsIndex

from sottovoce.errors import UsageError
from sottovoce.model import Label

__all__ = ["Answer"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a worker truly thinks about a task; None for not saying.

    The value is in no repr, log or error, and an answer refuses to be pickled: a copy in a queue or
    a cache has left the worker's hands.

    >>> Answer("Is the museum open?", "yes")
    Answer(task='Is the museum open?')
    """

    task: str
    value: Label | None = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or not self.task:
            raise UsageError("an answer needs the name of its task: a text that is not empty")
        if not isinstance(self.value, str | int | float | None):
            raise UsageError(
                f"the answer to task {self.task!r} must be a text, a number, true, false or None"
            )
        if isinstance(self.value, float) and math.isnan(self.value):
            raise UsageError(f"the answer to task {self.task!r} is not a number: say None to skip")

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise UsageError("an answer is not copied or pickled: it stays where the worker gave it")
