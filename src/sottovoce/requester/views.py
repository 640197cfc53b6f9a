"""Typed views of the server's JSON replies to requesters. Days are ISO dates.

Campaigns, results, keyholders, tokens, webhooks, forecasts, overviews and methods sections.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from sottovoce.model import Guarantee, Unit


class HeldView(TypedDict):
    """The guarantee for one unit; `epsilon` is null if no finite one holds."""

    epsilon: float | None
    delta: float
    exact: bool
    answers: int


class GuaranteeView(TypedDict):
    """A campaign's guarantee, per answer and per worker, and in words."""

    per_answer: HeldView
    per_worker: HeldView
    odds: str | None
    warning: str | None


class DevicesView(TypedDict):
    """How many of its tasks a device answers within its default `budget` (epsilon per worker).

    With `most` tasks it would answer all; `workers` of them send as many reports as planned.
    """

    budget: float | None
    answered: int
    most: int
    workers: int | None
    warning: str | None


class CampaignView(TypedDict):
    """A campaign. `answers` is the most answers of a worker, `block` the tasks a worker gets.

    `simulated` means that its workers are simulated. `cut_short` is how many workers' devices said
    that their budget does not cover all tasks.
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
    devices: DevicesView | None
    answers: int
    block: int
    tasks: int
    quota: int | None
    closes_on: str | None
    workers: int
    submissions: int
    reports: int
    cut_short: int
    opened_on: str | None
    closed_on: str | None
    sealed: bool
    published: bool
    assignment: Literal["need", "hash"]


class InviteCounts(TypedDict):
    """The number of invites of each kind, and of used single-use ones."""

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
    known: NotRequired[bool]


class WorkerView(TypedDict):
    """A worker's weight."""

    worker: str
    weight: float
    answers: int


class SummaryView(TypedDict):
    """The summary of a result.

    `converged` means that the fit converged, `settled` that more reports hardly change the truths.
    `warnings` say why they may be of little use; `problem` is why there are none.
    """

    method: str | None
    reports: int
    workers: int
    tasks: int
    rounds: int
    converged: bool
    settled: bool
    version: str
    warnings: list[str]
    problem: str | None
    known: NotRequired[int]
    calibration: NotRequired[str | None]


class ResultsView(TypedDict):
    """A page of truths; `summary` is null until something is inferred."""

    summary: SummaryView | None
    truths: list[TruthView]
    total: int
    reports_waiting: int


class KeyholderLinkView(TypedDict):
    """A link for one keyholder, shown only once."""

    seat: int
    name: str
    link: str


class SeatView(TypedDict):
    """A keyholder: when it was last online, and its progress."""

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
    """How many keyholders are needed to open the total, and how many have opened it."""

    needed: int
    opened: int


class RoundsView(TypedDict):
    """The progress of a sealed campaign. `waiting` contributions are not certified yet."""

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
    """A requester's token, without its secret."""

    id: str
    name: str
    created_on: str


class NewToken(TypedDict):
    """A new token, shown only once."""

    token: str
    id: str


class DeliveryView(TypedDict):
    """The delivery of one event."""

    id: str
    event: str
    state: str
    attempts: int


class WebhookView(TypedDict):
    """A webhook and its deliveries, newest first."""

    id: str
    address: str
    deliveries: list[DeliveryView]


class NewWebhook(TypedDict):
    """A new webhook; its secret is shown only once."""

    id: str
    secret: str


def guarantees_of(view: GuaranteeView) -> tuple[Guarantee, Guarantee]:
    """The guarantees per answer and per worker."""
    return _held(view["per_answer"], Unit.ANSWER), _held(view["per_worker"], Unit.WORKER)


def _held(view: HeldView, unit: Unit) -> Guarantee:
    epsilon = float("inf") if view["epsilon"] is None else view["epsilon"]
    return Guarantee(unit, view["answers"], epsilon, view["delta"], view["exact"])


class ForecastView(TypedDict):
    """The results of simulated campaigns; `band` contains the score in 9 of 10 cases.

    `clean` is the score without noise, `constant` that of the best constant guess. `policy` is the
    policy of a draft with the same terms.
    """

    score: Literal["accuracy", "mean error"]
    expected: float
    band: list[float]
    trials: int
    clean: float
    constant: float
    mechanism: str
    guarantee: GuaranteeView
    devices: DevicesView
    policy: dict[str, Any]
    in_browser: bool
    simulated: Literal[True]
    notes: list[str]


class CoverageView(TypedDict):
    """Reports per task; no numbers if `hidden`, because they would mean nothing."""

    hidden: bool
    untouched: int | None
    least: int | None
    median: float | None
    most: int | None
    strip: list[dict[str, Any]]
    histogram: list[dict[str, int]]


class CertaintyView(TypedDict):
    """How many tasks with reports are settled, and the certainty of all."""

    kind: Literal["confidence", "standard_error"]
    threshold: float
    settled: int
    open: int
    histogram: list[dict[str, float]]


class MoreView(TypedDict):
    """The estimated effect of more answers."""

    answers: int
    workers: int
    settles: int
    open: int
    words: str


class WeightsView(TypedDict):
    """The distribution of workers' weights, or why there is none."""

    workers: int
    why_none: str | None
    histogram: list[dict[str, float]]


class ChangedView(TypedDict):
    """How much truths changed since an earlier number of reports."""

    share: float
    since: int


class OverviewView(TypedDict):
    """A campaign's overview; everything but the counts is as of the latest result."""

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
