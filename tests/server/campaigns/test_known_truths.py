"""Known truths of a campaign's tasks: used by inference, shown to the requester, to no worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.server.crowds import report
from tests.server.drafts import running
from tests.server.web.requests import served

from sottovoce.errors import Reason, Refused
from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, Policy, Task, Terms
from sottovoce.server.campaigns import drafts, invites
from sottovoce.server.campaigns.drafts import change_draft, change_tasks, create_draft, list_tasks
from sottovoce.server.campaigns.exports import export
from sottovoce.server.campaigns.invites import InviteKind, invite
from sottovoce.server.campaigns.lifecycle import close_campaign, open_campaign
from sottovoce.server.campaigns.methods_section import describe
from sottovoce.server.campaigns.results import publish, truths_page
from sottovoce.server.database import Database, upgrade
from sottovoce.server.inference_process.scheduler import infer_now
from sottovoce.server.service import Service
from sottovoce.tables.task_table import read_tasks

LABELS = ["oak", "birch", "lime"]
LEAVES = make_policy(Domain.categorical(LABELS), "randomized-response", Target(4.0, answers=9))
METRES = make_policy(Domain.numeric(0, 10), "piecewise", Target(4.0, answers=9))
SEALED = make_policy(Domain.categorical(LABELS), "sealed-sum", Target(1.0, answers=9))
RECEIPT = "svr_" + "R" * 43


@pytest.fixture
def service(database: Database) -> Iterator[Service]:
    with running(database) as service:
        yield service


def tasks(count: int = 9, **known: str) -> list[Task]:
    """Tasks t0, t1 …, some of them with a known truth."""
    return [Task(f"t{i}", f"What is {i}?", None, known.get(f"t{i}")) for i in range(count)]


def inferred(service: Service, given: list[Task], policy: Policy = LEAVES) -> str:
    """An open campaign with eight reporting workers, and its truths."""
    id = create_draft(service, Terms("Leaves", "Which?", policy), given).id
    open_campaign(service, id)
    (link,) = invite(service, id, InviteKind.OPEN, public_url="http://x")
    report(service, id, link.partition("#")[2], workers=8, seed=5)
    infer_now(service, id)
    return id


def test_known_tasks_keep_their_truth_and_are_marked(service: Service) -> None:
    id = inferred(service, tasks(t1="oak", t4="lime"))  # t1 is a birch to the workers
    page = truths_page(service, id)
    assert page.columns["known"] == [i in (1, 4) for i in range(9)]
    assert [page.columns["truth"][i] for i in (1, 4)] == ["oak", "lime"]
    assert [page.columns["confidence"][i] for i in (1, 4)] == [1.0, 1.0]
    assert page.summary is not None
    assert (page.summary.known, page.summary.problem) == (2, None)
    assert page.summary.calibration


def test_a_campaign_without_known_truths_has_no_column_of_them(service: Service) -> None:
    page = truths_page(service, inferred(service, tasks()))
    assert "known" not in page.columns
    assert page.summary is not None
    assert (page.summary.known, page.summary.calibration) == (0, None)


def test_known_numbers_have_no_error(service: Service) -> None:
    page = truths_page(service, inferred(service, tasks(t2="7.5"), METRES))
    assert page.columns["truth"][2] == 7.5
    assert page.columns["standard_error"][2] == 0


def test_a_method_that_cannot_learn_still_keeps_known_truths(service: Service) -> None:
    many = Domain.categorical([f"l{i}" for i in range(12)])  # too many for confusions
    policy = make_policy(many, "randomized-response", Target(6.0, answers=9))
    page = truths_page(service, inferred(service, tasks(t2="l7"), policy))
    assert page.summary is not None
    assert (page.summary.problem, page.summary.known) == (None, 1)
    assert "cannot learn" in str(page.summary.calibration)
    assert page.columns["truth"][2] == "l7"


def test_known_tasks_without_reports_do_not_stop_inference(service: Service) -> None:
    id = inferred(service, tasks(500, t499="oak"))
    page = truths_page(service, id)
    assert page.summary is not None
    assert page.summary.problem is None
    assert "t499" in page.columns["task"] or page.summary.known == 0


def test_the_methods_section_counts_known_truths(service: Service) -> None:
    found = describe(service, inferred(service, tasks(t1="oak", t4="lime")))
    assert "reports and 2 known truths in" in found.paragraph
    assert any(fact.name == "known truths" for fact in found.facts)


def test_exports_mark_known_truths_and_can_be_uploaded_again(service: Service) -> None:
    given = tasks(t1="oak", t4="lime")
    id = inferred(service, given)
    texts = {}
    for name in ("tasks.csv", "truths.csv", "truths.jsonl"):
        made = export(service, id, name)
        texts[name] = b"".join(made.pieces).decode()
        made.close()
    assert texts["truths.csv"].splitlines()[0] == "task,truth,confidence,answers,known"
    assert texts["truths.csv"].count(",true") == 2
    assert texts["truths.jsonl"].count('"known":true') == 2
    assert read_tasks(texts["tasks.csv"].encode(), "csv") == given


def test_the_requester_lists_known_truths(service: Service) -> None:
    id = create_draft(service, Terms("Leaves", "Which?", LEAVES), tasks(t1="oak")).id
    found, total = list_tasks(service, id, 1, 2)
    assert ([task.known for task in found], total) == (["oak", None], 9)


@pytest.mark.parametrize(
    ("policy", "known", "words"),
    [
        (LEAVES, "ash", "the known truth of task 't1' is no label"),
        (METRES, "tall", "the known truth of task 't1' must be a number"),
        (METRES, "11", "the known truth of task 't1' is outside the range"),
        (SEALED, "oak", "a sealed campaign cannot learn from known truths"),
    ],
)
def test_known_truths_that_cannot_be_are_refused(
    service: Service, policy: Policy, known: str, words: str
) -> None:
    terms = Terms("Leaves", "Which?", policy)
    with pytest.raises(Refused, match=words) as refused:
        create_draft(service, terms, tasks(t1=known))
    assert (refused.value.reason, refused.value.field) == (Reason.MALFORMED, "tasks")
    id = create_draft(service, terms).id
    with pytest.raises(Refused, match=words):
        change_draft(service, id, terms, tasks(t1=known))


def test_known_truths_of_other_labels_are_refused_at_opening(service: Service) -> None:
    """The pages take tasks before labels, so tasks alone are not checked."""
    id = create_draft(service, Terms("Leaves", "Which?", LEAVES)).id
    change_tasks(service, id, tasks(t1="ash"))
    with pytest.raises(Refused, match="the known truth of task 't1' is no label"):
        open_campaign(service, id)
    change_tasks(service, id, tasks(t1="oak"))
    assert open_campaign(service, id).tasks == 9


def _workers_view(folder: Path, given: list[Task], monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Everything that a worker receives from a campaign: status, headers and body."""
    database = Database.at(folder)
    upgrade(database)
    with (
        closing(database),
        served(database) as server,
        monkeypatch.context() as fixed,
    ):
        fixed.setattr(drafts, "new_id", lambda: "leaf234567")
        fixed.setattr(invites, "new_secret", lambda _: "svi_" + "I" * 43)
        service = server.service
        id = create_draft(service, Terms("Leaves", "Which?", LEAVES), given).id
        open_campaign(service, id)
        (link,) = invite(service, id, InviteKind.OPEN, public_url="http://x")
        with server.anonymous() as http:
            shown = link.partition("#")[2]
            worker = {"Authorization": f"Bearer {shown}", "Sottovoce-Receipt": RECEIPT}
            own = {"Authorization": f"Bearer {RECEIPT}"}
            view = [
                _bytes(http.get(f"/campaigns/{id}/offer", headers=worker)),
                _bytes(http.get(f"/campaigns/{id}/block", headers=worker)),
                _bytes(http.get(f"/campaigns/{id}/reports", headers=own)),
                _bytes(http.get(f"/campaigns/{id}/truths", headers=worker)),
                _bytes(http.get(f"/campaigns/{id}/tasks", headers=worker)),
                _bytes(http.get(f"/campaigns/{id}/results", headers=worker)),
                _bytes(http.get(str(http.base_url).replace("/api/v1/", f"/c/{id}"))),
            ]
            report(service, id, shown, workers=3, seed=1)
            infer_now(service, id)
            close_campaign(service, id)
            publish(service, id)
            published = http.get(f"/campaigns/{id}/truths", headers=worker).json()
            assert {field for row in published["truths"] for field in row} == {"task", "truth"}
            return view


def _bytes(reply: httpx.Response) -> bytes:
    kept = {name: text for name, text in reply.headers.items() if name != "date"}
    return f"{reply.status_code} {sorted(kept.items())} ".encode() + reply.content


def test_a_worker_receives_the_same_bytes_with_and_without_known_truths(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = _workers_view(tmp_path / "plain", tasks(30), monkeypatch)
    known = _workers_view(tmp_path / "known", tasks(30, t1="oak", t7="lime"), monkeypatch)
    assert [view.split(b" ", 1)[0] for view in plain] == [
        b"200", b"200", b"200", b"404", b"403", b"403", b"200",
    ]  # fmt: skip
    assert known == plain
