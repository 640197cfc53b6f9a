"""Live sessions as their requesters see them: asked for, begun, watched, ended."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from sottovoce.live.server.draft import SessionDraft
from sottovoce.live.server.member_routes import SessionId
from sottovoce.live.server.roster import create_session, start
from sottovoce.live.server.session_result import Truths, transcript, truths_page
from sottovoce.live.server.supervision import SessionProgress, list_sessions, progress, remove, stop
from sottovoce.model.campaign import LONGEST_NAME
from sottovoce.securesum.em.terms import Mode
from sottovoce.securesum.star.terms import Suite
from sottovoce.server.campaigns.drafts import malformed_field
from sottovoce.server.campaigns.results import Sort
from sottovoce.server.database.live_sessions import LiveState
from sottovoce.server.web.bodies import Asked, Day, KeyholderBody
from sottovoce.server.web.requests import Requester, RoomyRoute, TheService

router = APIRouter(tags=["live"], route_class=RoomyRoute)

MOST_ROWS = 100_000
Offset = Annotated[int, Query(ge=0, le=1 << 31)]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]


class LiveAskedBody(Asked):
    """What workers are asked to add up together, and how."""

    title: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["Leaves"])
    tasks: list[str] = Field(description="The names of the tasks.", examples=[["t1", "t2"]])
    labels: list[str] = Field(description="What an answer may be.", examples=[["no", "yes"]])
    suite: Literal["masked", "damgard_jurik"] = Field(description="How sums are sealed.")
    mode: Literal["as_published", "log_odds", "noised"] = Field(
        description="What is opened: only noised has a guarantee."
    )
    workers: int = Field(description="How many links are made; it begins when all have joined.")
    scale: int | None = Field(
        None, description="Steps to one. Left out: what suits the mode; noise brings its own."
    )
    rounds: int = Field(100, description="The most rounds after the first.")
    patience: float = Field(60.0, description="Seconds that a phase waits for its last reply.")
    threshold: int | None = Field(
        None,
        description="How many must confirm a set before it is opened. Left out: two thirds of "
        "those who join, and one more.",
    )
    minimum: int | None = Field(
        None, description="The fewest workers of whom a sum is opened. Left out: the threshold."
    )
    epsilon: float | None = Field(None, description="noised only: the most that is betrayed.")
    delta: float | None = Field(None, description="noised only: the chance of more.")
    weighted_rounds: int | None = Field(
        None, description="noised only: rounds after the counts. Left out: as many as pay."
    )
    bits: int | None = Field(None, description="damgard_jurik only: 1024, 2048 or 3072.")
    s: int | None = Field(None, description="damgard_jurik only: room in a ciphertext, 1 to 4.")
    dealer: KeyholderBody | None = Field(
        None, description="damgard_jurik only: the card of who deals the key and forgets it."
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
    """A new session. The links are shown now and never again; each is for one worker."""

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
    tasks: int = Field(description="How many there are.")
    labels: list[str]
    workers: int = Field(description="How many links were made.")
    joined: int = Field(description="How many workers have joined.")
    opened: int = Field(description="How many rounds were opened.")
    created_on: Day
    reason: str | None = Field(description="Why it was aborted.")
    culprits: list[str] = Field(description="Who is to blame for that, where it is known.")

    @classmethod
    def fields_of(cls, found: SessionProgress) -> dict[str, Any]:
        """What a list and the session itself show alike."""
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
    """How a session gets on."""

    patience: float
    round: int | None = Field(description="The round that is on, counted from 0.")
    phase: str | None = Field(description="The phase that is on.", examples=["contribute"])
    waiting: list[int] = Field(description="Who is asked in it and has not answered.")
    alive: list[int] = Field(description="Who is still in it.")
    excluded: dict[str, str] = Field(description="Who is not, by number, and why.")
    session: str | None = Field(description="The hash of the terms, which is in every message.")
    terms: dict[str, Any] | None = Field(description="What everybody agrees on, once it begins.")

    @classmethod
    def of(cls, found: SessionProgress) -> Self:
        """Progress as an answer has it."""
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
    """The most that the opened sums betray (epsilon), and on what that rests."""

    per_answer: float
    per_worker: float | None = Field(
        description="For a worker with so many answers; null where no finite one holds."
    )
    delta: float
    answers: int
    assumptions: list[str]


class LiveResultBody(BaseModel):
    """What a session's result says about itself."""

    method: str
    rounds: int
    converged: bool
    workers: int = Field(description="Whose contributions are in the last sum.")
    tasks: int
    version: str
    guarantee: LiveGuaranteeBody | None
    words: str = Field(description="What the opened sums betray, in words.")


class LiveTruthBody(BaseModel):
    """What inference says about a task."""

    task: str
    truth: str
    confidence: float | None
    answers: int = Field(description="How many answers it had; with noise where there is noise.")


class LiveTruthsBody(BaseModel):
    """Some of the truths."""

    summary: LiveResultBody
    truths: list[LiveTruthBody]
    total: int

    @classmethod
    def of(cls, page: Truths) -> Self:
        """A page of truths as an answer has it."""
        return cls(
            summary=LiveResultBody(**page.summary),
            truths=[LiveTruthBody(**row) for row in page.rows],
            total=page.total,
        )


class LiveRoundBody(BaseModel):
    """What one round opened."""

    totals: list[str] = Field(description="Integers, as texts: they may have more digits than 15.")
    workers: int


class TranscriptBody(BaseModel):
    """What the server has seen: the terms of the EM and every opened total."""

    format: str = Field(examples=["sottovoce-transcript/1"])
    em: dict[str, Any]
    workers: int
    rounds: list[LiveRoundBody]
    assignments: dict[str, list[str]] | None


@router.post("/live", status_code=201)
def post_live(
    request: Request, _: Requester, service: TheService, body: LiveAskedBody
) -> LiveCreatedBody:
    """Make a live session, in which workers who are all there add up sums. Make its links."""
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
    """Show how a live session gets on."""
    return LiveBody.of(progress(service, session_id))


@router.post("/live/{session_id}/start")
def post_start(_: Requester, service: TheService, session_id: SessionId) -> LiveBody:
    """Begin a live session with those who have joined. When all have, it begins by itself."""
    start(service, session_id)
    return LiveBody.of(progress(service, session_id))


@router.post("/live/{session_id}/stop")
def post_stop(_: Requester, service: TheService, session_id: SessionId) -> LiveBody:
    """End a live session, for good. What was opened stays."""
    stop(service, session_id)
    return LiveBody.of(progress(service, session_id))


@router.delete("/live/{session_id}", status_code=204)
def remove_live(_: Requester, service: TheService, session_id: SessionId) -> None:
    """Delete a live session with all that was opened in it, in whatever state it is."""
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
    """Truths of a live session that is done; by confidence, the least sure come first."""
    return LiveTruthsBody.of(truths_page(service, session_id, offset, limit, sort))


@router.get("/live/{session_id}/transcript", response_model=TranscriptBody)
def get_transcript(_: Requester, service: TheService, session_id: SessionId) -> Response:
    """What the server has seen of a live session, as `sottovoce sealed attack` reads it.

    It has no key, no answer and no contribution.
    """
    return Response(transcript(service, session_id).text(), media_type="application/json")
