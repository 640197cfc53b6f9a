"""`sottovoce campaign`, as a requester meets it: a real server, from login to deletion."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from sottovoce import Budget
from sottovoce.cli.campaign.results import NAMES
from sottovoce.model.credentials import sign
from sottovoce.server.campaigns import sample_campaign
from sottovoce.server.campaigns.exports import EXPORTS, SEALED_EXPORTS
from sottovoce.tables import read_policy
from sottovoce.testing import RunningServer, ServerProcess
from sottovoce.testing.server_process import wait_until

Run = Callable[..., "subprocess.CompletedProcess[str]"]

TREES = ("--question", "Which tree?", "--labels", "oak,birch")


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    file = tmp_path / "tasks.csv"
    file.write_text("task,text\n" + "".join(f"t{i:02},Is leaf {i} an oak?\n" for i in range(25)))
    return file


@pytest.fixture
def campaign(call: Run, logged_in: None, tmp_path: Path) -> Run:
    """`sottovoce campaign …` by someone who is logged in."""

    def campaign(*arguments: str) -> subprocess.CompletedProcess[str]:
        return call("campaign", *arguments)

    return campaign


@pytest.fixture(scope="module")
def reported(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A campaign of 25 tasks with the reports of four workers, all in its results."""
    names = [f"t{i:02}" for i in range(25)]
    campaign, link = server.campaign(["oak", "birch"], names, epsilon=3)
    for worker in range(4):
        folder = tmp_path_factory.mktemp(f"w{worker}")
        with server.client(link, folder) as client:
            client.ledger.raise_budget(Budget(worker_epsilon=1000))
            client.send({name: ("oak", "birch")[i % 2] for i, name in enumerate(names)})
    server.truths(campaign)
    return campaign


def test_an_epsilon_above_the_mechanisms_limit_is_noted(campaign: Run, tasks: Path) -> None:
    made = campaign("create", tasks.name, *TREES, "--epsilon", "60")
    assert made.returncode == 0
    assert "note: epsilon 60 was requested; the largest possible with this mechanism is 44.37" in (
        made.stderr.splitlines()
    )


