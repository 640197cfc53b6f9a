"""A campaign at a glance."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.crowds import opened, report
from tests.server.drafts import running

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain
from sottovoce.server.campaigns.lifecycle import close_campaign
from sottovoce.server.campaigns.overview import overview
from sottovoce.server.campaigns.results import truths_page, workers_page
from sottovoce.server.database import Database
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service

LABELS = Domain.categorical(["oak", "birch", "lime"])
LEAVES = make_policy(LABELS, "randomized-response", Target(2.0, answers=9))
HIDING = make_policy(
    LABELS, "null-randomized-response", Target(4.0, answers=9, hide_participation=True)
)
METRES = make_policy(Domain.numeric(0, 10), "piecewise", Target(3.0, answers=9))
TASKS = [f"t{place}" for place in range(100)]


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as service:
        yield service


def test_before_any_report_every_task_is_untouched(service: Service) -> None:
    id, _ = opened(service, LEAVES, TASKS)
    seen = overview(service, id)
    coverage = seen.seen.coverage
    assert (seen.tasks, seen.workers, seen.reports, seen.waiting, seen.summary) == (
        100, 0, 0, 0, None,
    )  # fmt: skip
    assert (coverage.untouched, coverage.least, coverage.median, coverage.most) == (100, 0, 0, 0)
    assert (seen.seen.certainty, seen.further) == (None, None)
    assert seen.seen.weights.why_none is not None
    assert "Nothing is inferred yet" in seen.seen.weights.why_none


def test_coverage_counts_reports_by_task(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS)
    report(service, id, invite, workers=20, seed=5)
    infer_now(service, id)
    seen = overview(service, id)
    answers = dict(
        zip(*(truths_page(service, id).columns[c] for c in ("task", "answers")), strict=True)
    )
    counts = [answers.get(name, 0) for name in TASKS]
    coverage = seen.seen.coverage
    assert (coverage.untouched, coverage.least, coverage.most) == (
        counts.count(0), min(counts), max(counts),
    )  # fmt: skip
    assert sum(level.tasks for level in coverage.histogram) == 100
    assert [(level.answers, level.tasks) for level in coverage.histogram] == [
        (number, counts.count(number)) for number in range(min(counts), max(counts) + 1)
    ]


def test_a_strip_has_all_tasks_in_their_order(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS)
    report(service, id, invite, workers=20, seed=5)
    infer_now(service, id)
    strip = overview(service, id).seen.coverage.strip
    assert len(strip) == 60
    assert sum(run.tasks for run in strip) == 100
    assert sum(run.tasks * run.mean for run in strip) == pytest.approx(180)
    ends = [TASKS.index(name) for run in strip for name in (run.first, run.last)]
    assert ends == sorted(ends)
    assert (strip[0].first, strip[-1].last) == ("t0", "t99")


def test_where_participation_is_hidden_coverage_has_no_numbers(service: Service) -> None:
    id, invite = opened(service, HIDING, TASKS[:9])
    report(service, id, invite, workers=5, seed=5)
    infer_now(service, id)
    coverage = overview(service, id).seen.coverage
    assert coverage.hidden
    assert (coverage.untouched, coverage.median, coverage.strip, coverage.histogram) == (
        None, None, (), (),
    )  # fmt: skip


@pytest.mark.parametrize("policy", [LEAVES, METRES], ids=["labels", "numbers"])
def test_every_task_with_reports_is_settled_or_open(service: Service, policy: object) -> None:
    chosen = METRES if policy is METRES else LEAVES
    id, invite = opened(service, chosen, TASKS[:20])
    report(service, id, invite, workers=60, seed=5, right=0.9)
    infer_now(service, id)
    certainty = overview(service, id).seen.certainty
    assert certainty is not None
    assert certainty.settled + certainty.open == 20
    assert sum(bin.count for bin in certainty.histogram) == 20
    assert len(certainty.histogram) <= 20
    name = "standard_error" if policy is METRES else "confidence"
    column = truths_page(service, id).columns[name]
    within = [value <= 0.25 if policy is METRES else value >= 0.95 for value in column]
    assert (certainty.kind, certainty.settled) == (name, sum(within))


def test_weights_are_those_of_the_workers(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS[:9])
    report(service, id, invite, workers=30, seed=5)
    infer_now(service, id)
    weights, column = (
        overview(service, id).seen.weights,
        workers_page(service, id).columns["weight"],
    )
    assert (weights.workers, weights.why_none) == (30, None)
    assert sum(bin.count for bin in weights.histogram) == 30
    first, last = weights.histogram[0], weights.histogram[-1]
    assert first.low <= min(column) < first.high
    assert last.low <= max(column) <= last.high


def test_reports_that_came_later_wait(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS[:9])
    report(service, id, invite, workers=3, seed=1)
    infer_now(service, id)
    first = overview(service, id)
    report(service, id, invite, workers=2, seed=2)
    seen = overview(service, id)
    assert (seen.workers, seen.reports, seen.waiting) == (5, 45, 18)
    assert seen.seen is first.seen


def test_changes_are_told_against_a_result_of_fewer_reports(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS[:9])
    told = []
    for seed, workers in enumerate((20, 1, 20)):
        report(service, id, invite, workers=workers, seed=seed)
        infer_now(service, id)
        summary = overview(service, id).summary
        assert summary is not None
        told.append((summary.changed is None, summary.changed_since))
    assert told == [(True, 0), (True, 0), (False, 180)]


def test_nothing_more_is_foretold_of_a_closed_campaign(service: Service) -> None:
    id, invite = opened(service, LEAVES, TASKS[:9])  # everybody gets all: nothing is left to luck
    report(service, id, invite, workers=6, seed=5)
    infer_now(service, id)
    assert overview(service, id).further is not None
    close_campaign(service, id)
    assert overview(service, id).further is None


def test_an_absent_campaign_has_no_overview(service: Service) -> None:
    with pytest.raises(Refused) as refused:
        overview(service, "absent")
    assert refused.value.reason is Reason.NOT_FOUND
