"""A worker's software against a real server: from the offer to its own skill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sottovoce.errors import BudgetExceeded, Reason, Refused, SealedRefused, UsageError
from sottovoce.live.member_client import MemberClient
from sottovoce.live.worker import LiveAnswers, LiveOutcome, LiveWorker
from sottovoce.model import Unit
from sottovoce.testing import RunningServer, running_server
from sottovoce.testing.server_process import wait_until
from sottovoce.worker import Budget, Ledger

TASKS, LABELS = ("t0", "t1", "t2", "t3"), ("no", "yes")
ALL = LiveAnswers(np.arange(4), np.array([0, 1, 1, 0]))
NOISED = {"mode": "noised", "epsilon": 2.0}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


def links_of(server: RunningServer, **asked: Any) -> list[str]:
    asked = {"mode": "log_odds", "rounds": 2, "workers": 3, **asked}
    return server.requester.live.create("Leaves", TASKS, LABELS, **asked)["links"]


def ledger_in(folder: Path, epsilon: float = 100.0) -> Ledger:
    folder.mkdir(exist_ok=True)
    return Ledger(folder / "ledger.jsonl", Budget(worker_epsilon=epsilon))


def ran(links: Sequence[str], folder: Path) -> list[Future[LiveOutcome]]:
    """What became of workers with the same answers and a ledger each, in folders 0, 1, 2, …"""

    def run(place: int, link: str) -> LiveOutcome:
        with LiveWorker(link, ledger=ledger_in(folder / str(place))) as worker:
            return worker.run(ALL)

    with ThreadPoolExecutor(len(links)) as pool:
        return [pool.submit(run, place, link) for place, link in enumerate(links)]


def test_workers_take_part_and_learn_how_good_they_are(
    server: RunningServer, tmp_path: Path
) -> None:
    outcomes = [each.result() for each in ran(links_of(server), tmp_path)]
    assert [outcome.ended.state for outcome in outcomes] == ["done"] * 3
    assert sorted(outcome.number for outcome in outcomes) == [1, 2, 3]
    skill = outcomes[0].skill
    assert skill is not None
    assert skill.argmax(axis=1).tolist() == [0, 1]  # all agree: each is right
    assert outcomes[0].as_json()["rounds"] == 3
    assert ledger_in(tmp_path / "0").entries() == ()  # exact sums promise nothing to be spent


def test_what_noise_keeps_is_booked_before_anything_leaves(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links, spent = links_of(server, **NOISED), []
    send = MemberClient.reply

    def reply(line: MemberClient, content: bytes) -> None:
        if b'"phase":"contribute"' in content and line.link.secret in links[0]:
            spent.append(ledger_in(tmp_path / "0").spent(Unit.WORKER).epsilon)
        send(line, content)

    monkeypatch.setattr(MemberClient, "reply", reply)
    [each.result() for each in ran(links, tmp_path)]
    assert spent == pytest.approx([8.0])  # epsilon 2 for each of 4 answers
    [entry] = ledger_in(tmp_path / "0").entries()
    assert (entry.answers, entry.requester.startswith(f"{server.url}/live/")) == (4, True)


def test_a_budget_that_does_not_cover_it_keeps_a_worker_out(
    server: RunningServer, tmp_path: Path
) -> None:
    link, *_ = links_of(server, **NOISED)
    with LiveWorker(link, ledger=ledger_in(tmp_path, 7.9)) as worker:
        with pytest.raises(BudgetExceeded):
            worker.run(ALL)
        assert server.requester.live.show(worker.offer.session)["joined"] == 0


def test_without_a_ledger_nobody_takes_part_in_noised_sums(server: RunningServer) -> None:
    link, *_ = links_of(server, **NOISED)
    with LiveWorker(link) as worker, pytest.raises(UsageError, match="a ledger is needed"):
        worker.check(ALL)


def test_a_session_that_is_over_cannot_be_joined(server: RunningServer) -> None:
    link, *_ = links_of(server)
    with LiveWorker(link) as worker:
        server.requester.live.stop(worker.offer.session)
    with LiveWorker(link) as late, pytest.raises(UsageError, match=": it is aborted"):
        late.check(ALL)


def test_a_link_works_once(server: RunningServer) -> None:
    link, *_ = links_of(server)
    with LiveWorker(link) as one, ThreadPoolExecutor(1) as pool:
        waiting, show = pool.submit(one.run, ALL), server.requester.live.show
        wait_until(lambda: show(one.offer.session)["joined"] == 1, "the first to join")
        with LiveWorker(link) as other, pytest.raises(Refused) as caught:
            other.run(ALL)
        server.requester.live.stop(one.offer.session)
        with pytest.raises(Refused):  # whoever waited is told
            waiting.result(30)
    assert caught.value.reason is Reason.INVITE_USED


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mode": "as_published"}, "other sums are opened"),
        ({"scale": 10**9}, "the scale or the number of rounds"),
    ],
)
def test_a_server_that_fixes_other_terms_than_it_offered_is_left(
    server: RunningServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, Any],
    words: str,
) -> None:
    fetch = MemberClient.terms

    def lying(line: MemberClient) -> Any:
        document = fetch(line)
        document["terms"]["purpose"] |= changes
        return document

    monkeypatch.setattr(MemberClient, "terms", lying)
    for failed in ran(links_of(server), tmp_path):
        with pytest.raises(SealedRefused, match=f"the server: .*{words}"):
            failed.result()


def test_terms_with_less_noise_than_was_offered_are_refused_and_nothing_is_spent(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noisy, weaker = links_of(server, **NOISED), links_of(server, **{**NOISED, "epsilon": 3.0})
    seen: list[Any] = []
    fetch = MemberClient.terms

    def noted(line: MemberClient) -> Any:
        document = fetch(line)
        seen.append(document["terms"]["purpose"])
        return document

    def lying(line: MemberClient) -> Any:
        document = fetch(line)
        document["terms"]["purpose"] = seen[0]
        return document

    monkeypatch.setattr(MemberClient, "terms", noted)
    [each.result() for each in ran(weaker, tmp_path)]
    monkeypatch.setattr(MemberClient, "terms", lying)
    (tmp_path / "noisy").mkdir()
    for failed in ran(noisy, tmp_path / "noisy"):
        with pytest.raises(SealedRefused, match="less noise than was offered"):
            failed.result()
    assert ledger_in(tmp_path / "noisy" / "0").entries() == ()
