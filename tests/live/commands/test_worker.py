"""`sottovoce sealed worker`: what is said before anybody joins, and what comes of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.forked_processes import Forker

from sottovoce.live.commands.member import worker_lines
from sottovoce.live.worker import LiveWorker
from sottovoce.model import Keyholder, Unit
from sottovoce.model.budget import DEFAULT_BUDGET
from sottovoce.testing import RunningServer, running_server
from sottovoce.worker.ledger import Ledger

Run = Callable[..., subprocess.CompletedProcess[str]]

TASKS, LABELS = ("t0", "t1", "t2"), ("no", "yes")
CANARY = "canary-7f3a"
DEALER = Keyholder("Bibliothèque", "A" * 43, "B" * 42 + "A")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_HOME", str(tmp_path / "home"))


@pytest.fixture
def mine(tmp_path: Path) -> str:
    return table(tmp_path, "t0,yes", "t2,no")


def table(folder: Path, *rows: str) -> str:
    path = folder / "mine.csv"
    path.write_text("\n".join(["task,answer", *rows]) + "\n")
    return str(path)


def links_of(server: RunningServer, **asked: Any) -> list[str]:
    given = {"workers": 3, "mode": "log_odds", "rounds": 2, **asked}
    return server.requester.live.create("Leaves?", TASKS, LABELS, **given)["links"]


def joined(server: RunningServer, link: str) -> int:
    session = link.split("/l/")[1].split("#")[0]
    return server.requester.live.show(session)["joined"]


def consent(link: str) -> str:
    """The screen, as one line."""
    with LiveWorker(link) as worker:
        return " ".join(worker_lines(worker.offer, 2, None))


@pytest.mark.parametrize("mode", ["as_published", "log_odds"])
def test_the_privacy_loss_of_exact_sums_is_said(server: RunningServer, mode: str) -> None:
    shown = consent(links_of(server, mode=mode)[0])
    for said in (
        "CAN OFTEN COMPUTE YOUR LABELS from the opened totals.",
        "There is no guarantee",
        "Leaves?",
        "A number is sent for each of 3 tasks",
        "no third party",
    ):
        assert said in shown, said


def test_what_noise_keeps_is_said_with_both_units(
    server: RunningServer, call: Run, mine: str
) -> None:
    link, *_ = links_of(server, mode="noised", epsilon=1.0)
    done = call("sealed", "worker", link, "--answers", mine)
    for said in ("about one answer: epsilon 1,", "about all 2 answers together: epsilon 3,",
                 "recorded in your ledger before", "if at least 2 of the workers"):  # fmt: skip
        assert said in done.stdout, said
    assert (done.returncode, joined(server, link)) == (2, 0)
    assert "no terminal to ask for confirmation: add --yes" in done.stderr


def test_whom_a_dealt_key_asks_to_trust_is_said(server: RunningServer) -> None:
    shown = consent(links_of(server, suite="damgard_jurik", dealer=DEALER)[0])
    assert "Also the dealer of the key (2,048 bits), who could read everything:" in shown
    assert f"{DEALER.fingerprint}  Bibliothèque" in shown


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (("t0,yes", "t9,no"), "row 3, column 'task': not one of the 3 tasks"),
        (("t0,yes", f"t1,{CANARY}"), "row 3, column 'answer': this cell is not one of the labels"),
        (("t0,yes", "t0,no"), "row 3, column 'task': this task occurs twice: keep one row"),
        (("t0,",), "row 2, column 'answer': empty cell"),
    ],
)
def test_bad_answers_are_found_before_anybody_joins(
    server: RunningServer, call: Run, tmp_path: Path, rows: tuple[str, ...], words: str
) -> None:
    link, *_ = links_of(server)
    done = call("sealed", "worker", link, "--answers", table(tmp_path, *rows), "--yes")
    assert (done.returncode, joined(server, link)) == (1, 0)
    assert words in done.stderr
    assert CANARY not in done.stderr + done.stdout
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_budget_that_is_used_up_is_said_before_anybody_joins(
    server: RunningServer, call: Run, mine: str, tmp_path: Path
) -> None:
    link, *_ = links_of(server, mode="noised", epsilon=10.0)
    given = ("sealed", "worker", link, "--answers", mine, "--yes", "--budget", "12")
    done = call(*given)
    assert (done.returncode, joined(server, link)) == (2, 0)
    assert "asked to spend epsilon 30 per worker but has 12 left" in done.stderr
    ledger = Ledger(tmp_path / "home" / "ledger.jsonl", DEFAULT_BUDGET, adopt=True)
    assert ledger.spent(Unit.WORKER).epsilon == 0


def test_a_link_that_leads_to_no_session_is_refused(
    server: RunningServer, call: Run, mine: str
) -> None:
    link = f"{server.url}/l/nosession1#svl_" + "A" * 43
    done = call("sealed", "worker", link, "--answers", mine, "--yes")
    assert done.returncode == 1
    assert "svl_" not in done.stderr


def test_workers_in_processes_see_their_own_skill_and_nothing_of_their_answers_is_kept(
    server: RunningServer, forker: Forker, tmp_path: Path
) -> None:
    links = links_of(server)
    started = []
    for number, link in enumerate(links):
        folder = tmp_path / str(number)
        folder.mkdir()
        environment = {**os.environ, "SOTTOVOCE_HOME": str(folder / "home"), "NO_COLOR": "1"}
        given = ["sealed", "worker", link, "--yes", "--answers"]
        given += [table(folder, "t0,yes", "t1,no", "t2,yes"), *(["--json"] if number else [])]
        started.append(forker.start(given, folder / "out", folder / "log", environment))
    assert [each.wait(60) for each in started] == [0, 0, 0]
    shown = (tmp_path / "0" / "out").read_text()
    assert "Done: 3 rounds opened." in shown
    assert "How often you give each answer, by true label. Only you see this:" in shown
    outcome = json.loads((tmp_path / "1" / "out").read_text())
    assert (outcome["state"], outcome["rounds"], outcome["labels"]) == ("done", 3, ["no", "yes"])
    assert outcome["skill"][0][0] > 0.9
    kept = [path for path in (tmp_path / "0" / "home").rglob("*") if path.is_file()]
    assert {path.name for path in kept} <= {"ledger.jsonl", "ledger.jsonl.head"}
    said = (tmp_path / "0" / "log").read_text()
    assert "round 0 is opened, with 3 workers" in said
    assert not re.search(r"\byes\b", said)
