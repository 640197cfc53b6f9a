"""Campaigns: a set of tasks with one policy, and the assignment of tasks to workers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from urllib.parse import urlsplit

from sottovoce.errors import UsageError
from sottovoce.model.guarantee import check_count
from sottovoce.model.policy import Calibration, Policy

CAMPAIGN_ID = re.compile(r"[a-z0-9]{4,32}", re.ASCII)
LONGEST_NAME, LONGEST_TEXT, LONGEST_UNIT = 200, 5_000, 40
MOST_TASKS, MOST_WORKERS = 1 << 20, (1 << 31) - 1

# Terminals act on control characters, and lone surrogates cannot be stored.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n]")
_ASSIGNED, _ORDERED = b"sottovoce-tasks/1", b"sottovoce-order/1"


class State(StrEnum):
    """A draft can change, an open campaign takes reports, a closed one is read-only."""

    DRAFT = "draft"
    OPEN = "open"
    CLOSED = "closed"


class Assignment(StrEnum):
    """How a worker's tasks are chosen: the most needed ones, or by a hash of the pseudonym."""

    NEED = "need"
    HASH = "hash"


@dataclass(frozen=True, slots=True)
class Task:
    """One question with one truth: its name in tables, its text, and an optional image.

    The text is plain: escape it for display. `known` is the task's truth as text, if the requester
    knows it; no worker ever sees it. `need` is how much the server wants reports on it, if it says
    so: the largest first, and none at 0, because the task is settled.
    """

    name: str
    text: str
    image: str | None = None
    known: str | None = field(default=None, repr=False)
    need: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_text("a task's name", self.name, LONGEST_NAME)
        check_text(f"the text of task {self.name[:40]!r}", self.text, LONGEST_TEXT)
        if self.image is not None:
            check_web_address(f"the image of task {self.name[:40]!r}", self.image)
        if self.known is not None:
            check_text(f"the known truth of task {self.name[:40]!r}", self.known, LONGEST_NAME)
        if self.need is not None:
            check_count(f"the need of task {self.name[:40]!r}", self.need)


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a campaign, which are fixed once it is open.

    A worker is assigned up to `policy.promise.answers` tasks. `quota` is the largest number of
    workers, `closes_on` the first day (UTC) without reports, `unit` the unit of numbers. Assignment
    by need is for policies whose release is separable.
    """

    title: str
    question: str
    policy: Policy
    unit: str | None = None
    quota: int | None = None
    closes_on: date | None = None
    assignment: Assignment = Assignment.HASH

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
        """The largest number of answers of a worker."""
        assert self.policy.promise is not None  # noqa: S101 - checked at birth
        return self.policy.promise.answers


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of what a campaign has received, of erasures, and of devices cut short.

    `cut_short` counts the workers whose device said that its budget does not cover all tasks.
    """

    workers: int = 0
    submissions: int = 0
    reports: int = 0
    erasures: int = 0
    cut_short: int = 0


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign as the server keeps it. `tasks` is how many there are.

    A `simulated` campaign takes only simulated reports, which protect nobody. The truths of a
    `published` campaign are shown to its workers.
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
        """The number of tasks assigned to a worker."""
        return min(self.tasks, self.terms.answers)

    def takes_reports(self, today: date) -> bool:
        """Whether a report that arrives today is accepted."""
        closes = self.terms.closes_on
        return self.state is State.OPEN and (closes is None or today < closes)


def assigned(campaign: str, worker: str, tasks: int, count: int) -> list[int]:
    """The positions of a worker's tasks: `count` of `tasks`, or all of them if there are fewer.

    The i-th draw is the first 8 bytes of SHA-256(campaign, worker, i) modulo the number of tasks;
    positions drawn before are skipped. Worker and server compute the same positions, all sets are
    about equally likely, and neither party chooses.

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
    # If almost all tasks are assigned, draw those that are left out: it takes fewer draws.
    few = min(count, tasks - count)
    while len(places) < few:
        hash = start.copy()
        hash.update(draw.to_bytes(8, "big"))
        places[int.from_bytes(hash.digest()[:8], "big") % tasks] = None
        draw += 1
    if few == count:
        return sorted(places)
    return [place for place in range(tasks) if place not in places]


def own_order(campaign: str, worker: str, tasks: Iterable[str]) -> list[str]:
    """The tasks in the worker's own order: by SHA-256(campaign, worker, task).

    It depends on nothing else, so it is the same after a reload, and a task's place differs from
    worker to worker. The first n tasks are a random subset.

    >>> own_order("leaf", "c1d2", ["t1", "t2", "t3", "t4"])
    ['t4', 't1', 't2', 't3']
    """
    start = hashlib.sha256(b"\0".join((_ORDERED, campaign.encode(), worker.encode(), b"")))

    def turn(task: str) -> bytes:
        hash = start.copy()
        hash.update(task.encode())
        return hash.digest()

    return sorted(tasks, key=turn)


def check_tasks(tasks: Sequence[Task]) -> None:
    """Refuse too many tasks, no tasks, or a repeated name."""
    if not 1 <= len(tasks) <= MOST_TASKS:
        raise UsageError(f"a campaign has 1 to {MOST_TASKS:,} tasks, not {len(tasks):,}")
    seen: set[str] = set()
    for task in tasks:
        if task.name in seen:
            raise UsageError(f"task {task.name[:40]!r} is there twice")
        seen.add(task.name)


def check_text(what: str, text: object, longest: int) -> None:
    """Refuse anything but printable text of a bounded length."""
    if not isinstance(text, str):
        raise UsageError(f"{what} must be a text")
    if not text.strip():
        raise UsageError(f"{what} is empty: it must have 1 to {longest:,} characters")
    if len(text) > longest:
        raise UsageError(f"{what} must have 1 to {longest:,} characters, not {len(text):,}")
    if _UNPRINTABLE.search(text):
        raise UsageError(f"{what} has a character that is no text")


def check_web_address(what: str, address: object) -> None:
    """Refuse anything but a web address."""
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