def test_a_campaign_runs_from_the_servers_link_to_its_deletion(
    call: Run, tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole journey, beginning with what `sottovoce serve` prints."""
    monkeypatch.setenv("SOTTOVOCE_HOME", str(tmp_path / "home"))
    for name in ("SOTTOVOCE_URL", "SOTTOVOCE_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    def done(*arguments: str) -> subprocess.CompletedProcess[str]:
        ended = call("campaign", *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended

    with ServerProcess(tmp_path / "server") as server:
        printed = (tmp_path / "server" / "server.out").read_text()
        link = next(word for word in printed.split() if "/setup#sva_" in word)
        assert f"logged in to {server.url}" in done("login", link).stderr
        assert "used or replaced" in call("campaign", "login", link).stderr
        made = done("create", "tasks.csv", *TREES, "--epsilon", "2", "--open")
        id = made.stdout.strip()
        assert f"next: sottovoce campaign invite {id}" in made.stderr
        assert f"{server.url}/c/{id}#svi_" in done("invite", id).stdout
        assert "open since" in done("status", id).stdout
        assert "is closed" in done("close", id).stderr
        assert "is deleted" in done("delete", id, "--yes").stderr
        assert "no campaigns yet" in done("list").stderr
        assert f"logged out of {server.url}" in done("logout").stderr


def test_creating_prints_the_id_and_says_what_is_promised(
    campaign: Run, tasks: Path, server: RunningServer
) -> None:
    done = campaign("create", "tasks.csv", *TREES, "--epsilon", "1", "--answers-per-worker", "5")
    id = done.stdout.strip()
    made = server.requester.campaign(id)
    assert (done.returncode, made["state"], made["block"]) == (0, "draft", 5)
    assert "25 tasks; a worker gets 5 of them, the most needed first" in done.stderr
    assert (
        "guarantee for up to 5 answers per worker: epsilon 1 per answer, epsilon 5 per worker"
        in done.stderr
    )
    assert "Of 100 workers with the same answer 73 send it" in done.stderr
    assert "hides little" not in done.stderr
    assert f"policy {made['policy_hash']}" in done.stderr
    assert done.stderr.endswith(f"next: sottovoce campaign open {id}\n")


def test_a_promise_that_hides_little_is_called_so(campaign: Run, tasks: Path) -> None:
    done = campaign("create", "tasks.csv", *TREES, "--epsilon", "6")
    assert "epsilon 6 per answer, epsilon 150 per worker" in done.stderr
    assert "This hides little" in done.stderr
    assert "All 25 answers together hide little about a worker as a whole" in done.stderr


def test_creating_says_what_devices_afford_and_proposes_a_crowd(campaign: Run, tasks: Path) -> None:
    done = campaign("create", "tasks.csv", *TREES, "--epsilon", "10", "--quota", "8")
    assert "Each worker's device stops after 5 of its 25 tasks" in done.stderr
    assert "Proposal: 40 workers x 5 tasks each." in done.stderr


def test_what_every_device_refuses_is_not_opened_by_accident(campaign: Run, tasks: Path) -> None:
    hidden = ("create", "tasks.csv", *TREES, "--epsilon", "10", "--hide-participation", "--open")
    done = campaign(*hidden)
    assert done.returncode != 0
    assert "open it with --over-budget" in done.stderr
    assert "is open" in campaign("open", done.stdout.strip(), "--over-budget").stderr


def test_every_option_of_create_reaches_the_server(campaign: Run, tasks: Path) -> None:
    done = campaign(
        "create", "tasks.csv", "--question", "How heavy?", "--title", "Leaves",
        "--range", "-5", "5", "--step", "0.5", "--number-unit", "g", "--epsilon", "1",
        "--unit", "worker", "--delta", "0.0001", "--answers-per-worker", "4",
        "--sample", "2", "--mechanism", "laplace", "--quota", "9", "--closes-on", "2999-12-31",
        "--show-draw", "after_send", "--json",
    )  # fmt: skip
    made = json.loads(done.stdout)
    assert (made["title"], made["question"], made["unit"]) == ("Leaves", "How heavy?", "g")
    assert made["domain"] == {"kind": "numeric", "low": -5.0, "high": 5.0, "step": 0.5}
    assert (made["quota"], made["closes_on"], made["answers"]) == (9, "2999-12-31", 4)
    assert made["policy"]["show_draw"] == "after_send"
    assert made["policy"]["mechanism"]["answers"] == 2
    assert made["policy"]["mechanism"]["of"]["name"] == "laplace"
    assert made["policy"]["promise"] == {
        "unit": "worker", "epsilon": "1.0", "delta": "0.0001", "answers": 4,
    }  # fmt: skip


def test_a_scale_has_an_order_and_participation_can_be_hidden(campaign: Run, tasks: Path) -> None:
    done = campaign(
        "create", "tasks.csv", "--question", "How good?", "--scale", "1,2,3", "--epsilon", "1",
        "--hide-participation", "--json",
    )  # fmt: skip
    made = json.loads(done.stdout)
    assert made["domain"] == {"kind": "ordinal", "labels": ["1", "2", "3"]}
    assert made["policy"]["mechanism"]["name"] == "null-randomized-response"


def test_a_policy_from_a_file_is_promised(call: Run, campaign: Run, tasks: Path) -> None:
    call(
        "guarantee", "--mechanism", "randomized-response", "--epsilon", "1", "--write-policy",
        "p.json", "--answers-per-worker", "3", "--domain", "categorical:no,yes",
    )  # fmt: skip
    done = campaign("create", "tasks.csv", "--question", "So?", "--policy", "p.json", "--json")
    assert json.loads(done.stdout)["policy_hash"] == read_policy(tasks.parent / "p.json").hash


def test_an_id_is_printed_even_if_the_campaign_cannot_be_opened(
    campaign: Run, tasks: Path, server: RunningServer
) -> None:
    done = campaign(
        "create", "tasks.csv", *TREES, "--epsilon", "1", "--open", "--closes-on", "2020-01-01"
    )
    assert done.returncode == 2
    assert "choose a later day" in done.stderr
    assert server.requester.campaign(done.stdout.strip())["state"] == "draft"


def test_links_go_to_standard_output_one_a_line(campaign: Run, tasks: Path) -> None:
    id = campaign("create", "tasks.csv", *TREES, "--epsilon", "1").stdout.strip()
    done = campaign("invite", id, "--single", "3", "--expires-on", "2999-12-31")
    assert len(done.stdout.splitlines()) == 3
    assert "Each link is a secret" in done.stderr
    assert "nobody can answer a draft" in done.stderr
    assert "4 links" in campaign("invite", id, "--single", "4", "-o", "links.csv").stderr
    assert (tasks.parent / "links.csv").read_text().splitlines()[0] == "link"
    if sys.platform != "win32":
        assert stat.S_IMODE((tasks.parent / "links.csv").stat().st_mode) == 0o600
    assert json.loads(campaign("invite", id, "--json").stdout)["links"][0].count("#svi_") == 1
    assert "8 links" in campaign("invite", id, "--revoke").stderr


def test_status_says_who_took_part_what_is_promised_and_what_is_inferred(
    campaign: Run, reported: str
) -> None:
    done = campaign("status", reported)
    assert "4 workers, 4 submissions, 100 reports" in done.stdout
    assert "25 tasks: 25 have a truth, 4.0 reports per task on average" in done.stdout
    assert "results: aware-labels: 25 tasks, 4 workers, 100 reports" in done.stdout
    assert "epsilon 3 per answer, epsilon 75 per worker" in done.stdout
    found = json.loads(campaign("status", reported, "--json").stdout)
    assert (found["campaign"]["id"], found["reports_waiting"]) == (reported, 0)


def test_status_says_how_many_were_refused_and_why(
    campaign: Run, tasks: Path, server: RunningServer
) -> None:
    id = campaign("create", "tasks.csv", *TREES, "--epsilon", "1", "--open").stdout.strip()
    assert "refused" not in campaign("status", id).stdout
    for _ in range(3):
        address = f"{server.url}/api/v1/campaigns/{id}/reports/{'0' * 32}"
        assert httpx.put(address).status_code == 401
    wait_until(lambda: server.requester.rejections(id)["total"] == 3, "counts")
    line = "refused: 3 submissions; 3 without an invite or a receipt"
    assert line in campaign("status", id).stdout


def test_a_sample_campaign_is_called_simulated_wherever_it_is_shown(
    campaign: Run, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample_campaign, "LENGTH", 0.2)
    made = campaign("sample")
    id = made.stdout.strip()
    assert f"campaign {id}, SIMULATED: 60 tasks" in made.stderr
    assert made.stderr.endswith(f"next: sottovoce campaign status {id} --watch\n")
    wait_until(lambda: server.requester.campaign(id)["reports"] == 1600, "the workers")
    server.truths(id)
    assert f"{id}: SIMULATED Sample: leaves in the park" in campaign("status", id).stdout
    (row,) = [line for line in campaign("list").stdout.splitlines() if id in line]
    assert "SIMULATED" in row
    assert "note: SIMULATED reports" in campaign("results", id, "-o", "truths.csv").stderr
    assert (tmp_path / "truths.csv").read_text().startswith("task,simulated_truth,")
    assert json.loads(campaign("results", id, "--json").stdout)["simulated"] is True
    assert "wrote reports-SIMULATED.csv: 1,600 rows" in campaign("export", id, "reports").stderr
    assert (tmp_path / "reports-SIMULATED.csv").exists()
    refused = campaign("invite", id)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "simulated; nobody can be invited" in refused.stderr


def test_watching_ends_when_the_campaign_is_closed(
    campaign: Run, tasks: Path, server: RunningServer
) -> None:
    id = campaign("create", "tasks.csv", *TREES, "--epsilon", "1", "--open").stdout.strip()
    server.requester.close(id)
    done = campaign("status", id, "--watch")
    assert (done.returncode, "closed on" in done.stdout) == (0, True)


def test_results_into_a_pipe_are_csv_of_all_tasks(campaign: Run, reported: str) -> None:
    done = campaign("results", reported)
    lines = done.stdout.splitlines()
    assert (lines[0], len(lines)) == ("task,truth,confidence,answers", 26)
    assert "aware-labels: 25 tasks" in done.stderr


def test_the_least_sure_come_first_into_a_pipe_too(campaign: Run, reported: str) -> None:
    lines = campaign("results", reported, "--sort", "confidence").stdout.splitlines()
    assert (lines[0], len(lines)) == ("task,truth,confidence,answers", 26)
    sure = [float(line.split(",")[2]) for line in lines[1:]]
    assert sure == sorted(sure)
    refused = campaign("results", reported, "--sort", "confidence", "-o", "truths.csv")
    assert (refused.returncode, "drop --sort" in refused.stderr) == (2, True)


def test_results_go_to_files_and_are_scored(campaign: Run, reported: str, tmp_path: Path) -> None:
    rows = [f"t{i:02},{('oak', 'birch')[i % 2]}" for i in range(25)]
    (tmp_path / "gold.csv").write_text("\n".join(["task,truth", *rows]) + "\n")
    done = campaign(
        "results", reported, "-o", "truths.parquet", "--weights", "w.csv", "--gold", "gold.csv"
    )
    assert (done.returncode, done.stdout) == (0, "")
    assert "wrote truths.parquet" in done.stderr
    assert "accuracy " in done.stderr
    assert "25 gold tasks" in done.stderr
    assert len((tmp_path / "w.csv").read_text().splitlines()) == 5
    scored = json.loads(campaign("results", reported, "--gold", "gold.csv", "--json").stdout)
    assert scored["score"]["tasks"] == 25
    assert len(scored["truths"]) == 25


def test_exported_reports_give_the_servers_truths(
    call: Run, campaign: Run, reported: str, tmp_path: Path
) -> None:
    assert "100 rows" in campaign("export", reported, "-o", "leaf.parquet").stderr
    assert campaign("export", reported, "policy").returncode == 0
    assert campaign("export", reported, "truths.csv").returncode == 0
    call("infer", "leaf.parquet", "--policy", "policy.json", "-o", "mine.csv")
    mine, served = (
        sorted(line.split(",")[:2] for line in (tmp_path / name).read_text().splitlines())
        for name in ("mine.csv", "truths.csv")
    )
    assert mine == served


def test_every_export_of_the_server_has_its_name_here() -> None:
    assert sorted(NAMES) == sorted((*EXPORTS, *SEALED_EXPORTS))


def test_a_webhook_is_added_listed_and_removed(campaign: Run, reported: str) -> None:
    added = campaign("webhook", "add", reported, "https://example.org/hook")
    assert added.stdout.startswith("svw_")
    [webhook] = json.loads(campaign("webhook", "list", reported, "--json").stdout)["webhooks"]
    assert webhook["id"] in added.stderr
    assert "none yet" in campaign("webhook", "list", reported).stdout
    assert campaign("webhook", "remove", reported, webhook["id"]).returncode == 0
    assert "has no webhooks" in campaign("webhook", "list", reported).stderr


def test_a_message_to_a_webhook_is_verified(
    campaign: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, now = "svw_" + "A" * 43, int(time.time())
    (tmp_path / "body").write_bytes(b"{}")
    arguments = ("webhook", "verify", "body", "--timestamp", str(now), "--signature")
    assert "SOTTOVOCE_WEBHOOK_SECRET" in campaign(*arguments, "v1=00").stderr
    monkeypatch.setenv("SOTTOVOCE_WEBHOOK_SECRET", secret)
    assert campaign(*arguments, sign(secret, now, b"{}")).returncode == 0
    assert campaign(*arguments, sign(secret, now, b"[]")).returncode == 1


def test_a_token_is_made_listed_and_revoked(campaign: Run) -> None:
    made = json.loads(campaign("token", "make", "laptop", "--json").stdout)
    assert made["token"].startswith("svk_")
    listed = campaign("token", "list").stdout
    assert made["id"] in listed
    assert "yours" in listed
    assert "no longer works" in campaign("token", "revoke", made["id"]).stderr
    assert made["id"] not in campaign("token", "list").stdout


def test_campaigns_are_listed(campaign: Run, reported: str) -> None:
    assert reported in campaign("list").stdout
    listed = json.loads(campaign("list", "--json").stdout)["campaigns"]
    assert reported in {each["id"] for each in listed}
