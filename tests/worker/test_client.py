"""A worker's software keeps its promises against servers and lines of every kind."""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.worker.hosted_campaign import (
    COIN,
    DROP_REQUEST,
    DROP_RESPONSE,
    OTHER,
    YES_NO,
    Host,
    hosting,
    line_to,
)

from sottovoce.errors import (
    AlreadyReported,
    BudgetExceeded,
    DataError,
    PolicyChanged,
    Reason,
    Refused,
    Unreachable,
    UsageError,
)
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy, State, Submission, Terms, Unit
from sottovoce.model.budget import DEFAULT_BUDGET
from sottovoce.worker import Answer, Budget
from sottovoce.worker.client import Client
from sottovoce.worker.outbox import Outbox, Parcel, Stage

HIDING = make_policy(
    YES_NO, "null-randomized-response", Target(1.0, answers=5, hide_participation=True)
)
SAMPLED = make_policy(YES_NO, "randomized-response", Target(2.0, Unit.WORKER, answers=5, sample=2))
GRID = make_policy(Domain.numeric(0, 10, 0.5), "laplace", Target(2.0, answers=5))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with hosting(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "worker"


def opened(link: str, home: Path, **options: Any) -> Client:
    return Client(link, folder=home, **{"retries": 1, **options})


def refusal(error: pytest.ExceptionInfo[Refused]) -> Reason:
    return error.value.reason


def test_the_server_has_what_was_sent(host: Host, home: Path) -> None:
    with opened(host.link(), home) as client:
        receipt = client.send({"t3": "yes", "t1": "no"})
        (own,) = client.reports()
    assert list(receipt.reports) == ["t1", "t3"]
    assert own.reports == receipt.reports
    assert own.report_id == receipt.report_id
    assert len(receipt) == 2


def test_answers_may_be_given_as_such(host: Host, home: Path) -> None:
    with opened(host.link(GRID), home) as client:
        receipt = client.send([Answer("t0", 3.5)])
    assert isinstance(receipt.reports["t0"], float)


def test_the_spend_is_booked_under_the_campaigns_address(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        client.send({"t1": "no"})
        (entry,) = client.ledger.entries()
        assert client.spent[Unit.WORKER].epsilon == pytest.approx(1.0)
    assert entry.requester == f"{host.url}/campaigns/{client.campaign}"
    assert entry.policy == COIN.hash


def test_a_link_and_an_invite_may_be_given_apart(host: Host, home: Path) -> None:
    address, invite = host.link().split("#")
    with opened(address, home, invite=invite) as client:
        assert client.offer.title == "Leaves"


def test_more_answers_may_follow(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        client.send({"t1": "no"})
        assert sorted(client.remaining) == ["t0", "t2", "t3", "t4"]
        client.send({"t2": "no"})
        with pytest.raises(AlreadyReported):
            client.send({"t1": "yes"})
    assert host.counts(link).submissions == 2


def test_a_policy_that_hides_participation_reports_on_everything(host: Host, home: Path) -> None:
    with opened(host.link(HIDING), home) as client:
        receipt = client.send({"t1": "no", "t2": None})
        assert client.remaining == ()
    assert len(receipt) == 5


def test_a_sample_is_sent_and_everything_is_booked(host: Host, home: Path) -> None:
    with opened(host.link(SAMPLED), home) as client:
        assert client.offer.sends == 2
        receipt = client.send({f"t{i}": "no" for i in range(5)})
        assert client.ledger.entries()[0].answers == 5
    assert len(receipt) == 2


def test_a_single_use_link_goes_on_working_for_its_worker(
    host: Host, home: Path, tmp_path: Path
) -> None:
    link = host.link(kind="single")
    with opened(link, home) as client:
        client.send({"t1": "no"})
    with opened(link, home) as client:
        client.send({"t2": "no"})
    with pytest.raises(Refused) as caught:
        opened(link, tmp_path / "stranger")
    assert refusal(caught) is Reason.INVITE_USED


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({}, UsageError),
        ({"t9": "no"}, UsageError),
        ({"t1": "maybe"}, DataError),
        ({"t1": None}, DataError),
        (["t1"], UsageError),
        ([Answer("t1", "no"), Answer("t1", "yes")], UsageError),
    ],
)
def test_what_is_wrong_is_found_before_anything_is_drawn(
    host: Host, home: Path, given: Any, error: type[Exception]
) -> None:
    link = host.link()
    with opened(link, home) as client:
        with pytest.raises(error) as caught:
            client.send(given)
        assert "maybe" not in str(caught.value)
        assert (client.pending, client.sent, len(client.ledger)) == ((), (), 0)
    assert host.counts(link).submissions == 0


def test_beyond_the_budget_nothing_is_sent_or_kept(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home, budget=Budget(worker_epsilon=2.5)) as client:
        client.send({"t0": "no"})
        with pytest.raises(BudgetExceeded, match="asked to spend epsilon 2 "):
            client.send({"t1": "no", "t2": "no"})
        assert client.pending == ()
    assert host.counts(link).reports == 1


def test_a_new_worker_allows_50(host: Host, home: Path) -> None:
    with opened(host.link(), home) as client:
        assert client.ledger.budget == DEFAULT_BUDGET == Budget(worker_epsilon=50)
        client.ledger.raise_budget(Budget(worker_epsilon=60))
    with opened(host.link(), home) as client:
        assert client.ledger.budget.worker_epsilon == 60


def test_one_ledger_serves_all_campaigns(host: Host, home: Path) -> None:
    for _ in range(2):
        with opened(host.link(), home) as client:
            client.send({"t1": "no"})
    assert client.ledger.spent(Unit.WORKER).epsilon == pytest.approx(2.0)


def test_two_campaigns_know_a_worker_by_two_names(host: Host, home: Path) -> None:
    with opened(host.link(), home) as one, opened(host.link(), home) as two:
        assert one.worker != two.worker
        assert one.receipt != two.receipt


def test_a_closed_campaign_costs_nothing(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        host.change(link, state=State.CLOSED)
        with pytest.raises(Refused) as caught:
            client.send({"t1": "no"})
        assert refusal(caught) is Reason.NOT_OPEN
        assert len(client.ledger) == 0
        assert client.pending == ()


def test_another_policy_raises_and_sends_nothing(host: Host, home: Path) -> None:
    link = host.link()
    opened(link, home).close()
    host.change(link, terms=Terms("Leaves", "Is it?", OTHER))
    with pytest.raises(PolicyChanged) as caught:
        opened(link, home)
    assert (caught.value.pinned, caught.value.offered) == (COIN.hash, OTHER.hash)
    assert host.counts(link).submissions == 0


def test_a_policy_that_changes_under_an_open_client_is_noticed(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        host.change(link, terms=Terms("Leaves", "Is it?", OTHER))
        with pytest.raises(PolicyChanged):
            client.send({"t1": "no"})
        assert len(client.ledger) == 0


def test_the_hash_may_be_given(host: Host, home: Path) -> None:
    link = host.link()
    with pytest.raises(PolicyChanged):
        opened(link, home, policy_hash=OTHER.hash)
    with opened(link, home, policy_hash=COIN.hash) as client:
        assert client.policy_hash == COIN.hash


def test_a_hash_is_given_whole(host: Host, home: Path) -> None:
    with pytest.raises(UsageError, match="64 hexadecimal digits"):
        opened(host.link(), home, policy_hash=COIN.hash[:12])


def test_reports_can_be_deleted_after_the_policy_changed(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        receipt = client.send({"t1": "no"})
    host.change(link, terms=Terms("Leaves", "Is it?", OTHER))
    with opened(link, home, contact=False) as client:
        client.erase(receipt.report_id)
    assert host.counts(link).erasures == 1


def test_a_preview_draws_and_spends_nothing(host: Host, home: Path) -> None:
    with opened(host.link(), home) as client:
        preview = client.preview({"t1": "yes", "t3": "no"})
        assert (client.pending, len(client.ledger)) == ((), 0)
    assert (preview.answers, preview.reports, preview.tasks) == (2, 2, ("t1", "t3"))
    assert preview.guarantee[Unit.WORKER].epsilon == pytest.approx(2.0)
    assert preview.left[Unit.WORKER].epsilon == 50
    assert "yes" not in f"{preview!r} {preview}"


@pytest.mark.parametrize("policy", [COIN, HIDING, SAMPLED, GRID])
def test_no_more_bytes_are_sent_than_foretold(host: Host, home: Path, policy: Policy) -> None:
    answer = 5.0 if policy is GRID else "no"
    with line_to(host.url) as line:
        with opened(line.through(host.link(policy)), home) as client:
            given = {f"t{i}": answer for i in range(5)}
            preview = client.preview(given)
            receipt = client.send(given)
    (body,) = [body for method, _, body in line.sent if method == "PUT"]
    assert len(body) <= preview.most_bytes
    assert len(receipt) == preview.reports


def test_what_was_reported_counts(host: Host, home: Path) -> None:
    with opened(host.link(), home) as client:
        client.send({"t1": "no"})
        assert client.preview(2).guarantee[Unit.WORKER].epsilon == pytest.approx(3.0)


def test_a_budget_that_is_too_small_is_foretold(host: Host, home: Path) -> None:
    with opened(host.link(), home, budget=Budget(worker_epsilon=2)) as client:
        assert client.preview(2).fits
        assert not client.preview(3).fits
        assert "exceeds the budget" in str(client.preview(3))


@pytest.mark.parametrize("count", [0, 6, -1])
def test_an_impossible_number_of_tasks_is_refused(host: Host, home: Path, count: int) -> None:
    with opened(host.link(), home) as client, pytest.raises(UsageError, match="5 tasks are left"):
        client.preview(count)


@pytest.mark.parametrize(
    "faults",
    [[DROP_REQUEST], [DROP_RESPONSE], [DROP_RESPONSE, DROP_REQUEST, DROP_RESPONSE]],
    ids=["request lost", "reply lost", "all kinds"],
)
def test_a_broken_line_neither_loses_nor_doubles(host: Host, home: Path, faults: list[str]) -> None:
    link = host.link()
    with line_to(host.url, *faults) as line:
        with opened(line.through(link), home, retries=len(faults)) as client:
            receipt = client.send({"t1": "no", "t2": "yes"})
            assert client.pending == ()
    bodies = {body for method, _, body in line.sent if method == "PUT"}
    assert len(line.submissions()) == len(faults) + 1
    assert [hashlib.sha256(body).digest() for body in bodies] == host.digests(link)
    assert receipt.replayed == (DROP_RESPONSE in faults)


def test_what_did_not_arrive_waits_and_is_sent_unchanged(host: Host, home: Path) -> None:
    link = host.link()
    with line_to(host.url, DROP_REQUEST, DROP_REQUEST) as line:
        with opened(line.through(link), home) as client:
            with pytest.raises(Unreachable):
                client.send({"t1": "no"})
            (waiting,) = client.pending
            assert waiting.stage is Stage.BOOKED
            with pytest.raises(AlreadyReported):
                client.send({"t1": "no"})
            (receipt,) = client.resume()
            assert receipt.report_id == waiting.report_id
            assert client.resume() == []
            assert len(client.ledger) == 1
    assert len({submission.text() for submission in line.submissions()}) == 1
    assert host.counts(link).reports == 1


def test_the_next_client_sends_what_waits(host: Host, home: Path) -> None:
    link = host.link()
    with line_to(host.url, DROP_REQUEST, DROP_REQUEST) as line:
        with opened(line.through(link), home) as client, pytest.raises(Unreachable):
            client.send({"t1": "no"})
        with opened(line.through(link), home) as client:
            assert client.pending == ()
    assert host.counts(link).reports == 1


def test_without_a_line_a_known_campaign_takes_answers_that_wait(host: Host, home: Path) -> None:
    link = host.link()
    with line_to(host.url) as line:
        client = opened(line.through(link), home, retries=0)
        there = line.url
    with client:
        with pytest.raises(Unreachable):
            client.send({"t1": "no"})
        assert [waiting.stage for waiting in client.pending] == [Stage.BOOKED]
    assert there != host.url


def test_an_unknown_server_that_does_not_answer_is_said_so(home: Path) -> None:
    with pytest.raises(Unreachable):
        opened("http://127.0.0.1:1/c/leaf0#svi_" + "A" * 43, home, retries=0)


def test_a_final_refusal_keeps_the_reports_with_the_reason(host: Host, home: Path) -> None:
    link = host.link()
    with line_to(host.url, DROP_REQUEST, DROP_REQUEST) as line:
        with opened(line.through(link), home) as client:
            with pytest.raises(Unreachable):
                client.send({"t1": "no"})
            host.change(link, state=State.CLOSED)
            with pytest.raises(Refused) as caught:
                client.resume()
            assert refusal(caught) is Reason.NOT_OPEN
            (kept,) = client.pending
    assert kept.stage is Stage.REFUSED
    assert "accepts no reports" in (kept.refused or "")


def test_drawn_reports_that_the_budget_refuses_are_thrown_away_unseen(
    host: Host, home: Path
) -> None:
    link = host.link()
    with opened(link, home, budget=Budget(worker_epsilon=1.5)) as client:
        (folder,) = (home / "campaigns").iterdir()
        content = Submission(COIN.hash, client.worker, ("t0", "t1"), ("no", "no")).text()
        Outbox(folder).put(Parcel("0" * 32, Stage.DRAWN, 2, content.encode("ascii"), ("t0", "t1")))
        assert client.resume() == []
        assert client.pending == ()
        assert len(client.ledger) == 0
    assert host.counts(link).submissions == 0


def test_two_clients_of_one_worker_send_a_task_once(host: Host, home: Path) -> None:
    link = host.link()

    def attempt(_: int) -> bool:
        with opened(link, home) as client:
            try:
                client.send({"t1": "no"})
            except AlreadyReported:
                return False
            return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(8))) == 1
    assert host.counts(link).reports == 1


def test_what_is_taken_back_is_gone_and_stays_spent(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        receipt = client.send({"t1": "no"})
        client.erase(receipt.report_id)
        client.erase(receipt.report_id)
        assert client.reports() == []
        assert client.sent == ()
        with pytest.raises(AlreadyReported):
            client.send({"t1": "no"})
    assert host.counts(link).erasures == 1


def test_what_never_arrived_is_not_sent_any_more(host: Host, home: Path) -> None:
    link = host.link()
    with line_to(host.url, DROP_REQUEST, DROP_REQUEST) as line:
        with opened(line.through(link), home) as client:
            with pytest.raises(Unreachable):
                client.send({"t1": "no"})
            client.erase(client.pending[0].report_id)
            assert client.resume() == []
    assert host.counts(link).reports == 0


def test_after_the_closing_nothing_is_taken_back(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        receipt = client.send({"t1": "no"})
        host.change(link, state=State.CLOSED)
        with pytest.raises(Refused) as caught:
            client.erase(receipt.report_id)
        assert len(client.sent) == 1
    assert refusal(caught) is Reason.NOT_OPEN


@pytest.mark.parametrize("id", ["", "../../secret", "0" * 31, "G" * 32])
def test_an_identifier_must_be_one(host: Host, home: Path, id: str) -> None:
    with opened(host.link(), home) as client, pytest.raises(UsageError, match="32 hex"):
        client.erase(id)


def test_only_the_owner_reads_the_files(host: Host, home: Path) -> None:
    with opened(host.link(), home) as client:
        client.send({"t1": "no"})
    for path in (home, *home.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_the_folder_is_found_by_the_environment(
    host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_HOME", str(tmp_path / "there"))
    Client(host.link()).close()
    assert (tmp_path / "there" / "ledger.jsonl").exists()


def test_no_repr_shows_a_secret(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        receipt = client.send({"t1": "no"})
        shown = repr((client, receipt, client.offer, client.pending, client.sent))
    assert client.receipt not in shown
    assert link.split("#")[1] not in shown


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b'{"format": "other"}'])
def test_a_damaged_enrolment_is_refused(host: Host, home: Path, content: bytes) -> None:
    link = host.link()
    opened(link, home).close()
    (file,) = home.rglob("campaign.json")
    file.write_bytes(content)
    with pytest.raises(DataError, match="changed or damaged"):
        opened(link, home)


def test_a_damaged_parcel_is_refused(host: Host, home: Path) -> None:
    link = host.link()
    with opened(link, home) as client:
        client.send({"t1": "no"})
        (file,) = home.rglob("outbox/*.json")
        file.write_bytes(b"{")
        with pytest.raises(DataError, match="changed or damaged"):
            client.resume()
