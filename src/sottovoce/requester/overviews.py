"""What a server foretells of a campaign, shows of it at a glance, and says for a paper, as JSON."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from sottovoce.requester.views import GuaranteeView, SummaryView

__all__ = ["ForecastView", "MethodsView", "OverviewView"]


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
