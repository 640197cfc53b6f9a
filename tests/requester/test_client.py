"""A requester's client on a real server."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import sottovoce
from sottovoce import DataError, Domain, Requester, ShowDraw, Target, Unit, UsageError
from sottovoce.errors import Reason, Refused, Unreachable, install_command
from sottovoce.model import Task
from sottovoce.requester import downloads
from sottovoce.testing import RunningServer

TREES = Domain.categorical(["oak", "birch"])
NAMES = [f"t{i}" for i in range(8)]


def answer(server: RunningServer, link: str, folder: Path, workers: int = 4) -> None:
    for worker in range(workers):
        with server.client(link, folder / f"w{worker}") as client:
            values = client.offer.policy.domain.labels or (2.0, 7.0)
            client.send({task: values[i % 2] for i, task in enumerate(NAMES)})


@pytest.fixture(scope="module")
def reported(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A campaign with reports, all of them in its results."""
    campaign, link = server.campaign(["oak", "birch"], NAMES, epsilon=3)
    answer(server, link, tmp_path_factory.mktemp("workers"))
    server.truths(campaign)
    return campaign


def draft(requester: Requester, **terms: object) -> str:
    given = {"domain": TREES, "target": Target(1.0, answers=3), **terms}
    return requester.create("Which tree?", NAMES, **given)["id"]  # type: ignore[arg-type]


def test_a_campaign_is_a_draft_with_a_guarantee_per_answer_and_per_worker(
    requester: Requester,
) -> None:
    made = requester.create(
        "Which tree?", NAMES, domain=TREES, target=Target(1.0, answers=3), quota=5,
        closes_on=date(2999, 1, 1),
    )  # fmt: skip
    assert (made["state"], made["title"], made["tasks"], made["block"]) == (
        "draft", "Which tree?", 8, 3,
    )  # fmt: skip
    assert (made["quota"], made["closes_on"]) == (5, "2999-01-01")
    guarantee = made["guarantee"]
    assert guarantee["per_answer"]["epsilon"] == pytest.approx(1.0)
    assert guarantee["per_worker"]["epsilon"] == pytest.approx(3.0)
    assert requester.campaign(made["id"]) == made
    assert made in requester.campaigns()


def test_numbers_have_a_unit_and_a_promise_may_be_for_the_worker(requester: Requester) -> None:
    made = requester.create(
        "How heavy?", NAMES, domain=Domain.numeric(0, 10, 0.5), unit="kg",
        target=Target(1.0, Unit.WORKER, answers=4, sample=2), mechanism="laplace",
    )  # fmt: skip
    assert made["unit"] == "kg"
    assert made["policy"]["mechanism"]["of"]["name"] == "laplace"
    assert made["guarantee"]["per_worker"]["epsilon"] <= 1.0  # type: ignore[operator]


def test_draws_may_be_shown_after_sending(requester: Requester) -> None:
    later = Target(1.0, answers=4, show_draw=ShowDraw.AFTER_SEND)
    made = requester.create("Which tree?", NAMES, domain=TREES, target=later)
    assert made["policy"]["show_draw"] == "after_send"
    before = requester.create("Which tree?", NAMES, domain=TREES, target=Target(1.0, answers=4))
    assert "show_draw" not in before["policy"]


