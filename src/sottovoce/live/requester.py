"""Live sessions on a server: what a requester asks for, and what it is told."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypedDict, Unpack, cast

from sottovoce.errors import Reason, Refused
from sottovoce.http_client.connection import Connection
from sottovoce.model import Domain, Result
from sottovoce.model.campaign import CAMPAIGN_ID
from sottovoce.model.keyholder import Keyholder
from sottovoce.requester.downloads import all_pages, result_of_rows
from sottovoce.requester.terms import TaskRows, task_documents


class AskedSession(TypedDict, total=False):
    """How a live session shall be; what is left out is what suits.

    `scale` is steps to one, `rounds` the most of them, `patience` the seconds of a phase. A set of
    workers is opened when `threshold` of them confirm it, and not below `minimum` workers. Noised
    sessions have `epsilon`, and may have `delta` and `weighted_rounds`; `damgard_jurik` has a
    `dealer`, and may have `bits` and `s`.
    """

    scale: int | None
    rounds: int | None
    patience: float | None
    threshold: int | None
    minimum: int | None
    epsilon: float | None
    delta: float | None
    weighted_rounds: int | None
    bits: int | None
    s: int | None
    dealer: Keyholder | None


class LiveLinks(TypedDict):
    """A new session: a link for each worker, which nobody can read again, and the dealer's."""

    id: str
    links: list[str]
    dealer_link: str | None


class LiveView(TypedDict):
    """A session. In a list, what follows `culprits` is left out."""

    id: str
    title: str
    state: Literal["gathering", "dealing", "running", "done", "aborted"]
    suite: Literal["masked", "damgard_jurik"]
    mode: Literal["as_published", "log_odds", "noised"]
    tasks: int
    labels: list[str]
    workers: int
    joined: int
    opened: int
    created_on: str
    reason: str | None
    culprits: list[str]
    patience: float
    round: int | None
    phase: str | None
    waiting: list[int]
    alive: list[int]
    excluded: dict[str, str]
    session: str | None
    terms: dict[str, Any] | None


class LiveGuaranteeView(TypedDict):
    """The most that the opened sums betray, and on what that rests."""

    per_answer: float
    per_worker: float | None
    delta: float
    answers: int
    assumptions: list[str]


class LiveResultView(TypedDict):
    """What a result says about itself; without a guarantee, `words` say so."""

    method: str
    rounds: int
    converged: bool
    workers: int
    tasks: int
    version: str
    guarantee: LiveGuaranteeView | None
    words: str


class LiveTruthView(TypedDict):
    """A task's truth."""

    task: str
    truth: str
    confidence: float | None
    answers: int


class LiveTruthsView(TypedDict):
    """One page of truths."""

    summary: LiveResultView
    truths: list[LiveTruthView]
    total: int


class LiveSessions:
    """The live sessions of a server, in which workers who are all there add up sums."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create(
        self,
        title: str,
        tasks: TaskRows,
        labels: Sequence[str],
        *,
        workers: int,
        suite: str = "masked",
        mode: str = "noised",
        **asked: Unpack[AskedSession],
    ) -> LiveLinks:
        """A new session that waits for so many workers. Give each of them a link of its own.

        `tasks` are a file or rows, as for a campaign. `suite` is masked or damgard_jurik, `mode`
        is noised, log_odds or as_published.
        """
        dealer = asked.get("dealer")
        given = {name: value for name, value in asked.items() if value is not None}
        if dealer is not None:
            given["dealer"] = dealer.as_json()
        body = {
            "title": title,
            "tasks": [each["task"] for each in task_documents(tasks)],
            "labels": list(labels),
            "workers": workers,
            "suite": suite,
            "mode": mode,
            **given,
        }
        return cast(LiveLinks, self._connection.post("/live", body))

    def sessions(self) -> list[LiveView]:
        """Every session, the newest first."""
        return cast("list[LiveView]", self._connection.get("/live")["sessions"])

    def show(self, session: str) -> LiveView:
        """How a session gets on: who has joined, who is waited for, what was opened."""
        return cast(LiveView, self._connection.get(_path(session)))

    def start(self, session: str) -> LiveView:
        """Begin with those who have joined. When all have, a session begins by itself."""
        return cast(LiveView, self._connection.post(_path(session, "start")))

    def stop(self, session: str) -> LiveView:
        """End a session, for good. What was opened stays."""
        return cast(LiveView, self._connection.post(_path(session, "stop")))

    def delete(self, session: str) -> None:
        """Delete a session with all that was opened in it, for good."""
        self._connection.delete(_path(session))

    def results_page(
        self,
        session: str,
        *,
        offset: int = 0,
        limit: int = 1000,
        order: Literal["place", "confidence"] = "place",
    ) -> LiveTruthsView:
        """Some truths of a session that is done, with what holds for all."""
        query = {"offset": offset, "limit": limit, "sort": order}
        return cast(LiveTruthsView, self._connection.get(_path(session, "results"), query=query))

    def results(self, session: str) -> Result:
        """All truths of a session that is done, as `sottovoce.infer` returns them."""
        summary = self.results_page(session, limit=1)["summary"]
        domain = Domain.categorical(self.show(session)["labels"])
        # Its server knows nothing of single workers.
        return result_of_rows(domain, summary, list(self.truths(session)), [])

    def truths(self, session: str) -> Iterator[LiveTruthView]:
        """Every truth of a session that is done, page by page as it is asked for."""
        return all_pages(self._connection, _path(session, "results"), "truths")

    def transcript(self, session: str) -> dict[str, Any]:
        """What the server has seen: the terms of the EM, and every opened total."""
        return cast("dict[str, Any]", self._connection.get(_path(session, "transcript")))


def _path(session: str, below: str = "") -> str:
    if not (isinstance(session, str) and CAMPAIGN_ID.fullmatch(session)):
        raise Refused(Reason.NOT_FOUND, "there is no such live session")
    return f"/live/{session}" + (f"/{below}" if below else "")
