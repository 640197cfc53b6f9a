"""Bodies shared by routes: days, tasks, domains, and the draft of a campaign."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.mechanisms.registry import RELEASES, is_sealed
from sottovoce.mechanisms.sealed_sum import MOST_MINIMUM, MOST_SEATS, MOST_STEPS, SealedSum
from sottovoce.model import Campaign, Domain, Kind, Policy, ShowDraw, Task, Terms, Unit
from sottovoce.model.campaign import (
    LONGEST_NAME,
    LONGEST_TEXT,
    LONGEST_UNIT,
    MOST_TASKS,
    MOST_WORKERS,
)
from sottovoce.model.domain import label_text
from sottovoce.model.keyholder import Keyholder
from sottovoce.model.policy import MOST_ANSWERS
from sottovoce.server.campaigns.guarantees import (
    calibrated_policy,
    chosen_assignment,
    given_policy,
)
from sottovoce.server.web.problems import malformed

_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Asked(BaseModel):
    """A request body: types are strict, and unknown fields are refused."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        strict=True, extra="forbid", allow_inf_nan=False
    )


def _day(value: Any) -> date:
    if isinstance(value, date):
        return value
    if not (isinstance(value, str) and _ISO_DAY.fullmatch(value)):
        raise ValueError("write the day as 2031-12-24")
    return date.fromisoformat(value)


Day = Annotated[date, BeforeValidator(_day), Field(examples=["2031-12-24"])]
"""A day, in UTC."""


class TaskBody(Asked):
    """A task: its name in tables, its text for workers, an optional image and known truth."""

    task: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["leaf-17"])
    text: str | None = Field(
        None,
        max_length=LONGEST_TEXT,
        description="Plain text. Default: the task's name.",
        examples=["Which tree is this leaf from?"],
    )
    image: str | None = Field(
        None, max_length=LONGEST_TEXT, examples=["https://images.example/leaf-17.jpg"]
    )

    known: str | bool | int | float | None = Field(
        None,
        description="The truth, if it is known: inference uses it, and workers never see it.",
        examples=["oak"],
    )

    def made(self) -> Task:
        """The task, checked."""
        known = None if self.known is None else label_text(self.known)
        return Task(self.task, self.text or self.task, self.image, known)

    @classmethod
    def of(cls, task: Task) -> Self:
        """A task in a response."""
        return cls(task=task.name, text=task.text, image=task.image, known=task.known)


LIST_OF_TASKS: dict[str, Any] = {
    "type": "array",
    "items": {"$ref": "#/components/schemas/TaskBody"},
}
"""The schema of a list of tasks that is validated by hand."""


Coordinator: TypeAlias = Callable[[], str]
"""The server's public signing key, made on first use."""


class LabelsBody(Asked):
    """Answers are labels; ordinal labels go from least to most."""

    kind: Literal["categorical", "ordinal"]
    labels: Annotated[list[str | int | float | bool], FailFast()] = Field(
        min_length=1, max_length=100_000, examples=[["oak", "birch", "lime"]]
    )

    def made(self) -> Domain:
        """The domain, checked."""
        return Domain(Kind(self.kind), tuple(self.labels))


class NumbersBody(Asked):
    """Answers are numbers from low to high, in steps if a step is given."""

    kind: Literal["numeric"]
    low: float
    high: float
    step: float | None = None

    def made(self) -> Domain:
        """The domain, checked."""
        return Domain.numeric(self.low, self.high, self.step)


DomainBody = Annotated[LabelsBody | NumbersBody, Field(discriminator="kind")]


class KeyholderBody(Asked):
    """A keyholder's card: its name and two public keys, each of 32 bytes in URL-safe base64."""

    format: Literal["sottovoce-keyholder/1"] = "sottovoce-keyholder/1"
    name: str = Field(min_length=1, max_length=LONGEST_NAME, examples=["City library"])
    sealing: str = Field(min_length=43, max_length=43)
    signing: str = Field(min_length=43, max_length=43)

    def made(self) -> Keyholder:
        """The keyholder, checked."""
        return Keyholder(self.name, self.sealing, self.signing)


class SealedBody(Asked):
    """The keyholders of a sealed campaign, and the totals they open."""

    keyholders: list[KeyholderBody] = Field(
        default_factory=list,
        max_length=MOST_SEATS,
        description="Their cards, in the order of their seats. A draft without them cannot open.",
    )
    degree: int = Field(
        1,
        ge=1,
        le=MOST_SEATS,
        description="How many of them may collude and learn nothing.",
    )
    minimum: int = Field(
        10, ge=2, le=MOST_MINIMUM, description="The fewest contributions in an opened total."
    )
    layout: Literal["votes", "sum", "histogram"] | None = Field(
        None, description="The values added up. Default: votes for labels, sums for numbers."
    )
    size: int | None = Field(
        None, ge=2, le=MOST_STEPS, description="Steps of a sum, or bins of a histogram."
    )

    def parameters(self, coordinator: str) -> dict[str, Any]:
        """The parameters for calibration."""
        keyholders = tuple(keyholder.made() for keyholder in self.keyholders)
        named = {"keyholders": keyholders, "coordinator": coordinator}
        chosen = {"layout": self.layout, "size": self.size}
        return {
            "degree": self.degree,
            "minimum": self.minimum,
            "seats": max(len(keyholders), 2 * self.degree + 1),
            **(named if keyholders else {}),
            **{name: value for name, value in chosen.items() if value is not None},
        }


