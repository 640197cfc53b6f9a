"""A set of tasks with one policy, and which of them a worker is given."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from urllib.parse import urlsplit

from sottovoce.errors import UsageError
from sottovoce.model.guarantee import check_count
from sottovoce.model.policy import Calibration, Policy

CAMPAIGN_ID = re.compile(r"[a-z0-9]{4,32}", re.ASCII)
LONGEST_NAME, LONGEST_TEXT, LONGEST_UNIT = 200, 5_000, 40
MOST_TASKS, MOST_WORKERS = 1 << 20, (1 << 31) - 1

# A terminal obeys control characters, and halves of letters cannot be stored.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n]")
_ASSIGNED = b"sottovoce-tasks/1"


class State(StrEnum):
    """Drafts change, open campaigns take reports, closed ones only answer."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class Task:
    """One question with one truth: its name in tables, what a worker reads, and perhaps an image.

    The text is plain: whoever shows it escapes it.
    """

    name: str
    text: str
    image: str | None = None

    def __post_init__(self) -> None:
        check_text("a task's name", self.name, LONGEST_NAME)
        check_text(f"the text of task {self.name[:40]!r}", self.text, LONGEST_TEXT)
        if self.image is not None:
            check_web_address(f"the image of task {self.name[:40]!r}", self.image)


@dataclass(frozen=True, slots=True)
class Terms:
    """What a campaign asks and promises: fixed once it is open.

    A worker is given up to `policy.promise.answers` tasks. `quota` is how many workers may take
    part, `closes_on` the first day (UTC) on which no report is taken, `unit` what numbers are in.
    """

    title: str
    question: str
    policy: Policy
    unit: str | None = None
    quota: int | None = None
    closes_on: date | None = None

    def __post_init__(self) -> None:
        check_text("the title", self.title, LONGEST_NAME)
        check_text("the question", self.question, LONGEST_TEXT)
        if self.unit is not None:
            if not self.policy.domain.is_numeric:
                raise UsageError("a unit is for numbers, and the answers are labels")
            check_text("the unit", self.unit, LONGEST_UNIT)
        if self.quota is not None:
            check_count("the quota", self.quota)
            if not 1 <= self.quota <= MOST_WORKERS:
                raise UsageError(f"the quota must be 1 to {MOST_WORKERS:,} workers")
        if self.policy.promise is None or self.policy.calibration is not Calibration.SOUND:
            raise UsageError(
                "a campaign needs a policy that promises something, and one calibrated as "
                "published does not"
            )

    @property
    def answers(self) -> int:
        """The most answers of a worker."""
        assert self.policy.promise is not None  # noqa: S101 - checked at birth
        return self.policy.promise.answers


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a campaign has received, and how often something was taken back."""

    workers: int = 0
    submissions: int = 0
    reports: int = 0
    erasures: int = 0


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as the server keeps it. `tasks` is how many there are.

    A `simulated` one takes simulated reports and no others: nobody is asked, nobody is protected.
    The truths of a `published` one are shown to its workers.
    """

    id: str
    state: State
    terms: Terms
    tasks: int
    counts: Counts = Counts()
    opened_on: date | None = None
    closed_on: date | None = None
    simulated: bool = False
    published: bool = False

    @property
    def block(self) -> int:
        """How many tasks a worker is given."""
        return min(self.tasks, self.terms.answers)

    def takes_reports(self, today: date) -> bool:
        """Whether a report that arrives today is taken."""
        closes = self.terms.closes_on
        return self.state is State.OPEN and (closes is None or today < closes)


def assigned(campaign: str, worker: str, tasks: int, count: int) -> list[int]:
    """The places of the tasks a worker is given: `count` of `tasks`, all of them if there are few.

    The i-th draw is the first 8 bytes of SHA-256(campaign, worker, i) modulo the number of tasks;
    places that were drawn before are skipped. Worker and server compute it alike, every set is
    about as likely, and nobody chooses.

    >>> assigned("leaf", "c1d2", tasks=5, count=9)
    [0, 1, 2, 3, 4]
    >>> len(assigned("leaf", "c1d2", tasks=1000, count=3))
    3
    """
    if count >= tasks:
        return list(range(tasks))
    start = hashlib.sha256(b"\0".join((_ASSIGNED, campaign.encode(), worker.encode(), b"")))
    places: dict[int, None] = {}
    draw = 0
    # Almost all of the tasks: draw those that are left out, since hits would become rare.
    few = min(count, tasks - count)
    while len(places) < few:
        hash = start.copy()
        hash.update(draw.to_bytes(8, "big"))
        places[int.from_bytes(hash.digest()[:8], "big") % tasks] = None
        draw += 1
    if few == count:
        return sorted(places)
    return [place for place in range(tasks) if place not in places]


def check_tasks(tasks: Sequence[Task]) -> None:
    """Refuse a list of tasks that no campaign can have."""
    if not 1 <= len(tasks) <= MOST_TASKS:
        raise UsageError(f"a campaign has 1 to {MOST_TASKS:,} tasks, not {len(tasks):,}")
    seen: set[str] = set()
    for task in tasks:
        if task.name in seen:
            raise UsageError(f"task {task.name[:40]!r} is there twice")
        seen.add(task.name)


def check_text(what: str, text: object, longest: int) -> None:
    """Refuse what is no text of reasonable length that a page and a file can hold."""
    if not isinstance(text, str):
        raise UsageError(f"{what} must be a text")
    if not text.strip():
        raise UsageError(f"{what} is empty: it must have 1 to {longest:,} characters")
    if len(text) > longest:
        raise UsageError(f"{what} must have 1 to {longest:,} characters, not {len(text):,}")
    if _UNPRINTABLE.search(text):
        raise UsageError(f"{what} has a character that is no text")


def check_web_address(what: str, address: object) -> None:
    """Refuse what is no address on the web."""
    if not isinstance(address, str) or len(address) > LONGEST_TEXT:
        raise UsageError(f"{what} must be a web address")
    if _SPACE.search(address) or _UNPRINTABLE.search(address):
        raise UsageError(f"{what} must be a web address, without spaces")
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise UsageError(f"{what} must start with https:// or http://, without a password")
