"""`sottovoce sealed session`: a requester's commands, from the links to the truths."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.live.server.crowds import ANSWERS, LABELS, TASKS, OverHttp, Worker, begin, go_on
from tests.server.sealed.committees import cards

from sottovoce.securesum.em.transcript import Transcript
from sottovoce.testing import RunningServer

Run = Callable[..., "subprocess.CompletedProcess[str]"]

ASKED = ("create", "tasks.csv", "--labels", "no, yes", "--workers", "4")
EXACT = ("--mode", "log_odds", "--rounds", "1")


@pytest.fixture
def session(call: Run, logged_in: None, tmp_path: Path) -> Run:
    """`sottovoce sealed session …` by someone who is logged in, in a folder with tasks."""
    (tmp_path / "tasks.csv").write_text("task\n" + "".join(f"{name}\n" for name in TASKS))
    (tmp_path / "gold.csv").write_text("task,truth\nt1,yes\nt2,no\nt3,no\n")
    (tmp_path / "card.json").write_text(cards()[0].card())

    def session(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = call("sealed", "session", *arguments)
        assert "Traceback" not in done.stderr
        return done

    return session


@pytest.fixture
def client(server: RunningServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30) as made:
        yield made


def _workers(client: httpx.Client, id: str, links: list[str]) -> list[Worker[OverHttp]]:
    return [
        Worker(OverHttp(client, id, link.partition("#")[2]), answers)
        for link, answers in zip(links, ANSWERS, strict=True)
    ]


def test_a_session_by_its_commands(session: Run, client: httpx.Client, tmp_path: Path) -> None:
    made = session(*ASKED, *EXACT)
    links = made.stdout.split()
    id = links[0].partition("#")[0].rpartition("/")[2]
    assert len(links) == 4
    assert f"sottovoce sealed session show {id} --watch" in made.stderr
    assert session("show", id).stdout.startswith("gathering: 0 of 4 workers joined")
    workers = _workers(client, id, links)
    begin(workers)
    assert "running, round 0, share: 4 of 4 workers joined" in session("show", id).stdout
    assert "waiting for 1, 2, 3, 4" in session("show", id).stdout
    go_on(workers)
    assert session("show", id, "--watch").stdout == "done: 4 of 4 workers joined, 2 rounds opened\n"
    listed = session("list").stdout
    assert id in listed
    assert "log_odds" in listed
    found = session("results", id, "--gold", "gold.csv")
    rows = [line.split(",")[:2] for line in found.stdout.splitlines()]
    assert rows == [["task", "truth"], ["t1", "yes"], ["t2", "no"], ["t3", "yes"]]
    assert "accuracy 0.6667" in found.stderr
    assert "No guarantee" in found.stderr
    assert "wrote truths.jsonl" in session("results", id, "-o", "truths.jsonl").stderr
    assert len((tmp_path / "truths.jsonl").read_text().splitlines()) == 3
    assert json.loads(session("results", id, "--json").stdout)["summary"]["tasks"] == 3
    assert "2 rounds" in session("transcript", id, "-o", "seen.json").stderr
    seen = Transcript.parse((tmp_path / "seen.json").read_text())
    assert (seen.workers, seen.terms.labels, len(seen.opened)) == (4, LABELS, 2)
    assert "exists" in session("transcript", id, "-o", "seen.json").stderr


def test_a_session_is_begun_with_those_who_are_there_stopped_and_deleted(
    session: Run, client: httpx.Client
) -> None:
    made = json.loads(session(*ASKED, *EXACT, "--json").stdout)
    id = made["id"]
    assert "a session needs 3" in session("start", id).stderr
    for worker in _workers(client, id, made["links"])[:3]:
        worker.join()
    assert "running" in session("start", id).stdout
    stopped = session("stop", id)
    assert stopped.stdout.startswith("aborted: 3 of 4 workers joined")
    assert "problem: the requester stopped it" in stopped.stderr
    assert "no results: it was aborted" in session("results", id).stderr
    assert "no terminal to ask for confirmation" in session("delete", id).stderr
    assert f"session {id} is deleted" in session("delete", id, "--yes").stderr
    assert "live session does not exist" in session("show", id).stderr


def test_a_dealer_has_a_link_of_its_own(session: Run) -> None:
    dealt = ("--suite", "damgard_jurik", "--dealer", "card.json", "--bits", "1024")
    made = session(*ASKED, *EXACT, *dealt)
    assert len(made.stdout.split()) == 4
    assert "for the dealer only: http" in made.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "--mode noised needs --epsilon"),
        (("--epsilon", "1", "--sum-scale", "10"), "scale is only for modes without noise"),
        ((*EXACT, "--workers", "2"), "workers: from 3 to 10,000, not 2"),
        ((*EXACT, "--suite", "damgard_jurik"), "give a keyholder's card"),
        ((*EXACT, "--dealer", "tasks.csv"), "tasks.csv: the keyholder's card is not JSON"),
        ((*EXACT, "--labels", "no"), "2 to 100 labels"),
        ((*EXACT, "--threshold", "2"), "threshold: from 3 to 4, not 2"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    session: Run, arguments: tuple[str, ...], words: str
) -> None:
    done = session(*ASKED, *arguments)
    assert done.returncode != 0
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