class PrivacyBody(Asked):
    """The guarantee that a policy is calibrated for. Calibration may take seconds."""

    epsilon: float = Field(gt=0, examples=[1.0])
    unit: Literal["answer", "worker"] = Field(
        "answer",
        description="Unit that epsilon covers: each answer, or all answers of a worker.",
    )
    delta: float = Field(0.0, ge=0, lt=1)
    answers: int = Field(ge=1, le=MOST_ANSWERS, description="The most answers of a worker.")
    hide_participation: bool = Field(
        False, description="Whether the policy hides which tasks a worker answered."
    )
    mechanism: str | None = Field(
        None,
        description=f"One of {', '.join(RELEASES)}. Left out: randomised response for labels, "
        "from ten labels on subset selection, the piecewise mechanism for numbers, or those that "
        "hide participation.",
    )
    sample: int | None = Field(
        None, ge=1, description="How many answers a worker sends if the unit is the worker."
    )
    parameters: dict[str, bool | int | float | str] = Field(
        default_factory=dict, description="Further parameters of the mechanism's calibration."
    )
    show_draw: Literal["before_send", "after_send"] = Field(
        "before_send",
        description="When a worker sees the drawn reports: before or after sending.",
    )
    sealed: SealedBody | None = Field(None, description="For the mechanism sealed-sum only.")

    @model_validator(mode="after")
    def _seals_as_it_says(self) -> Self:
        if self.sealed is not None and not is_sealed(self.mechanism or ""):
            raise ValueError(f"keyholders need the mechanism {SealedSum.name}; set it too")
        return self

    def target(self) -> Target:
        """The target for calibrations."""
        return Target(
            self.epsilon,
            Unit(self.unit),
            self.delta,
            self.answers,
            self.hide_participation,
            self.sample,
            ShowDraw(self.show_draw),
        )

    def planned(self) -> dict[str, Any]:
        """Further calibration parameters for a plan: without keyholders."""
        sealed = {} if self.sealed is None else self.sealed.parameters("")
        named = ("keyholders", "coordinator")
        return dict(self.parameters) | {k: v for k, v in sealed.items() if k not in named}

    def policy(self, domain: Domain, coordinator: Coordinator) -> Policy:
        """The requested policy; one for sealed answers pins the server's key."""
        parameters: dict[str, Any] = dict(self.parameters)
        if self.sealed is not None:
            parameters |= self.sealed.parameters(coordinator())
        return calibrated_policy(
            domain, self.target(), mechanism=self.mechanism, parameters=parameters
        )


class DraftBody(Asked):
    """A campaign's terms: a policy, or a domain and the requested privacy."""

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
        None, max_length=LONGEST_UNIT, description="The unit of numbers.", examples=["°C"]
    )
    quota: int | None = Field(
        None, ge=1, le=MOST_WORKERS, description="How many workers may take part."
    )
    closes_on: Day | None = Field(
        None, description="The first day (UTC) on which no report is accepted."
    )
    # Validated later, one by one: validating a million at once would block other requests.
    tasks: Annotated[list[Any], WithJsonSchema(LIST_OF_TASKS)] | None = Field(
        None, min_length=1, max_length=MOST_TASKS
    )
    assignment: Literal["need", "hash"] | None = Field(
        None,
        description="Whether a worker gets the tasks with too few reports and undecided ones "
        "first, or tasks chosen by a hash of its pseudonym. Left out: need, if the policy allows "
        "a worker's answers to go out in parts.",
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

    def terms(self, coordinator: Coordinator) -> Terms:
        """The terms, with a verified policy. May take seconds."""
        policy = self._policy(coordinator)
        assignment = chosen_assignment(policy, self.assignment)
        texts = self.title, self.question, policy, self.unit
        return Terms(*texts, self.quota, self.closes_on, assignment)

    def made_tasks(self) -> Sequence[Task] | None:
        """The tasks, if any are given."""
        if self.tasks is None:
            return None
        return [_task(place, body) for place, body in enumerate(self.tasks)]

    def _policy(self, coordinator: Coordinator) -> Policy:
        if self.domain is not None and self.privacy is not None:
            return self.privacy.policy(self.domain.made(), coordinator)
        return given_policy(self.policy)


def _task(place: int, given: Any) -> Task:
    try:
        return TaskBody.model_validate(given).made()
    except ValidationError as error:
        raise malformed(error.errors()[0], f"tasks.{place}") from None
    except UsageError as error:
        raise Refused(Reason.MALFORMED, str(error), field=f"tasks.{place}") from None


def campaign_fields(campaign: Campaign) -> dict[str, Any]:
    """The fields of a campaign that both requesters and workers see."""
    terms = campaign.terms
    return {
        "id": campaign.id,
        "state": campaign.state,
        "simulated": campaign.simulated,
        "title": terms.title,
        "question": terms.question,
        "unit": terms.unit,
        "policy": terms.policy.as_json(),
        "policy_hash": terms.policy.hash,
        "answers": terms.answers,
        "block": campaign.block,
        "tasks": campaign.tasks,
        "published": campaign.published,
        "assignment": terms.assignment,
    }
