"""Tasks by need, through a real server with inference, and devices with the default budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pytest

from sottovoce import Domain, Target
from sottovoce.errors import Refused
from sottovoce.model import Unit
from sottovoce.model.budget import Budget
from sottovoce.requester.client import Requester
from sottovoce.requester.views import CampaignView
from sottovoce.worker.client import Client

LABELS = Domain.categorical(["no", "yes"])
TASKS = [f"t{number:02}" for number in range(100)]

Device: TypeAlias = Callable[..., Client]
How: TypeAlias = Literal["need", "hash"] | None


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Device]:
    """Opens the client of the worker with this name, on its own device."""
    clients: list[Client] = []

    def opened(link: str, name: str, budget: Budget | None = None) -> Client:
        clients.append(Client(link, folder=tmp_path / name, budget=budget, allow_http=True))
        return clients[-1]

    yield opened
    for client in clients:
        client.close()


def drafted(requester: Requester, target: Target, assignment: How = None) -> CampaignView:
    """A campaign on 100 tasks with two labels."""
    tasks = [{"task": task} for task in TASKS]
    return requester.create("Is it?", tasks, domain=LABELS, target=target, assignment=assignment)


def campaign(requester: Requester, answers: int = 100, assignment: How = None) -> tuple[str, str]:
    """The identifier of an open campaign with default privacy, and a link."""
    id = drafted(requester, Target(2.0, answers=answers), assignment)["id"]
    requester.open(id)
    return id, requester.invite(id)[0]


def test_devices_with_the_default_budget_reach_every_task_evenly(
    requester: Requester, device: Device
) -> None:
    id, link = campaign(requester)
    truths, rng = dict(zip(TASKS, np.arange(100) % 2, strict=True)), np.random.default_rng(3)
    reports: Counter[str] = Counter()
    for number in range(40):
        client = device(link, f"w{number}")
        chosen = client.affordable()
        right = rng.random(len(chosen)) < 0.85
        given = {
            task: LABELS.labels[truths[task] if fine else 1 - truths[task]]
            for task, fine in zip(chosen, right, strict=True)
        }
        reports.update(client.send(given).reports.keys())
        if number == 11:
            assert set(reports) == set(TASKS)
    assert sum(reports.values()) == pytest.approx(1000, abs=50)
    assert max(reports.values()) <= 1.5 * min(reports[task] for task in TASKS)
    assert requester.campaign(id)["cut_short"] == 40


def test_a_second_campaign_says_first_what_it_can_afford_and_the_requester_counts_it(
    requester: Requester, device: Device
) -> None:
    first, second = campaign(requester, answers=10), campaign(requester)
    client = device(first[1], "device")
    assert len(client.affordable()) == len(client.remaining) == 10
    client.send(dict.fromkeys(client.affordable(), "yes"))
    later = device(second[1], "device")
    covered = int(later.ledger.left(Unit.WORKER).epsilon / 2)
    assert len(later.remaining) == 100
    assert len(later.affordable()) == covered == 15
    later.send(dict.fromkeys(later.affordable(), "yes"))
    assert requester.campaign(first[0])["cut_short"] == 0
    assert requester.campaign(second[0])["cut_short"] == 1


def test_a_device_says_once_that_it_was_cut_short(requester: Requester, device: Device) -> None:
    id, link = campaign(requester)
    client = device(link, "w")
    for task in client.affordable()[:3]:
        client.send({task: "yes"})
    assert requester.campaign(id)["cut_short"] == 1


@pytest.mark.parametrize(
    "target",
    [
        Target(2.0, Unit.WORKER, answers=5, hide_participation=True),
        Target(2.0, Unit.WORKER, answers=5, sample=2),
    ],
    ids=["hidden participation", "a sample"],
)
def test_answers_that_go_out_together_have_tasks_by_a_hash_and_no_needs(
    requester: Requester, device: Device, target: Target
) -> None:
    made = drafted(requester, target)
    assert made["assignment"] == "hash"
    with pytest.raises(Refused, match="takes all answers of a worker at once"):
        drafted(requester, target, "need")
    requester.open(made["id"])
    client = device(requester.invite(made["id"])[0], "w", Budget(worker_epsilon=1))
    assert all(task.need is None for task in client.offer.tasks)
    assert client.affordable() == ()


def test_the_switch_leaves_tasks_to_the_hash(requester: Requester, device: Device) -> None:
    id, link = campaign(requester, assignment="hash")
    client = device(link, "w")
    assert requester.campaign(id)["assignment"] == "hash"
    assert all(task.need is None for task in client.offer.tasks)
    other = device(link, "v")
    assert len(set(client.affordable()) & set(other.affordable())) < 20  # 25 of 100, at random


def cover(link: str, device: Device) -> set[str]:
    """Let four devices answer 20 tasks each; the tasks."""
    sent: set[str] = set()
    for number in range(4):
        client = device(link, f"other{number}")
        sent |= client.send(dict.fromkeys(client.affordable(), "yes")).reports.keys()
    return sent


def test_tasks_and_their_order_are_the_same_after_a_restart(
    requester: Requester, device: Device
) -> None:
    link = campaign(requester, answers=20)[1]
    before = device(link, "w").affordable()
    covered = cover(link, device)
    assert set(device(link, "new").affordable()) == set(TASKS) - covered
    assert device(link, "w").affordable() == before


def test_a_worker_that_returns_gets_what_is_needed_now_next_to_its_reports(
    requester: Requester, device: Device
) -> None:
    link = campaign(requester, answers=20)[1]
    client = device(link, "w")
    sent = client.affordable()[:5]
    client.send(dict.fromkeys(sent, "yes"))
    covered = cover(link, device)
    again = device(link, "w")
    assert set(again.remaining) == set(TASKS) - covered - set(sent)
    assert set(again.offer.names) == set(again.remaining) | set(sent)
