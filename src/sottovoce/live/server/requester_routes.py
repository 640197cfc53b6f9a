"""Live session routes for requesters: create, start, watch and stop."""

from __future__ import annotations

from typing import Any, Literal, Self

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from sottovoce.live.server.draft import SessionDraft
from sottovoce.live.server.member_routes import SessionId
from sottovoce.live.server.roster import create_session, start
from sottovoce.live.server.session_result import transcript, truths_page
from sottovoce.live.server.supervision import SessionProgress, list_sessions, progress, remove, stop
from sottovoce.model.campaign import LONGEST_NAME
from sottovoce.securesum.em.terms import Mode
from sottovoce.securesum.star.terms import Suite
from sottovoce.server.campaigns.drafts import malformed_field
from sottovoce.server.campaigns.results import Sort
from sottovoce.server.database.live_sessions import LiveState
from sottovoce.server.web.bodies import Asked, Day, KeyholderBody
from sottovoce.server.web.requests import Requester, RoomyRoute, TheService
from sottovoce.server.web.routes.results import Limit, Offset

router = APIRouter(tags=["live"], route_class=RoomyRoute)


class LiveAskedBody(Asked):
    """The settings of a new live session."""

    title: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["Leaves"])
    tasks: list[str] = Field(description="The names of the tasks.", examples=[["t1", "t2"]])
    labels: list[str] = Field(description="The labels of an answer.", examples=[["no", "yes"]])
    suite: Literal["masked", "damgard_jurik"] = Field(description="How sums are sealed.")
    mode: Literal["as_published", "log_odds", "noised"] = Field(
        description="The sums that are opened. Only `noised` has a guarantee."
    )
    workers: int = Field(
        description="How many links are made. The session starts when all workers have joined."
    )
    scale: int | None = Field(
        None, description="Steps per unit. Default: depends on the mode; noise has its own."
    )
    rounds: int = Field(100, description="The most rounds after the first.")
    patience: float = Field(60.0, description="Seconds that a phase waits for replies.")
    threshold: int | None = Field(
        None,
        description="How many must confirm a set before it is opened. Default: two thirds of the "
        "joined workers, plus one.",
    )
    minimum: int | None = Field(
        None, description="The fewest workers in an opened sum. Default: the threshold."
    )
    epsilon: float | None = Field(None, description="`noised` only: the largest privacy loss.")
    delta: float | None = Field(None, description="`noised` only: the failure probability.")
    weighted_rounds: int | None = Field(
        None, description="`noised` only: rounds after the counts. Default: as many as are useful."
    )
    bits: int | None = Field(None, description="`damgard_jurik` only: 1024, 2048 or 3072.")
    s: int | None = Field(
        None,
        description="`damgard_jurik` only: the exponent s, 1 to 4; a larger one gives more room.",
    )
    dealer: KeyholderBody | None = Field(
        None,
        description="`damgard_jurik` only: the card of the dealer, who makes the key and "
        "deletes it.",
    )

    def made(self) -> SessionDraft:
        """The offer, checked."""
        asked = self.model_dump(exclude={"dealer"})
        with malformed_field("dealer"):
            dealer = None if self.dealer is None else self.dealer.made()
        return SessionDraft.asked(
            **{**asked, "tasks": tuple(self.tasks), "labels": tuple(self.labels), "dealer": dealer}
        )


class LiveCreatedBody(BaseModel):
    """A new session. The links are shown only once; each is for one worker."""

    id: str = Field(examples=["k7f3q2mzab"])
    links: list[str] = Field(examples=[["https://answers.example/l/k7f3q2mzab#svl_cq7Wd0m…"]])
    dealer_link: str | None


class LiveSummaryBody(BaseModel):
    """A session in a list."""

    id: str = Field(examples=["k7f3q2mzab"])
    title: str
    state: LiveState
    suite: Suite
    mode: Mode
    tasks: int = Field(description="How many tasks there are.")
    labels: list[str]
    workers: int = Field(description="How many links were made.")
    joined: int = Field(description="How many workers have joined.")
    opened: int = Field(description="How many rounds were opened.")
    created_on: Day
    reason: str | None = Field(description="Why it was aborted.")
    culprits: list[str] = Field(description="The members responsible, if known.")

    @classmethod
    def fields_of(cls, found: SessionProgress) -> dict[str, Any]:
        """The fields shown both in lists and for one session."""
        offer = found.offer
        offered = {name: offer[name] for name in ("title", "suite", "mode", "labels", "workers")}
        known = ("id", "state", "joined", "opened", "created_on", "reason")
        return {
            **offered,
            **{name: getattr(found, name) for name in known},
            "tasks": len(offer["tasks"]),
            "culprits": list(found.culprits),
        }


