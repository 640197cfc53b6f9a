"""What a keyholder reads before it takes part: what is asked, who else, what it promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sottovoce.http_client import plain
from sottovoce.model import Unit

if TYPE_CHECKING:
    from sottovoce.securesum.committee.terms import Session

__all__ = ["seat_lines"]


def seat_lines(session: Session, server: str, seat: int) -> Iterator[str]:
    """The whole screen. Names are the requester's words, all else is computed from the policy."""
    yield f"Campaign {session.campaign} at {server} asks you to be a keyholder."
    yield ""
    yield from _what_is_opened(session)
    yield from _who_else(session, seat)
    yield "WHAT YOU PROMISE: to keep your keys and this folder to yourself, to draw noise once,"
    yield "and to open one total, once. This program does that; leave it running until the"
    yield "campaign is opened. Nobody can do it for you: without you, contributions that arrive"
    yield "later are not counted, and without your noise nothing is ever opened."
    yield f"Policy {session.policy.hash}"
    yield "is pinned: if the campaign ever offers another, you send nothing."
    yield ""


def _what_is_opened(session: Session) -> Iterator[str]:
    sealed, tasks = session.sealed, len(session.names)
    promise = session.policy.promise
    answers = min(tasks, promise.answers) if promise else tasks
    held = [sealed.guarantee(answers, unit) for unit in (Unit.ANSWER, Unit.WORKER)]
    yield f"WHAT IS OPENED: noised totals of {tasks:,} tasks, once, of at least"
    answers_are = plain(str(session.policy.domain), longest=200)
    yield f"{sealed.minimum:,} contributions; answers are {answers_are}."
    yield f"Workers are promised {held[0]} and {held[1]},"
    yield f"if at most {sealed.degree} of {sealed.seats} keyholders collude."
    yield ""


def _who_else(session: Session, seat: int) -> Iterator[str]:
    yield "WHO HOLDS KEYS. Compare the fingerprints with those that the others published:"
    for number, each in enumerate(session.sealed.keyholders, 1):
        own = "   this is you" if number == seat else ""
        yield f"  {number}  {each.fingerprint}  {plain(each.name)}{own}"
    yield ""
