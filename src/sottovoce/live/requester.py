"""Live sessions on a server, for requesters."""

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
    """The settings of a live session; omitted ones have defaults.

    `scale` is steps per unit, `rounds` the most rounds, `patience` the seconds of a phase. A sum is
    opened when `threshold` workers confirm it, and never with fewer than `minimum` workers. Noised
    sessions need `epsilon`, and may have `delta` and `weighted_rounds`; `damgard_jurik` needs a
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
    """A new session: a link for each worker, and the dealer's. They are shown only once."""

    id: str
    links: list[str]
    dealer_link: str | None


class LiveView(TypedDict):
    """A session. Lists omit the fields after `culprits`."""

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
    """The largest privacy loss of the opened sums, and its assumptions."""

    per_answer: float
    per_worker: float | None
    delta: float
    answers: int
    assumptions: list[str]


class LiveResultView(TypedDict):
    """The summary of a result; `words` describe the guarantee or its absence."""

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
    """The live sessions of a server, in which workers who are online together compute sums."""

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
        """Make a session that waits for this many workers. Give each of them their own link.

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
        """The progress of a session: joined workers, missing replies, opened rounds."""
        return cast(LiveView, self._connection.get(_path(session)))

    def start(self, session: str) -> LiveView:
        """Start with the joined workers. A session starts by itself when all have joined."""
        return cast(LiveView, self._connection.post(_path(session, "start")))

    def stop(self, session: str) -> LiveView:
        """Stop a session permanently. Opened totals stay."""
        return cast(LiveView, self._connection.post(_path(session, "stop")))

    def delete(self, session: str) -> None:
        """Delete a session with all its opened totals. This cannot be undone."""
        self._connection.delete(_path(session))

    def results_page(
        self,
        session: str,
        *,
        offset: int = 0,
        limit: int = 1000,
        order: Literal["place", "confidence"] = "place",
    ) -> LiveTruthsView:
        """A page of truths of a finished session, with its summary."""
        query = {"offset": offset, "limit": limit, "sort": order}
        return cast(LiveTruthsView, self._connection.get(_path(session, "results"), query=query))

    def results(self, session: str) -> Result:
        """All truths of a finished session, as `sottovoce.infer` returns them."""
        summary = self.results_page(session, limit=1)["summary"]
        domain = Domain.categorical(self.show(session)["labels"])
        # The server has no data of single workers.
        return result_of_rows(domain, summary, list(self.truths(session)), [])

    def truths(self, session: str) -> Iterator[LiveTruthView]:
        """Every truth of a finished session, fetched page by page."""
        return all_pages(self._connection, _path(session, "results"), "truths")

    def transcript(self, session: str) -> dict[str, Any]:
        """Everything the server has seen: the terms of the EM, and every opened total."""
        return cast("dict[str, Any]", self._connection.get(_path(session, "transcript")))


def _path(session: str, below: str = "") -> str:
    if not (isinstance(session, str) and CAMPAIGN_ID.fullmatch(session)):
        raise Refused(Reason.NOT_FOUND, "the live session does not exist")
    return f"/live/{session}" + (f"/{below}" if below else "")
