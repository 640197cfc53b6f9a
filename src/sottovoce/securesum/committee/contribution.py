"""Admission of contributions: the checks that anyone can make from the public part.

The server refuses invalid contributions on upload, and a keyholder refuses a batch with one. The
checks of the sealed shares, which only keyholders can make, are in `validity`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sottovoce.errors import SealedRefused, UsageError
from sottovoce.model import assigned
from sottovoce.model.campaign import LONGEST_NAME, check_text
from sottovoce.securesum.committee.terms import ContributionTerms, Session
from sottovoce.securesum.committee.validity import MASKS
from sottovoce.securesum.envelope import read_envelope, unb64
from sottovoce.securesum.field import WIDTH
from sottovoce.securesum.hpke import OVERHEAD

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Contribution:
    """A signed contribution: the worker it names, and its tasks.

    `places` are the tasks' positions in the campaign; `shares` those that came with it: all, or
    one.
    """

    terms: ContributionTerms
    digest: str
    places: Places = field(repr=False, compare=False)
    shares: tuple[bytes, ...] = field(repr=False)

    @property
    def worker(self) -> str:
        """The worker's name in the campaign."""
        return self.terms.worker

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks, in order."""
        return self.terms.tasks

    @property
    def key(self) -> str:
        """The key that signed it, which is used for this contribution only."""
        return self.terms.key

    def info(self, seat: int) -> bytes:
        """The HPKE info of a seat's share: in another contribution it does not open."""
        return self.terms.info(seat)


class Admission:
    """Reads contributions to one session; parts that many of them share are checked once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._policy = session.policy.hash
        self._place = {name: place for place, name in enumerate(session.names)}
        promise = session.policy.promise
        self._answers = len(session.names) if promise is None else promise.answers
        self._tasks = lru_cache(maxsize=64)(self._read_tasks)

    def whole(self, content: bytes) -> Contribution:
        """A contribution as it is uploaded, with the shares of all seats."""
        return self._read(content, "shares", range(1, self._session.sealed.seats + 1))

    def item(self, content: bytes, seat: int) -> Contribution:
        """A contribution as one keyholder receives it, with the share for its seat."""
        return self._read(content, "share", [seat])

    def _read(self, content: bytes, beside: str, seats: Sequence[int]) -> Contribution:
        envelope = read_envelope(content, _own_key, culprit="a worker", extra=[beside])
        terms = self._terms(envelope.body)
        culprit = f"worker {terms.worker!r}"
        terms, places = self._given(terms, culprit)
        sealed = envelope.extra[beside] if beside == "shares" else [envelope.extra[beside]]
        shares = self._pinned(sealed, envelope.body["shares"], seats, len(places), culprit)
        return Contribution(terms, envelope.digest, places, shares)

    def _terms(self, body: Mapping[str, Any]) -> ContributionTerms:
        """The parsed body, if it is a valid contribution to this session."""
        worker: Any = body.get("worker")
        tasks: Any = body.get("tasks")
        shares: Any = body.get("shares")
        try:
            check_text("its name", worker, LONGEST_NAME)
        except UsageError as error:
            raise SealedRefused("a worker", str(error)) from None
        culprit = f"worker {worker!r}"
        if not _are_texts(tasks) or not _are_texts(shares) or type(body.get("round")) is not int:
            raise SealedRefused(culprit, "its contribution is malformed")
        terms = ContributionTerms(
            self._session.campaign, self._policy, worker, tuple(tasks), _own_key(body)
        )
        if body != terms.body(shares):
            raise SealedRefused(culprit, "its contribution is for another campaign or policy")
        return terms

    def _given(self, terms: ContributionTerms, culprit: str) -> tuple[ContributionTerms, Places]:
        """The positions of the worker's assigned tasks; all of them if participation is hidden.

        Equal lists of tasks are stored once: a batch has many, and memory access is slow.
        """
        wrong, places, tasks = self._tasks(terms.tasks)
        if wrong:
            raise SealedRefused(culprit, wrong)
        total = len(self._place)
        block = min(total, self._answers)
        if block < total:
            given = assigned(self._session.campaign, terms.worker, total, block)
            if not np.isin(places, given).all():
                raise SealedRefused(culprit, "it answers tasks that were not assigned to it")
        if self._session.sealed.hidden and len(places) != block:
            raise SealedRefused(culprit, "it leaves out tasks, although participation is hidden")
        return replace(terms, tasks=tasks), places

    def _read_tasks(self, tasks: tuple[str, ...]) -> tuple[str | None, Places, tuple[str, ...]]:
        """The fault of a list of tasks for any worker, their positions, and the list itself."""
        places = np.array([self._place.get(name, -1) for name in tasks], np.intp)
        if not 1 <= len(tasks) <= self._answers:
            return (
                (f"it answers {len(tasks):,} tasks; 1 to {self._answers:,} are allowed"),
                places,
                tasks,
            )
        if (places < 0).any():
            return "it answers a task that the campaign does not have", places, tasks
        if list(tasks) != sorted(set(tasks)):
            return "its tasks are not in order, or one is repeated", places, tasks
        return None, places, tasks

    def _pinned(
        self, sealed: Any, hashes: Sequence[str], seats: Sequence[int], tasks: int, culprit: str
    ) -> tuple[bytes, ...]:
        """The sealed shares, if they are those that were signed."""
        complete = len(hashes) == self._session.sealed.seats
        if not complete or not isinstance(sealed, list) or len(sealed) != len(seats):
            raise SealedRefused(
                culprit, ("its contribution does not have one share for each keyholder")
            )
        length = WIDTH * (tasks * self._session.ballot.bits + MASKS) + OVERHEAD
        shares = []
        for seat, text in zip(seats, sealed, strict=True):
            content = unb64(text)
            if content is None or len(content) != length:
                raise SealedRefused(culprit, f"a share is not {length:,} bytes in base64")
            if hashlib.sha256(content).hexdigest() != hashes[seat - 1]:
                raise SealedRefused(culprit, "a share is not the one that was signed")
            shares.append(content)
        return tuple(shares)


def _own_key(body: Mapping[str, Any]) -> str:
    """A contribution is signed by its own key: this proves that one party wrote the whole text."""
    key = body.get("key")
    return key if isinstance(key, str) else ""


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and set(map(type, value)) <= {str}