def test_a_policy_of_ones_own_is_promised(requester: Requester) -> None:
    policy = sottovoce.make_policy(TREES, "randomized-response", Target(0.5, answers=2))
    made = requester.create("Which tree?", NAMES, policy=policy)
    assert made["policy_hash"] == policy.hash


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"domain": None}, "a policy, or a domain and a target"),
        ({"policy": sottovoce.make_policy(TREES, "randomized-response", Target(1.0))}, "already"),
    ],
)
def test_a_policy_or_a_target_is_needed_and_not_both(
    requester: Requester, terms: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        draft(requester, **terms)


def test_tasks_come_from_a_file_or_as_rows(requester: Requester, tmp_path: Path) -> None:
    file = tmp_path / "tasks.csv"
    file.write_text("task,text\na,Is it?\nb,Was it?\n")
    campaign = draft(requester)
    for rows in (file, [Task("a", "Is it?"), "b"], [{"task": "a"}, {"task": "b", "text": "Was?"}]):
        assert requester.set_tasks(campaign, rows) == 2  # type: ignore[arg-type]


def test_a_fault_in_a_file_of_tasks_is_said_with_its_place(
    requester: Requester, tmp_path: Path
) -> None:
    file = tmp_path / "tasks.csv"
    file.write_text("task,text\na,Is it?\na,Was it?\n")
    with pytest.raises(DataError, match=r"tasks\.csv, row 3, column 'task'"):
        requester.set_tasks(draft(requester), file)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "1 to 1,048,576 tasks"),
        (["a", "a"], "twice"),
        ([{"text": "Is it?"}], "needs its name"),
        ([{"task": "a", "colour": "red"}], "not 'colour'"),
    ],
)
def test_rows_that_are_no_tasks_are_refused(
    requester: Requester, rows: list[object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        requester.set_tasks(draft(requester), rows)  # type: ignore[arg-type]


def test_a_draft_changes_and_an_open_campaign_does_not(requester: Requester) -> None:
    campaign = draft(requester)
    changed = requester.change(campaign, "Is it?", domain=TREES, target=Target(2.0), title="Trees")
    assert (changed["title"], changed["answers"], changed["tasks"]) == ("Trees", 1, 8)
    assert requester.open(campaign)["state"] == "open"
    with pytest.raises(Refused) as caught:
        requester.change(campaign, "Is it?", domain=TREES, target=Target(2.0))
    assert caught.value.reason is Reason.NOT_A_DRAFT


def test_opening_and_closing_twice_is_once(requester: Requester) -> None:
    campaign = draft(requester)
    assert [requester.open(campaign)["state"] for _ in range(2)] == ["open", "open"]
    assert [requester.close(campaign)["state"] for _ in range(2)] == ["closed", "closed"]


def test_a_deleted_campaign_is_gone(requester: Requester) -> None:
    campaign = draft(requester)
    requester.delete(campaign)
    with pytest.raises(Refused) as caught:
        requester.campaign(campaign)
    assert caught.value.reason is Reason.NOT_FOUND


@pytest.mark.parametrize("campaign", ["", "..", "a/b", "LEAF", "leaf\n", "é" * 8, "x" * 40])
def test_what_cannot_be_a_campaign_is_asked_of_no_server(
    requester: Requester, campaign: str
) -> None:
    with pytest.raises(Refused, match="the campaign does not exist"):
        requester.delete(campaign)


def test_links_are_for_all_or_for_one_and_end_together(requester: Requester) -> None:
    campaign = draft(requester)
    [open_link] = requester.invite(campaign)
    single = requester.invite(campaign, "single", 3, date(2999, 1, 1))
    assert len({open_link, *single}) == 4
    assert all(f"/c/{campaign}#svi_" in link for link in single)
    assert requester.invites(campaign) == {"open": 1, "single": 3, "used": 0}
    assert requester.revoke_invites(campaign) == 4
    assert requester.invites(campaign)["open"] == 0


def test_results_are_those_of_the_exported_reports(
    requester: Requester, reported: str, tmp_path: Path
) -> None:
    assert requester.export(reported, "reports.parquet", tmp_path / "r.parquet") == 32
    assert requester.export(reported, "policy.json", tmp_path / "p.json") is None
    policy = sottovoce.read_policy(tmp_path / "p.json")
    local = sottovoce.infer(tmp_path / "r.parquet", policy=policy)
    served = requester.results(reported)
    order = np.argsort(local.tasks.astype(str))
    assert served.tasks.tolist() == local.tasks[order].tolist()
    assert served.values.tolist() == local.values[order].tolist()
    assert local.confidence is not None
    assert served.confidence == pytest.approx(local.confidence[order], abs=1e-9)
    weights = dict(zip(local.workers, local.weights, strict=True))
    assert served.weights == pytest.approx([weights[each] for each in served.workers], abs=1e-9)
    assert served.provenance.policy_hash == policy.hash


def test_a_result_can_be_scored_and_written(
    requester: Requester, reported: str, tmp_path: Path
) -> None:
    result = requester.results(reported)
    gold = {"task": NAMES, "truth": ["oak", "birch"] * 4}
    assert sottovoce.score(result, gold).tasks == 8
    sottovoce.write(result, tmp_path / "truths.csv")
    assert requester.export(reported, "truths.csv", tmp_path / "served.csv") == 8
    assert len((tmp_path / "truths.csv").read_text().splitlines()) == 9


def test_numbers_have_truths_with_standard_errors(server: RunningServer, tmp_path: Path) -> None:
    made = server.requester.create(
        "How heavy?", NAMES, domain=Domain.numeric(0, 10), target=Target(4.0, answers=8)
    )
    server.requester.open(made["id"])
    answer(server, server.requester.invite(made["id"])[0], tmp_path, workers=3)
    result = server.truths(made["id"])
    assert result.values.dtype == np.float64
    assert result.standard_error is not None
    assert result.confidence is None


def test_known_truths_are_in_results_and_not_scored(server: RunningServer, tmp_path: Path) -> None:
    rows = [{"task": name, **({"known": "birch"} if name == "t0" else {})} for name in NAMES]
    made = server.requester.create("Which tree?", rows, domain=TREES, target=Target(4.0, answers=8))
    server.requester.open(made["id"])
    link = server.requester.invite(made["id"])[0]
    with server.client(link, tmp_path / "curious") as client:
        assert [task.known for task in client.offer.tasks] == [None] * 8
    answer(server, link, tmp_path, workers=3)
    result = server.truths(made["id"])
    assert result.known is not None
    assert dict(zip(result.tasks, result.known, strict=True)) == {n: n == "t0" for n in NAMES}
    assert (result.provenance.known, result.values[0]) == (1, "birch")
    scored = sottovoce.score(result, {"task": NAMES, "truth": ["oak", "birch"] * 4})
    assert (scored.tasks, scored.known) == (7, 1)
    assert server.requester.export(made["id"], "tasks.csv", tmp_path / "tasks.csv") == 8
    assert server.requester.set_tasks(draft(server.requester), tmp_path / "tasks.csv") == 8


@pytest.mark.parametrize("size", [1, 3, 8, 100])
def test_truths_and_weights_come_page_by_page(
    requester: Requester, reported: str, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    whole = list(requester.truths(reported)), list(requester.workers(reported))
    monkeypatch.setattr(downloads, "PAGE", size)
    assert (list(requester.truths(reported)), list(requester.workers(reported))) == whole
    assert [row["task"] for row in whole[0]] == NAMES
    assert len(whole[1]) == 4


def test_the_least_sure_truths_can_come_first(requester: Requester, reported: str) -> None:
    confidences = [row["confidence"] for row in requester.truths(reported, order="confidence")]
    assert confidences == sorted(confidences)  # type: ignore[type-var]


def test_without_reports_there_are_no_results(requester: Requester) -> None:
    campaign = draft(requester)
    assert list(requester.truths(campaign)) == []
    with pytest.raises(DataError, match="nothing is inferred yet"):
        requester.results(campaign)


def test_an_export_that_is_refused_leaves_no_file(requester: Requester, tmp_path: Path) -> None:
    with pytest.raises(Refused):
        requester.export(draft(requester), "secrets.csv", tmp_path / "x.csv")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["reports.csv", "reports.jsonl", "crowdkit.csv", "tasks.csv"])
def test_rows_of_every_export_are_as_many_as_announced(
    requester: Requester, reported: str, tmp_path: Path, name: str
) -> None:
    expected = 8 if name == "tasks.csv" else 32
    assert requester.export(reported, name, tmp_path / name, raw=True) == expected


def test_webhooks_are_added_listed_and_removed(requester: Requester) -> None:
    campaign = draft(requester)
    made = requester.add_webhook(campaign, "https://example.org/hook")
    assert made["secret"].startswith("svw_")
    [webhook] = requester.webhooks(campaign)
    assert (webhook["id"], webhook["address"]) == (made["id"], "https://example.org/hook")
    requester.remove_webhook(campaign, made["id"])
    assert requester.webhooks(campaign) == []


def test_a_token_works_until_it_is_revoked(requester: Requester, server: RunningServer) -> None:
    made = requester.make_token("Ada's laptop")
    with Requester(server.url, made["token"]) as other:
        assert "Ada's laptop" in {each["name"] for each in other.tokens()}
        requester.revoke_token(made["id"])
        with pytest.raises(Refused) as caught:
            other.campaigns()
    assert caught.value.reason is Reason.BAD_CREDENTIAL
    assert made["token"] not in str(caught.value)


def test_the_token_is_in_no_repr(requester: Requester) -> None:
    assert "svk_" not in repr(requester)


def test_what_is_no_token_is_refused_without_quoting_it(server: RunningServer) -> None:
    with pytest.raises(UsageError, match="the token is incomplete") as caught:
        Requester(server.url, "svi_" + "A" * 43)
    assert "AAA" not in str(caught.value)


def test_a_server_that_is_not_there_is_said(server: RunningServer) -> None:
    with (
        Requester("http://127.0.0.1:1", server.token, retries=0) as nobody,
        pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:1 does not answer"),
    ):
        nobody.campaigns()


def test_without_the_client_extra_one_is_told_what_to_install() -> None:
    code = """
import sys
sys.modules["httpx"] = None
import sottovoce
requester = sottovoce.Requester
try:
    requester("http://127.0.0.1:1", "svk_" + 43 * "A")
except sottovoce.NotInstalled as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert install_command("client") in done.stdout


def test_a_forecast_has_the_policy_of_a_draft_with_the_same_terms(requester: Requester) -> None:
    target = Target(2.0, answers=4)
    found = requester.forecast(TREES, target, tasks=10, workers=20, ability="expert")
    assert (found["score"], found["simulated"]) == ("accuracy", True)
    assert found["band"][0] <= found["expected"] <= found["band"][1]
    made = requester.create("Which tree?", NAMES, domain=TREES, target=target)
    assert found["policy"] == made["policy"]


def test_a_campaign_is_seen_at_a_glance(requester: Requester, reported: str) -> None:
    seen = requester.overview(reported)
    assert (seen["tasks"], seen["workers"], seen["reports"]) == (8, 4, 32)
    assert (seen["coverage"]["least"], seen["coverage"]["most"]) == (4, 4)


def test_a_campaign_is_described_for_a_paper(requester: Requester, reported: str) -> None:
    said = requester.methods(reported)
    assert "32 reports from 4 workers" in said["paragraph"]
    assert said["citation"].startswith("@software{")
