"""Forecasts of planned campaigns."""

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
from sottovoce.server.web.routes.campaigns import DevicesBody, GuaranteeBody

router = APIRouter(tags=["campaigns"], route_class=BoundedRoute)


class ForecastAskedBody(Asked):
    """A planned campaign. A worker gets up to `privacy.answers` of the tasks."""

    domain: DomainBody
    privacy: PrivacyBody
    tasks: int = Field(ge=1, le=MOST_TASKS)
    workers: int = Field(ge=1, le=MOST_WORKERS)
    ability: Literal["mixed", "able", "expert"] = Field(
        "mixed",
        description="Workers' ability: many weak ones among able ones, all fairly able, or all "
        "very able.",
    )

    def made(self) -> Question:
        """The request, checked as far as possible without a simulation."""
        with malformed_field("domain"):
            domain = self.domain.made()
            if not domain.is_numeric and domain.size < 2:
                raise UsageError("a forecast needs at least two labels")
        with malformed_field("privacy.mechanism"):
            if self.privacy.mechanism is not None:
                release_class(self.privacy.mechanism)
        with malformed_field("privacy"):
            target = self.privacy.target()
        mechanism, parameters = self.privacy.mechanism, self.privacy.planned()
        counts = self.tasks, self.workers
        return Question(domain, target, *counts, self.ability, mechanism, parameters)


class ForecastBody(BaseModel):
    """The results of simulated campaigns, and their policy, which a draft can use."""

    score: Literal["accuracy", "mean error"]
    expected: float
    band: tuple[float, float] = Field(
        description="The range of the score in 9 of 10 such campaigns."
    )
    trials: int
    clean: float = Field(description="The score without noise.")
    constant: float = Field(description="The score of the best constant guess.")
    mechanism: str
    guarantee: GuaranteeBody
    devices: DevicesBody
    policy: dict[str, Any] = Field(description="The policy's document.")
    in_browser: bool = Field(description="Whether a browser is enough for workers.")
    simulated: Literal[True] = True
    notes: list[str] = Field(description="Assumptions and simplifications.")

    @classmethod
    def of(cls, found: Outlook, answers: int, workers: int) -> Self:
        """A forecast as a response."""
        return cls(
            score="accuracy" if found.score == "accuracy" else "mean error",
            expected=found.expected,
            band=found.band,
            trials=found.trials,
            clean=found.clean,
            constant=found.constant,
            mechanism=unsampled_document(found.policy.mechanism)["name"],
            guarantee=GuaranteeBody.of(found.kept, answers),
            devices=DevicesBody.of(found.devices, workers),
            policy=found.policy.as_json(),
            in_browser=found.in_browser,
            notes=list(found.notes),
        )


@router.post("/forecasts")
async def post_forecast(_: Requester, service: TheService, body: ForecastAskedBody) -> ForecastBody:
    """Forecast the accuracy of a campaign. Nothing is stored.

    It takes about a second, unless the result is cached. Too many requests at once are refused
    with 503.
    """
    question = body.made()
    found = await asyncio.wrap_future(service.forecaster.ask(question))
    return ForecastBody.of(found, question.target.answers, question.workers)
