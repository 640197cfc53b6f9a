"""The worker's routes over HTTP: what they say, and in which shape they refuse."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import httpx
import pytest
from tests.worker.hosted_campaign import COIN, Host, hosting

from sottovoce.model import State, Submission, pseudonym

RECEIPT = "svr_" + "R" * 43


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with hosting(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def http(host: Host) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{host.url}/api/v1", timeout=30) as client:
        yield client


def parts(link: str) -> tuple[str, dict[str, str]]:
    """The path of the campaign, and the headers of an invited worker."""
    id, invite = link.split("/c/")[1].split("#")
    headers = {"Authorization": f"Bearer {invite}", "Sottovoce-Receipt": RECEIPT}
    return f"/campaigns/{id}", headers


def own(receipt: str = RECEIPT) -> dict[str, str]:
    return {"Authorization": f"Bearer {receipt}"}


def reported(http: httpx.Client, link: str) -> str:
    """The identifier of a submission that the server has."""
    path, headers = parts(link)
    worker = pseudonym(path.split("/")[-1], RECEIPT)
    text = Submission(COIN.hash, worker, ("t1", "t3"), ("no", "yes")).text()
    id = secrets.token_hex(16)
    assert http.put(f"{path}/reports/{id}", content=text, headers=headers).status_code == 201
    return id


def test_an_offer_says_what_is_asked_and_promised(host: Host, http: httpx.Client) -> None:
    path, headers = parts(host.link(quota=7))
    offer = http.get(f"{path}/offer", headers=headers).json()
    assert offer == {
        "id": path.split("/")[-1], "state": "open", "title": "Leaves", "question": "Is it?",
        "unit": None, "policy": COIN.as_json(), "policy_hash": COIN.hash, "tasks": 5, "block": 5,
        "answers": 5, "quota_left": 7, "simulated": False, "published": False, "assignment": "hash",
    }  # fmt: skip


def test_a_block_names_the_worker_and_its_tasks(host: Host, http: httpx.Client) -> None:
    path, headers = parts(host.link())
    block = http.get(f"{path}/block", headers=headers).json()
    assert block["worker"] == pseudonym(path.split("/")[-1], RECEIPT)
    assert [task["task"] for task in block["tasks"]] == ["t0", "t1", "t2", "t3", "t4"]


def test_a_worker_sees_and_takes_back_its_reports(host: Host, http: httpx.Client) -> None:
    link = host.link()
    id, (path, _) = reported(http, link), parts(link)
    shown = http.get(f"{path}/reports", headers=own()).json()
    (submission,) = shown["submissions"]
    assert submission["report_id"] == id
    assert submission["reports"] == [
        {"task": "t1", "report": "no"},
        {"task": "t3", "report": "yes"},
    ]
    for _ in range(2):
        gone = http.delete(f"{path}/reports/{id}", headers=own())
        assert (gone.status_code, gone.content) == (204, b"")
    assert http.get(f"{path}/reports", headers=own()).json()["submissions"] == []


def test_after_the_closing_reports_stay(host: Host, http: httpx.Client) -> None:
    link = host.link()
    id, (path, headers) = reported(http, link), parts(link)
    host.change(link, state=State.CLOSED)
    assert http.get(f"{path}/offer", headers=headers).json()["state"] == "closed"
    refused = http.delete(f"{path}/reports/{id}", headers=own())
    assert (refused.status_code, refused.json()["reason"]) == (409, "not_open")
    assert http.get(f"{path}/block", headers=headers).status_code == 409


@pytest.mark.parametrize(
    ("method", "rest", "headers", "status", "reason"),
    [
        ("GET", "/offer", {}, 401, "no_credential"),
        ("GET", "/offer", {"Authorization": "Basic eDp5"}, 403, "bad_credential"),
        ("GET", "/offer", own("svi_" + "X" * 43), 403, "bad_credential"),
        ("GET", "/offer", own("svi_x"), 403, "bad_credential"),
        ("GET", "/block", own("svi_" + "X" * 43), 401, "no_credential"),
        ("GET", "/reports", {}, 401, "no_credential"),
        ("GET", "/reports", own("svk_" + "X" * 43), 403, "bad_credential"),
        ("DELETE", "/reports/" + "0" * 32, own(), 404, "not_found"),
        ("DELETE", "/reports/zz", own(), 422, "malformed"),
        ("DELETE", "/reports/" + "0" * 32, own("svr_x"), 403, "bad_credential"),
    ],
)
def test_a_refusal_has_the_one_shape(
    host: Host,
    http: httpx.Client,
    method: str,
    rest: str,
    headers: dict[str, str],
    status: int,
    reason: str,
) -> None:
    path, _ = parts(host.link())
    reply = http.request(method, path + rest, headers=headers)
    assert reply.headers["content-type"] == "application/problem+json"
    assert (reply.status_code, reply.json()["reason"]) == (status, reason)
    assert "X" * 43 not in reply.text


@pytest.mark.parametrize("rest", ["/offer", "/block", "/reports"])
def test_a_campaign_that_is_not_there_is_not_found(http: httpx.Client, rest: str) -> None:
    kind = "svr_" if rest == "/reports" else "svi_"
    headers = {**own(kind + "X" * 43), "Sottovoce-Receipt": RECEIPT}
    assert http.get(f"/campaigns/nothere{rest}", headers=headers).json()["reason"] == "not_found"
