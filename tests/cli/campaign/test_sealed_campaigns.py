"""`sottovoce campaign` of sealed answers: from the keyholders' cards to published truths."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from tests.server.sealed.committees import Holder, OverHttp, Sent, cards, go_on, sealed_answers

from sottovoce.model import Policy
from sottovoce.testing import RunningServer

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ASKED = ("create", "tasks.csv", "--question", "An oak?", "--labels", "no,yes", "--epsilon", "40")
SEALED = ("--sealed", "--keyholder", "1.json", "--keyholder", "2.json", "--keyholder", "3.json")
TASKS = ("t1", "t2")


@pytest.fixture
def campaign(call: Run, logged_in: None, tmp_path: Path) -> Run:
    """`sottovoce campaign …` by someone who is logged in, in a folder with cards and tasks."""
    (tmp_path / "tasks.csv").write_text("task\n" + "".join(f"{name}\n" for name in TASKS))
    for seat, card in enumerate(cards(), 1):
        (tmp_path / f"{seat}.json").write_text(card.card())

    def campaign(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = call("campaign", *arguments)
        assert "Traceback" not in done.stderr
        return done

    return campaign


def _put(server: RunningServer, id: str, invite: str, sent: Sent) -> int:
    headers = {"Authorization": f"Bearer {invite}", "Sottovoce-Receipt": sent.receipt}
    path = f"{server.url}/api/v1/campaigns/{id}/reports/{sent.report_id}"
    return httpx.put(path, content=sent.content, headers=headers).status_code


def test_a_sealed_campaign_by_its_commands(
    campaign: Run, server: RunningServer, tmp_path: Path
) -> None:
    made = campaign(*ASKED, *SEALED, "--minimum", "3", "--open", "--over-budget")
    id = made.stdout.strip()
    assert f"sottovoce campaign keyholders {id}" in made.stderr
    links = json.loads(campaign("keyholders", id, "--json").stdout)["links"]
    policy = Policy.of_json(server.requester.campaign(id)["policy"])
    [invite] = server.requester.invite(id)
    for _ in range(3):
        sent = sealed_answers(id, policy, TASKS, (1, 0))
        assert _put(server, id, invite.partition("#")[2], sent) == 201
    assert "has not dealt" in campaign("rounds", id).stdout
    campaign("close", id)
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30) as client:
        go_on([
            Holder(OverHttp(client, id, each["link"].partition("#")[2]), each["seat"])
            for each in links
        ])  # fmt: skip
    said = campaign("rounds", id, "--watch").stdout
    assert said.startswith("opened: 3 uploads, 3 checked, 0 waiting, 0 dropped")
    server.truths(id)
    assert "nobody" in campaign("export", id, "reports.csv").stderr
    assert "2 rows" in campaign("export", id, "totals.csv").stderr
    assert (tmp_path / "totals.csv").read_text() == ("task,slot,noised_total\nt1,yes,3\nt2,yes,0\n")
    assert "are published" in campaign("publish", id).stderr
    assert server.requester.campaign(id)["published"]
    assert server.requester.results(id).values.tolist() == ["yes", "no"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--minimum", "3"), "--minimum needs --sealed"),
        (("--keyholder", "1.json"), "--keyholder needs --sealed"),
        (("--sealed",), "give --keyholder CARD.json"),
        (SEALED[:5], "3 seats need as many keyholders, but 2 are given"),
        ((*SEALED[:5], "--keyholder", "tasks.csv"), "tasks.csv: the keyholder's card is not JSON"),
        ((*SEALED[:5], "--keyholder", "4.json"), "4.json: cannot read the keyholder's card"),
        ((*SEALED, "--mechanism", "two-layer"), "not randomised by two-layer"),
        ((*SEALED, "--layout", "sum"), "sum"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    campaign: Run, arguments: tuple[str, ...], words: str
) -> None:
    done = campaign(*ASKED, *arguments)
    assert done.returncode != 0
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_campaign_that_is_not_sealed_has_no_rounds(campaign: Run) -> None:
    id = campaign(*ASKED).stdout.strip()
    for command in ("keyholders", "rounds", "publish"):
        done = campaign(command, id)
        assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
