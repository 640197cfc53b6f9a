"""The service infers in the background, reads only what is new, and survives its child."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, update
from tests.server.crowds import opened, report, send
from tests.server.drafts import running

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Submission, pseudonym
from sottovoce.server.campaigns.invites import InviteKind, invite
from sottovoce.server.campaigns.lifecycle import close_campaign, delete_campaign
from sottovoce.server.campaigns.own_reports import erase
from sottovoce.server.campaigns.results import truths_page
from sottovoce.server.campaigns.webhooks import register
from sottovoce.server.child_process import ChildEnded
from sottovoce.server.database import Database, upgrade
from sottovoce.server.database.results import unfinished
from sottovoce.server.database.schema import campaigns, deliveries
from sottovoce.server.inference_process.child import ReportCache
from sottovoce.server.inference_process.fit import FittedResult
from sottovoce.server.inference_process.scheduler import (
    Election,
    InferenceProcess,
    _Background,
    _keep,
    background_inference,
    infer_now,
)
from sottovoce.server.service import Service

LEAVES = Domain.categorical(["oak", "birch", "lime"])
POLICY = make_policy(LEAVES, "randomized-response", Target(2.0, answers=8))
HIDING = make_policy(
    LEAVES, "null-randomized-response", Target(2.0, answers=8, hide_participation=True)
)
CLEAR = make_policy(LEAVES, "randomized-response", Target(8.0, answers=10))
TASKS = [f"t{place}" for place in range(10)]


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as service:
        yield service


@pytest.fixture
def on_sqlite(tmp_path: Path) -> Iterator[Service]:
    database = Database.at(tmp_path)
    upgrade(database)
    with running(database) as service:
        yield service
    database.close()


def until(done: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def test_a_pass_reads_only_what_is_new(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=5, seed=1)
    memory = ReportCache(service.database)
    first = memory.infer(id)
    assert first is not None
    read = next(iter(memory._gathered.values()))
    report(service, id, link, workers=3, seed=2)
    second = memory.infer(id)
    assert second is not None
    assert next(iter(memory._gathered.values())) is read
    assert second.found.summary.reports == 8 * 8
    assert second.found.sequence > first.found.sequence
    fresh = ReportCache(service.database).infer(id)
    assert fresh is not None
    assert second.content == fresh.content


def test_an_erasure_makes_the_next_pass_read_everything(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    sent = report(service, id, link, workers=5, seed=1)
    infer_now(service, id)
    memory = ReportCache(service.database)
    memory.infer(id)
    erase(service, id, *sent[0])
    assert truths_page(service, id).waiting == 0
    fresh = memory.infer(id)
    assert fresh is not None
    assert (fresh.found.erasures, fresh.found.summary.reports) == (1, 32)


def test_what_does_not_fit_into_memory_is_read_again(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=5, seed=1)
    memory = ReportCache(service.database, limit=10)
    assert memory.infer(id) is not None
    assert not memory._gathered
    fresh = memory.infer(id)
    assert fresh is not None
    assert fresh.found.summary.reports == 40


def test_truths_appear_while_reports_arrive(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    with background_inference(service, interval=0.05):
        report(service, id, link, workers=10, seed=1)
        until(lambda: truths_page(service, id).waiting == 0)
        report(service, id, link, workers=10, seed=2)
        assert truths_page(service, id).summary is not None
        until(lambda: truths_page(service, id).waiting == 0)
        close_campaign(service, id)
    page = truths_page(service, id)
    assert page.summary is not None
    assert (page.summary.reports, page.summary.workers, page.total) == (160, 20, 10)


def test_the_child_is_started_late_and_again_and_ends_with_the_server(
    on_sqlite: Service,
) -> None:
    service = on_sqlite
    before = children()
    with background_inference(service, interval=0.05):
        id, link = opened(service, POLICY, TASKS)
        time.sleep(0.2)
        assert children() == before
        report(service, id, link, workers=5, seed=1)
        until(lambda: truths_page(service, id).summary is not None)
        (child,) = children() - before
        os.kill(child, signal.SIGKILL)
        report(service, id, link, workers=5, seed=2)
        until(lambda: truths_page(service, id).waiting == 0)
        assert child not in children()
    assert children() == before


def children() -> set[int]:
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    if not listed.exists():
        pytest.skip("needs /proc")
    tasks = Path("/proc/self/task").iterdir()
    return {int(pid) for task in tasks for pid in (task / "children").read_text().split()}


def test_a_deleted_campaign_is_forgotten(on_sqlite: Service) -> None:
    service = on_sqlite
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=2, seed=1)
    memory = ReportCache(service.database)
    memory.infer(id)
    delete_campaign(service, id)
    assert memory.infer(id) is None
    assert not memory._gathered


def test_the_child_is_told_what_to_forget(on_sqlite: Service) -> None:
    service, told = on_sqlite, list[str]()
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=2, seed=1)

    class Listening(InferenceProcess):
        def forget(self, id: str) -> None:
            told.append(id)
            super().forget(id)

    background = _Background(service, 0.01, Listening(service.database))
    background.start()
    until(lambda: truths_page(service, id).summary is not None)
    delete_campaign(service, id)
    until(lambda: told == [id])
    background.close()


def test_a_child_that_ends_says_so_and_comes_back(on_sqlite: Service) -> None:
    service = on_sqlite
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=5, seed=1)
    child = InferenceProcess(service.database)
    assert child.infer("nobody") is None
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL)
    with pytest.raises(ChildEnded):
        child.infer(id)
    fresh = child.infer(id)
    assert fresh is not None
    assert fresh.found.summary.problem is None
    child.close()
    with pytest.raises(ChildEnded):
        child.infer(id)


def test_a_fit_without_data_is_a_problem_in_words(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    sent = report(service, id, link, workers=1, seed=1)
    infer_now(service, id)
    erase(service, id, *sent[0])
    infer_now(service, id)
    page = truths_page(service, id)
    assert page.summary is not None
    assert page.summary.problem == "there is nothing to infer from: every report was deleted"
    assert (page.total, page.waiting) == (0, 0)


def test_a_campaign_that_ends_every_child_gets_a_problem_and_others_go_on(
    on_sqlite: Service,
) -> None:
    service = on_sqlite
    bad, link = opened(service, POLICY, TASKS)
    report(service, bad, link, workers=2, seed=1)
    good, link = opened(service, POLICY, TASKS)
    report(service, good, link, workers=2, seed=1)
    infer_now(service, bad)
    report(service, bad, invite_of(service, bad), workers=2, seed=3)

    class Ending(InferenceProcess):
        def infer(self, id: str) -> FittedResult | None:
            if id == bad:
                raise ChildEnded
            return super().infer(id)

    background = _Background(service, 0.01, Ending(service.database))
    background.start()
    until(lambda: truths_page(service, good).waiting == 0)
    until(lambda: problem_of(service, bad) is not None)
    background.close()
    page = truths_page(service, bad)
    assert page.total >= 8
    assert page.waiting == 16


def problem_of(service: Service, id: str) -> str | None:
    summary = truths_page(service, id).summary
    return None if summary is None else summary.problem


def invite_of(service: Service, id: str) -> str:
    (link,) = invite(service, id, InviteKind.OPEN, public_url="http://x")
    return link.partition("#")[2]


def test_an_older_result_does_not_replace_a_newer_one(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=2, seed=1)
    older = ReportCache(service.database).infer(id)
    assert older is not None
    report(service, id, link, workers=2, seed=2)
    infer_now(service, id)
    _keep(service, id, older)
    assert truths_page(service, id).waiting == 0


def test_a_deleted_campaign_is_no_error(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=2, seed=1)
    fresh = ReportCache(service.database).infer(id)
    assert fresh is not None
    delete_campaign(service, id)
    _keep(service, id, fresh)
    with pytest.raises(Refused) as refused:
        infer_now(service, id)
    assert refused.value.reason is Reason.NOT_FOUND


def test_a_count_that_disagrees_does_not_make_it_infer_for_ever(service: Service) -> None:
    id, link = opened(service, POLICY, TASKS)
    report(service, id, link, workers=2, seed=1)
    service.change(lambda c: c.execute(update(campaigns).values(reports=99)).rowcount)
    infer_now(service, id)
    with service.database.reading() as connection:
        assert unfinished(connection) == {}
    summary = truths_page(service, id).summary
    assert summary is not None
    assert summary.reports == 16


def test_of_several_servers_one_infers(postgresql: str) -> None:
    first, second = (Election(Database.at(postgresql)) for _ in range(2))
    assert first.won()
    assert not second.won()
    assert first.won()
    first.close()
    assert second.won()
    second.close()


def test_a_campaign_settles_once_its_truths_stay(service: Service) -> None:
    id, link = opened(service, CLEAR, TASKS)
    register(service, id, "http://127.0.0.1:9/")
    report(service, id, link, workers=10, seed=1, right=1.0)
    infer_now(service, id)
    assert not is_settled(service, id)
    report(service, id, link, workers=1, seed=2, right=1.0)
    infer_now(service, id)
    assert not is_settled(service, id)  # 10 of 11 reports are too many to compare with
    report(service, id, link, workers=2, seed=3, right=1.0)
    infer_now(service, id)
    assert is_settled(service, id)
    report(service, id, link, workers=5, seed=4, right=1.0)
    infer_now(service, id)
    assert is_settled(service, id)
    with service.database.reading() as connection:
        told = connection.execute(select(deliveries.c.event, deliveries.c.body)).all()
    assert [event for event, _ in told] == ["campaign.converged"]
    assert json.loads(told[0].body)["reports"] == 130


def is_settled(service: Service, id: str) -> bool:
    summary = truths_page(service, id).summary
    assert summary is not None
    return summary.settled


def test_reports_that_are_all_null_say_no_more_than_the_prior(service: Service) -> None:
    id, link = opened(service, HIDING, TASKS[:8])
    receipt, names = "svr_" + "A" * 43, tuple(sorted(TASKS[:8]))
    hash = service.reception.admission(id).policy_hash
    submission = Submission(hash, pseudonym(id, receipt), names, ("NULL",) * 8)
    send(service, id, link, [(receipt, "0" * 32)], [submission])
    infer_now(service, id)
    page = truths_page(service, id)
    assert page.summary is not None
    assert (page.summary.problem, page.summary.tasks) == (None, 8)
    # Three labels, each as likely, and a worker who seems to have answered nothing.
    assert page.columns["confidence"] == pytest.approx([1 / 3] * 8)
    with service.database.reading() as connection:
        assert unfinished(connection) == {}


def test_null_reports_are_used_as_all_others(service: Service) -> None:
    id, link = opened(service, HIDING, TASKS)
    report(service, id, link, workers=20, seed=1)
    infer_now(service, id)
    summary = truths_page(service, id).summary
    assert summary is not None
    assert (summary.left_out, summary.reports) == (0, 160)
    answers = truths_page(service, id).columns["answers"]
    assert sum(answers) == 160


def test_a_server_that_is_killed_leaves_no_child(on_sqlite: Service, tmp_path: Path) -> None:
    id, link = opened(on_sqlite, POLICY, TASKS)
    report(on_sqlite, id, link, workers=2, seed=1)
    program = (
        "import sys\n"
        "from sottovoce.server.inference_process.scheduler import InferenceProcess\n"
        "from sottovoce.server.database import Database\n"
        "child = InferenceProcess(Database.at(sys.argv[1]))\n"
        f"child.infer({id!r})\n"
        "print(child.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", program, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with server:
        assert server.stdout is not None
        child = int(server.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        server.kill()
    until(lambda: not is_running(child))


def is_running(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
