"""What a server tells a requester, as JSON has it. Days are ISO dates.

Campaigns, results, keyholders, tokens and webhooks; and what a server foretells of a campaign,
shows of it at a glance, and says for a paper.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from sottovoce.model import Guarantee, Unit


class HeldView(TypedDict):
    """What holds for one unit; `epsilon` is null where no finite one does."""

    epsilon: float | None
    delta: float
    exact: bool
    answers: int


class GuaranteeView(TypedDict):
    """What a campaign promises, per answer and per worker, and in words."""

    per_answer: HeldView
    per_worker: HeldView
    odds: str | None
    warning: str | None


class CampaignView(TypedDict):
    """A campaign. `answers` is the most a worker gives, `block` how many tasks a worker gets.

    The workers of a `simulated` one are simulated.
    """

    id: str
    state: Literal["draft", "open", "closed"]
    simulated: bool
    title: str
    question: str
    unit: str | None
    domain: dict[str, Any]
    policy: dict[str, Any]
    policy_hash: str
    guarantee: GuaranteeView
    answers: int
    block: int
    tasks: int
    quota: int | None
    closes_on: str | None
    workers: int
    submissions: int
    reports: int
    opened_on: str | None
    closed_on: str | None
    sealed: bool
    published: bool


class InviteCounts(TypedDict):
    """How many invites there are of each kind, and how many single-use ones were used."""

    open: int
    single: int
    used: int


class TruthView(TypedDict):
    """A task's truth. Labels have a confidence, numbers a standard error."""

    task: str
    truth: str | float
    answers: int
    confidence: NotRequired[float | None]
    standard_error: NotRequired[float | None]


class WorkerView(TypedDict):
    """How much a worker counted."""

    worker: str
    weight: float
    answers: int


class SummaryView(TypedDict):
    """What is known of all truths.

    `converged` says that the method came to an end, `settled` that further reports hardly change
    the truths. `problem` is why there are none.
    """

    method: str | None
    reports: int
    workers: int
    tasks: int
    rounds: int
    converged: bool
    settled: bool
    version: str
    problem: str | None


class ResultsView(TypedDict):
    """One page of truths; `summary` is null until something was inferred."""

    summary: SummaryView | None
    truths: list[TruthView]
    total: int
    reports_waiting: int


class KeyholderLinkView(TypedDict):
    """A link for one keyholder, which nobody can read again."""

    seat: int
    name: str
    link: str


class SeatView(TypedDict):
    """A keyholder: when it was here last, and what it has done."""

    seat: int
    name: str
    fingerprint: str
    seen_on: str | None
    is_here: bool
    dealt: bool
    confirmed: int | None
    opened: bool


class DroppedView(TypedDict):
    """A contribution that failed the keyholders' checks."""

    worker: str
    reason: str
    words: str


class QuorumView(TypedDict):
    """How many keyholders must open the total, and how many have."""

    needed: int
    opened: int


class RoundsView(TypedDict):
    """How a sealed campaign gets on. `waiting` contributions are in no certified state yet."""

    phase: Literal["dealing", "collecting", "checking", "closing", "opening", "opened", "dead"]
    keyholders: list[SeatView]
    uploads: int
    waiting: int
    checked: int
    dropped: list[DroppedView]
    minimum: int
    quorum: QuorumView
    problem: str | None
    state: str | None


class RejectionView(TypedDict):
    """How many reports were refused for one reason."""

    reason: str
    words: str
    count: int


class RejectionsView(TypedDict):
    """Refused reports by reason, the most frequent first."""

    rejections: list[RejectionView]
    total: int


class TokenView(TypedDict):
    """A requester's token, without the token."""

    id: str
    name: str
    created_on: str


class NewToken(TypedDict):
    """A token that was just made: nobody can read it again."""

    token: str
    id: str


class DeliveryView(TypedDict):
    """What became of telling one event."""

    id: str
    event: str
    state: str
    attempts: int


class WebhookView(TypedDict):
    """Where a campaign's events are told, and the newest deliveries first."""

    id: str
    address: str
    deliveries: list[DeliveryView]


class NewWebhook(TypedDict):
    """A webhook that was just added: nobody can read its secret again."""

    id: str
    secret: str


def guarantees_of(view: GuaranteeView) -> tuple[Guarantee, Guarantee]:
    """What holds per answer and per worker."""
    return _held(view["per_answer"], Unit.ANSWER), _held(view["per_worker"], Unit.WORKER)


def _held(view: HeldView, unit: Unit) -> Guarantee:
    epsilon = float("inf") if view["epsilon"] is None else view["epsilon"]
    return Guarantee(unit, view["answers"], epsilon, view["delta"], view["exact"])


class ForecastView(TypedDict):
    """What simulated campaigns showed; `band` holds the score of one of them in 9 of 10 cases.

    `clean` is the score without noise, `constant` that of the best constant. `policy` is what a
    draft with the same terms promises.
    """

    score: Literal["accuracy", "mean error"]
    expected: float
    band: list[float]
    trials: int
    clean: float
    constant: float
    mechanism: str
    guarantee: GuaranteeView
    policy: dict[str, Any]
    in_browser: bool
    simulated: Literal[True]
    notes: list[str]


class CoverageView(TypedDict):
    """Reports by task; no numbers where `hidden` says that they would mean nothing."""

    hidden: bool
    untouched: int | None
    least: int | None
    median: float | None
    most: int | None
    strip: list[dict[str, Any]]
    histogram: list[dict[str, int]]


class CertaintyView(TypedDict):
    """How many tasks with reports are settled, and how sure all of them are."""

    kind: Literal["confidence", "standard_error"]
    threshold: float
    settled: int
    open: int
    histogram: list[dict[str, float]]


class MoreView(TypedDict):
    """What more answers would do."""

    answers: int
    workers: int
    settles: int
    open: int
    words: str


class WeightsView(TypedDict):
    """How the weights of workers spread, or why there are none."""

    workers: int
    why_none: str | None
    histogram: list[dict[str, float]]


class ChangedView(TypedDict):
    """How much truths changed since there were so many reports."""

    share: float
    since: int


class OverviewView(TypedDict):
    """A campaign at a glance; all but the counts is as of the latest result."""

    tasks: int
    workers: int
    reports: int
    reports_waiting: int
    summary: SummaryView | None
    coverage: CoverageView
    certainty: CertaintyView | None
    more: MoreView | None
    weights: WeightsView
    changed: ChangedView | None


class MethodsView(TypedDict):
    """A paragraph to cite, a BibTeX entry of the software, and the facts behind both."""

    paragraph: str
    citation: str
    facts: list[dict[str, str]]
