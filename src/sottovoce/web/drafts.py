"""What a requester says when drafting a campaign."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from sottovoce.campaign.promising import calibrated_policy, given_policy
from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.mechanisms.registry import MECHANISMS
from sottovoce.mechanisms.targets import Target
from sottovoce.model import Domain, Kind, Policy, ShowDraw, Task, Terms, Unit
from sottovoce.model.campaign import (
    LONGEST_NAME,
    LONGEST_TEXT,
    LONGEST_UNIT,
    MOST_TASKS,
    MOST_WORKERS,
)
from sottovoce.model.policy import MOST_ANSWERS
from sottovoce.web.bodies import LIST_OF_TASKS, Asked, Day, TaskBody
from sottovoce.web.problems import malformed

__all__ = ["DomainBody", "DraftBody", "PrivacyBody"]


class LabelsBody(Asked):
    """Answers are one of some labels; ordinal ones go from least to most."""

    kind: Literal["categorical", "ordinal"]
    labels: Annotated[list[str | int | float | bool], FailFast()] = Field(
        min_length=1, max_length=100_000, examples=[["oak", "birch", "lime"]]
    )

    def made(self) -> Domain:
        """The domain, checked."""
        return Domain(Kind(self.kind), tuple(self.labels))


class NumbersBody(Asked):
    """Answers are numbers from low to high, in steps where one is given."""

    kind: Literal["numeric"]
    low: float
    high: float
    step: float | None = None

    def made(self) -> Domain:
        """The domain, checked."""
        return Domain.numeric(self.low, self.high, self.step)


DomainBody = Annotated[LabelsBody | NumbersBody, Field(discriminator="kind")]


class PrivacyBody(Asked):
    """The guarantee a policy shall be made for. Making it may take seconds."""

    epsilon: float = Field(gt=0, examples=[1.0])
    unit: Literal["answer", "worker"] = Field(
        "answer", description="What epsilon is for: each answer, or all answers of a worker."
    )
    delta: float = Field(0.0, ge=0, lt=1)
    answers: int = Field(ge=1, le=MOST_ANSWERS, description="The most answers of a worker.")
    hide_participation: bool = Field(
        False, description="Whether it stays private which tasks a worker answered."
    )
    mechanism: str | None = Field(
        None,
        description=f"One of {', '.join(MECHANISMS)}. Left out: randomised response for labels, "
        "from ten labels on subset selection, the piecewise mechanism for numbers, or those that "
        "hide participation.",
    )
    sample: int | None = Field(
        None, ge=1, description="How many answers a worker sends if the unit is the worker."
    )
    parameters: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="What the mechanism's calibration is told besides."
    )
    show_draw: Literal["before_send", "after_send"] = Field(
        "before_send",
        description="When a worker sees what was drawn for it: before it sends it, or after.",
    )

    def target(self) -> Target:
        """The same as calibrations take it."""
        return Target(
            self.epsilon, Unit(self.unit), self.delta, self.answers, self.hide_participation,
            self.sample, ShowDraw(self.show_draw),
        )  # fmt: skip

    def policy(self, domain: Domain) -> Policy:
        """The policy that was asked for."""
        return calibrated_policy(
            domain, self.target(), mechanism=self.mechanism, parameters=self.parameters
        )


class DraftBody(Asked):
    """What a campaign asks and promises: a policy, or a domain and the privacy asked for."""

    model_config = ConfigDict(
        json_schema_extra={
            "oneOf": [
                {"required": ["policy"], "properties": {"domain": False, "privacy": False}},
                {"required": ["domain", "privacy"], "properties": {"policy": False}},
            ]
        }
    )

    title: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["Leaves"])
    question: str = Field(
        min_length=1, max_length=LONGEST_TEXT, examples=["Which tree is this leaf from?"]
    )
    unit: str | None = Field(
        None, max_length=LONGEST_UNIT, description="What numbers are in.", examples=["°C"]
    )
    quota: int | None = Field(
        None, ge=1, le=MOST_WORKERS, description="How many workers may take part."
    )
    closes_on: Day | None = Field(
        None, description="The first day (UTC) on which no report is taken."
    )
    # Looked into one by one by whoever has time: a million at once would keep everybody waiting.
    tasks: Annotated[list[Any], WithJsonSchema(LIST_OF_TASKS)] | None = Field(
        None, min_length=1, max_length=MOST_TASKS
    )
    policy: dict[str, Any] | None = Field(None, description="A policy's document.")
    domain: DomainBody | None = None
    privacy: PrivacyBody | None = None

    @model_validator(mode="after")
    def _promises_once(self) -> Self:
        asked = self.domain is not None and self.privacy is not None
        neither = self.domain is None and self.privacy is None
        if not (asked if self.policy is None else neither):
            raise ValueError("give either a policy, or a domain and privacy")
        return self

    def terms(self) -> Terms:
        """The terms, with a policy that keeps its promise. May take seconds."""
        return Terms(
            self.title, self.question, self._policy(), self.unit, self.quota, self.closes_on
        )

    def made_tasks(self) -> Sequence[Task] | None:
        """The tasks, if any are given."""
        if self.tasks is None:
            return None
        return [_task(place, body) for place, body in enumerate(self.tasks)]

    def _policy(self) -> Policy:
        if self.domain is not None and self.privacy is not None:
            return self.privacy.policy(self.domain.made())
        return given_policy(self.policy)


def _task(place: int, given: Any) -> Task:
    try:
        return TaskBody.model_validate(given).made()
    except ValidationError as error:
        raise malformed(error.errors()[0], f"tasks.{place}") from None
    except UsageError as error:
        raise Refused(Reason.MALFORMED, str(error), field=f"tasks.{place}") from None
