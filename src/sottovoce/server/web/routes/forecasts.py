"""Forecasts: what to expect of a campaign that does not exist yet."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field

from sottovoce.errors import UsageError
from sottovoce.mechanisms.registry import release_class
from sottovoce.mechanisms.sampling import unsampled_document
from sottovoce.model.campaign import MOST_TASKS, MOST_WORKERS
from sottovoce.server.campaigns.drafts import malformed_field
from sottovoce.server.campaigns.forecasts import Outlook, Question
from sottovoce.server.web.bodies import Asked, DomainBody, PrivacyBody
from sottovoce.server.web.requests import BoundedRoute, Requester, TheService
from sottovoce.server.web.routes.campaigns import GuaranteeBody

router = APIRouter(tags=["campaigns"], route_class=BoundedRoute)


class ForecastAskedBody(Asked):
    """A campaign as it might be. A worker is given up to `privacy.answers` of the tasks."""

    domain: DomainBody
    privacy: PrivacyBody
    tasks: int = Field(ge=1, le=MOST_TASKS)
    workers: int = Field(ge=1, le=MOST_WORKERS)
    ability: Literal["mixed", "able", "expert"] = Field(
        "mixed",
        description="How able workers are: many weak ones among able ones, all fairly able, or "
        "all very able.",
    )

    def made(self) -> Question:
        """The question, checked as far as no simulation is needed."""
        with malformed_field("domain"):
            domain = self.domain.made()
            if not domain.is_numeric and domain.size < 2:
                raise UsageError("a forecast needs two labels or more")
        with malformed_field("privacy.mechanism"):
            if self.privacy.mechanism is not None:
                release_class(self.privacy.mechanism)
        with malformed_field("privacy"):
            target = self.privacy.target()
        mechanism, parameters = self.privacy.mechanism, self.privacy.planned()
        counts = self.tasks, self.workers
        return Question(domain, target, *counts, self.ability, mechanism, parameters)


class ForecastBody(BaseModel):
    """What simulated campaigns showed, and the policy they ran under: a draft can take it."""

    score: Literal["accuracy", "mean error"]
    expected: float
    band: tuple[float, float] = Field(
        description="Where the score of one such campaign lies in 9 of 10 cases."
    )
    trials: int
    clean: float = Field(description="The score without noise.")
    constant: float = Field(description="The score of the best constant, which asks nobody.")
    mechanism: str
    guarantee: GuaranteeBody
    policy: dict[str, Any] = Field(description="The policy's document.")
    in_browser: bool = Field(description="Whether workers need nothing but a browser.")
    simulated: Literal[True] = True
    notes: list[str] = Field(description="What was assumed, and what was made smaller.")

    @classmethod
    def of(cls, found: Outlook, answers: int) -> Self:
        """A forecast as an answer has it."""
        return cls(
            score="accuracy" if found.score == "accuracy" else "mean error",
            expected=found.expected,
            band=found.band,
            trials=found.trials,
            clean=found.clean,
            constant=found.constant,
            mechanism=unsampled_document(found.policy.mechanism)["name"],
            guarantee=GuaranteeBody.of(found.kept, answers),
            policy=found.policy.as_json(),
            in_browser=found.in_browser,
            notes=list(found.notes),
        )


@router.post("/forecasts")
async def post_forecast(_: Requester, service: TheService, body: ForecastAskedBody) -> ForecastBody:
    """Forecast how well a campaign would do. Nothing is stored.

    Takes about a second, unless the same was asked lately. Too many questions at once are refused
    with 503.
    """
    question = body.made()
    found = await asyncio.wrap_future(service.forecaster.ask(question))
    return ForecastBody.of(found, question.target.answers)