class LiveBody(LiveSummaryBody):
    """The progress of a session."""

    patience: float
    round: int | None = Field(description="The current round, counted from 0.")
    phase: str | None = Field(description="The current phase.", examples=["contribute"])
    waiting: list[int] = Field(description="Members who have not replied in this phase.")
    alive: list[int] = Field(description="Members who still take part.")
    excluded: dict[str, str] = Field(description="Excluded members, by number, and why.")
    session: str | None = Field(description="The hash of the terms, contained in every message.")
    terms: dict[str, Any] | None = Field(description="The terms, once the session has started.")

    @classmethod
    def of(cls, found: SessionProgress) -> Self:
        """The progress as a response."""
        return cls(
            **cls.fields_of(found),
            patience=found.offer["patience"],
            round=found.round,
            phase=found.phase,
            waiting=list(found.waiting),
            alive=list(found.alive),
            excluded={str(member): why for member, why in found.excluded.items()},
            session=found.session,
            terms=None if found.terms is None else dict(found.terms),
        )


class LiveListBody(BaseModel):
    """All sessions, the newest first."""

    sessions: list[LiveSummaryBody]


class LiveGuaranteeBody(BaseModel):
    """The largest privacy loss of the opened sums (epsilon), and its assumptions."""

    per_answer: float
    per_worker: float | None = Field(
        description="For a worker with `answers` answers; null if no finite one holds."
    )
    delta: float
    answers: int
    assumptions: list[str]


class LiveResultBody(BaseModel):
    """The summary of a session's result."""

    method: str
    rounds: int
    converged: bool
    workers: int = Field(description="The workers in the last sum.")
    tasks: int
    version: str
    guarantee: LiveGuaranteeBody | None
    words: str = Field(description="The guarantee in words.")


class LiveTruthBody(BaseModel):
    """The truth of a task."""

    task: str
    truth: str
    confidence: float | None
    answers: int = Field(description="How many answers it had; noisy if the session has noise.")


class LiveTruthsBody(BaseModel):
    """A page of truths."""

    summary: LiveResultBody
    truths: list[LiveTruthBody]
    total: int


class LiveRoundBody(BaseModel):
    """The totals opened in one round."""

    totals: list[str] = Field(description="Integers as texts: they may have more than 15 digits.")
    workers: int


class TranscriptBody(BaseModel):
    """Everything the server has seen: the terms of the EM and every opened total."""

    format: str = Field(examples=["sottovoce-transcript/1"])
    em: dict[str, Any]
    workers: int
    rounds: list[LiveRoundBody]
    assignments: dict[str, list[str]] | None


@router.post("/live", status_code=201)
def post_live(
    request: Request, _: Requester, service: TheService, body: LiveAskedBody
) -> LiveCreatedBody:
    """Make a live session, in which workers who are online together compute sums, and its links."""
    public_url = request.app.state.settings.public_url
    made = create_session(service, body.made(), public_url=public_url)
    return LiveCreatedBody(id=made.id, links=list(made.links), dealer_link=made.dealer_link)


@router.get("/live")
def get_lives(_: Requester, service: TheService) -> LiveListBody:
    """List all live sessions, the newest first."""
    found = [LiveSummaryBody.fields_of(each) for each in list_sessions(service)]
    return LiveListBody(sessions=[LiveSummaryBody(**each) for each in found])


@router.get("/live/{session_id}")
def get_live(_: Requester, service: TheService, session_id: SessionId) -> LiveBody:
    """Show the progress of a live session."""
    return LiveBody.of(progress(service, session_id))


@router.post("/live/{session_id}/start")
def post_start(_: Requester, service: TheService, session_id: SessionId) -> LiveBody:
    """Start a live session with the joined workers. It starts by itself when all have joined."""
    start(service, session_id)
    return LiveBody.of(progress(service, session_id))


@router.post("/live/{session_id}/stop")
def post_stop(_: Requester, service: TheService, session_id: SessionId) -> LiveBody:
    """Stop a live session permanently. Opened totals stay."""
    stop(service, session_id)
    return LiveBody.of(progress(service, session_id))


@router.delete("/live/{session_id}", status_code=204)
def remove_live(_: Requester, service: TheService, session_id: SessionId) -> None:
    """Delete a live session with all its opened totals, in any state."""
    remove(service, session_id)


@router.get("/live/{session_id}/results")
def get_live_results(
    _: Requester,
    service: TheService,
    session_id: SessionId,
    offset: Offset = 0,
    limit: Limit = 1000,
    sort: Sort = Sort.PLACE,
) -> LiveTruthsBody:
    """List the truths of a finished live session; by confidence, the least certain come first."""
    return LiveTruthsBody(**truths_page(service, session_id, offset, limit, sort))


@router.get("/live/{session_id}/transcript", response_model=TranscriptBody)
def get_transcript(_: Requester, service: TheService, session_id: SessionId) -> Response:
    """Show what the server has seen of a live session, as input for `sottovoce sealed attack`.

    It contains no key, no answer and no contribution.
    """
    return Response(transcript(service, session_id).text(), media_type="application/json")
