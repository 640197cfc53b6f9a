"""A sample campaign: simulated workers, the ordinary way, and a stamp that does not come off."""

from __future__ import annotations

import asyncio
import csv
import io
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.server.crowds import opened
from tests.server.drafts import running

from sottovoce import read
from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Campaign, State, Submission, Terms, pseudonym
from sottovoce.server.background_jobs import SampleRunLimit
from sottovoce.server.campaigns import sample_campaign
from sottovoce.server.campaigns.exports import EXPORTS, Export, export
from sottovoce.server.campaigns.invites import InviteKind, count_invites, invite
from sottovoce.server.campaigns.lifecycle import close_campaign, delete_campaign, find_campaign
from sottovoce.server.campaigns.results import truths_page
from sottovoce.server.campaigns.sample_campaign import (
    DOMAIN,
    LEAVES,
    TASKS,
    WORKERS,
    SampleCrowd,
    rehearse,
)
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.integrity import check
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service


@pytest.fixture
def service(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setattr(sample_campaign, "LENGTH", 0.1)
    with running(database) as service:
        yield service
        service.rehearsals.close()


@pytest.fixture
def slow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service on SQLite whose simulated workers would take a minute."""
    monkeypatch.setattr(sample_campaign, "LENGTH", 60.0)
    database = Database.at(tmp_path)
    upgrade(database)
    with running(database) as service:
        yield service
        service.rehearsals.close()
    database.close()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


def rehearsed(service: Service) -> Campaign:
    """A sample campaign to which all have reported."""
    campaign = rehearse(service)
    until(lambda: service.rehearsals.under_way == 0)
    return find_campaign(service, campaign.id)


def reporting_threads() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == "sottovoce-rehearsal"]


def content(out: Export) -> bytes:
    try:
        return b"".join(out.pieces)
    finally:
        out.close()


def test_a_sample_campaign_is_open_at_once_and_all_workers_report(service: Service) -> None:
    made = rehearse(service)
    assert (made.simulated, made.state, made.tasks) == (True, State.OPEN, TASKS)
    until(lambda: service.rehearsals.under_way == 0)
    counts = find_campaign(service, made.id).counts
    assert (counts.workers, counts.submissions, counts.reports) == (80, 80, 1600)
    assert check(service.database) == []
    assert reporting_threads() == []


@pytest.mark.statistical
def test_its_truths_are_good(service: Service) -> None:
    """At the crowd's seed; who is given which task differs from campaign to campaign.

    In 60 such campaigns 52 to 60 of 60 truths were right, 56.6 on average with a deviation of 1.8:
    42 is 8 deviations below.
    """
    campaign = rehearsed(service)
    infer_now(service, campaign.id)
    found = truths_page(service, campaign.id, 0, TASKS).columns["truth"]
    gold = SampleCrowd(workers=WORKERS, tasks=TASKS, seed=sample_campaign.SEED).truths
    right = np.array(found) == np.array(list(LEAVES))[gold]
    assert 42 <= right.sum() <= 60


def test_tasks_differ_and_their_texts_show_what_is_right() -> None:
    crowd = SampleCrowd(workers=2, tasks=TASKS, seed=sample_campaign.SEED)
    assert len({task.text for task in crowd.tasks}) == TASKS
    kinds = tuple(LEAVES.values())
    for task, truth in zip(crowd.tasks, crowd.truths.tolist(), strict=True):
        assert any(looks in task.text for looks in kinds[truth])
    assert [task.name for task in crowd.tasks] == sorted(task.name for task in crowd.tasks)


def test_simulated_workers_come_again_with_their_seed() -> None:
    one, same, other = (SampleCrowd(workers=5, tasks=40, seed=seed) for seed in (3, 3, 4))
    campaign = _campaign_of(one)
    sent = [crowd.submission(campaign, 2, "ab" * 16).text() for crowd in (one, same, other)]
    assert sent[0] == sent[1] != sent[2]


def _campaign_of(crowd: SampleCrowd) -> Campaign:
    policy = make_policy(DOMAIN, "randomized-response", Target(2.0, answers=20))
    terms = Terms("Sample", "Which?", policy)
    return Campaign("leaf", State.OPEN, terms, len(crowd.tasks), simulated=True)


def test_reports_of_people_are_refused_there(service: Service) -> None:
    campaign = rehearsed(service)
    crowd = SampleCrowd(workers=1, tasks=TASKS, seed=1)
    refused = _refusal(service, campaign, replace(_submission(crowd, campaign), simulated=False))
    assert refused.reason is Reason.SIMULATED
    assert str(refused) == "this campaign is simulated; it accepts no real reports"


def test_simulated_reports_are_refused_elsewhere(service: Service) -> None:
    crowd = SampleCrowd(workers=1, tasks=TASKS, seed=1)
    policy = _campaign_of(crowd).terms.policy
    id, _ = opened(service, policy, [task.name for task in crowd.tasks])
    campaign = find_campaign(service, id)
    refused = _refusal(service, campaign, _submission(crowd, campaign))
    assert refused.reason is Reason.SIMULATED
    assert "accepts real reports only" in str(refused)


RECEIPT = "svr_" + "R" * 43


def _submission(crowd: SampleCrowd, campaign: Campaign) -> Submission:
    return crowd.submission(campaign, 0, pseudonym(campaign.id, RECEIPT))


def _refusal(service: Service, campaign: Campaign, submission: Submission) -> Refused:
    admission, invite = service.reception.admission(campaign.id), "svi_" + "I" * 43
    sent = (secrets.token_hex(16), invite, RECEIPT, submission.text().encode())
    with pytest.raises(Refused) as refused:
        asyncio.run(service.reception.receive(admission, *sent))
    return refused.value


def test_nobody_can_be_invited_and_nobody_was(service: Service) -> None:
    campaign = rehearsed(service)
    with pytest.raises(Refused, match="simulated; nobody can be invited") as refused:
        invite(service, campaign.id, InviteKind.OPEN, public_url="http://x")
    assert refused.value.reason is Reason.SIMULATED
    counts = count_invites(service, campaign.id)
    assert (counts.open, counts.single, counts.used) == (0, 0, 0)


def test_every_export_says_that_it_is_simulated(service: Service, tmp_path: Path) -> None:
    campaign = rehearsed(service)
    infer_now(service, campaign.id)
    for name in EXPORTS:
        out = export(service, campaign.id, name)
        stem, ending = name.split(".")
        assert out.name == f"{campaign.id}-{stem}-SIMULATED.{ending}"
        (tmp_path / name).write_bytes(content(out))
    assert _columns(tmp_path / "reports.csv") == ["worker", "task", "simulated_report"]
    assert _columns(tmp_path / "truths.csv")[:2] == ["task", "simulated_truth"]
    assert _columns(tmp_path / "workers.csv") == ["worker", "simulated_weight", "answers"]
    for ending in ("csv", "jsonl", "parquet"):
        table = read(tmp_path / f"reports.{ending}")
        assert (table.simulated, len(table)) == (True, 1600)


def _columns(path: Path) -> list[Any]:
    return next(csv.reader(io.StringIO(path.read_text())))


def test_the_one_who_asks_does_not_wait_for_the_workers(slow: Service) -> None:
    started = time.monotonic()
    campaign = rehearse(slow)
    assert time.monotonic() - started < 10  # of 60 seconds
    assert find_campaign(slow, campaign.id).counts.workers < WORKERS


@pytest.mark.parametrize("end", [close_campaign, delete_campaign])
def test_workers_stop_when_the_campaign_ends(
    slow: Service, end: Callable[[Service, str], object]
) -> None:
    campaign = rehearse(slow)
    until(lambda: find_campaign(slow, campaign.id).counts.workers > 0)
    end(slow, campaign.id)
    until(lambda: slow.rehearsals.under_way == 0)
    assert reporting_threads() == []
    rehearse(slow)  # the next one is none the worse for it
    assert slow.rehearsals.under_way == 1


def test_workers_stop_when_the_service_ends(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(sample_campaign, "LENGTH", 3600.0)
    database = Database.at(tmp_path)
    upgrade(database)
    service = Service.on(database)
    rehearse(service)
    assert len(reporting_threads()) == 1
    service.close()
    assert reporting_threads() == []
    with pytest.raises(Refused, match="the server is stopping"):
        rehearse(service)


def test_a_busy_reception_is_asked_again(slow: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_campaign, "LENGTH", 0.1)
    receive, calls = slow.reception.receive, iter(range(10_000))

    async def busy(*sent: Any) -> bool:
        if next(calls) % 2 == 0:
            raise Refused(Reason.BUSY, "too many")
        return await receive(*sent)

    monkeypatch.setattr(slow.reception, "receive", busy)
    assert rehearsed(slow).counts.workers == WORKERS
    assert next(calls) == 2 * WORKERS


def test_only_a_few_are_under_way_at_once_and_nothing_is_made_for_others(slow: Service) -> None:
    made = [rehearse(slow).id for _ in range(4)]
    with pytest.raises(Refused, match="4 sample campaigns are running; try again later") as busy:
        rehearse(slow)
    assert busy.value.reason is Reason.BUSY
    delete_campaign(slow, made[0])
    until(lambda: slow.rehearsals.under_way == 3)
    assert rehearse(slow).simulated


def test_what_cannot_be_prepared_takes_no_place() -> None:
    rehearsals = SampleRunLimit(most=1)

    def fail() -> Any:
        raise ValueError("no")

    for _ in range(3):
        with pytest.raises(ValueError, match="no"):
            rehearsals.start(fail)
    assert rehearsals.under_way == 0
