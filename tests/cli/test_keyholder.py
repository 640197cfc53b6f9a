"""`sottovoce keyholder`: keys once, consent first, and refusals that are heard."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.securesum.sealed_policies import sealed_policy
from tests.worker.hosted_campaign import YES_NO, Host, hosting

from sottovoce.keyholder import key_file
from sottovoce.keyholder.agreement import LOG, Agreement
from sottovoce.keyholder.key_file import make_keys
from sottovoce.mechanisms.policies import policy_of
from sottovoce.mechanisms.sealed_sum import Layout, SealedSum
from sottovoce.model import Policy, Promise, Unit
from sottovoce.model.keyholder import Keyholder
from sottovoce.securesum.committee.terms import committee_of
from sottovoce.server.sealed.keyholders import keyholder_links

Run = Callable[..., subprocess.CompletedProcess[str]]

PASSPHRASE = "nine herons by the pond"  # noqa: S105 - it protects nothing
STRANGERS = sealed_policy(YES_NO, Layout.VOTES, 2)


@pytest.fixture(autouse=True)
def passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_file, "COST", {"n": 1 << 4, "r": 8, "p": 1})
    monkeypatch.setenv("SOTTOVOCE_PASSPHRASE", PASSPHRASE)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with hosting(tmp_path_factory.mktemp("server")) as server:
        yield server


def policy_with(own: Keyholder) -> Policy:
    """A policy in which this keyholder has the first seat."""
    sealed = committee_of(STRANGERS)
    made = SealedSum(
        sealed.layout, sealed.size, sealed.hidden, sealed.epsilon, minimum=4,
        keyholders=(own, *sealed.keyholders[1:]), coordinator=sealed.coordinator,
    )  # fmt: skip
    return policy_of(made, YES_NO, Promise(Unit.ANSWER, 1.0, 0.0, 5))


def link_to(host: Host, policy: Policy, seat: int = 1) -> str:
    campaign = host.link(policy).split("/c/")[1].split("#")[0]
    return keyholder_links(host.service, campaign, public_url=host.url)[seat - 1].link


def test_keys_are_made_once_and_what_comes_next_is_said(call: Run, tmp_path: Path) -> None:
    arguments = ("keyholder", "init", "--name", "Library", "--folder", str(tmp_path / "k"))
    done = call(*arguments)
    card = Keyholder.parse_card((tmp_path / "k" / "card.json").read_text())
    assert done.returncode == 0
    assert card.fingerprint in done.stdout
    assert "sottovoce keyholder serve 'LINK'" in done.stdout
    again = call(*arguments)
    assert (again.returncode, again.stdout) == (2, "")
    assert "never replaced" in again.stderr


@pytest.mark.parametrize("given", ["", "short"])
def test_a_weak_passphrase_is_refused(
    call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("SOTTOVOCE_PASSPHRASE", given)
    done = call("keyholder", "init", "--name", "Library", "--folder", str(tmp_path / "k"))
    assert (done.returncode, "at least 8 characters" in done.stderr) == (2, True)
    assert not (tmp_path / "k").exists()


def test_a_passphrase_can_be_in_a_file(call: Run, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("another long passphrase\nnot this\n")
    made = call(
        "keyholder", "init", "--name", "Library", "--folder", str(tmp_path / "k"),
        "--passphrase-file", str(tmp_path / "secret"),
    )  # fmt: skip
    assert made.returncode == 0
    key_file.open_keys(tmp_path / "k", "another long passphrase")


def test_a_keyholder_sees_everything_before_it_takes_part(
    call: Run, host: Host, tmp_path: Path
) -> None:
    card = make_keys(tmp_path / "k", "Library", PASSPHRASE)
    policy = policy_with(card)
    done = call("keyholder", "serve", link_to(host, policy), "--folder", str(tmp_path / "k"))
    assert done.returncode == 2
    assert "add --yes to take part" in done.stderr
    assert Agreement.all(tmp_path / "k") == []
    for said in (
        policy.hash,
        "noised totals of 5 tasks, once",
        "4 contributions",
        "epsilon 1 per answer and epsilon 5 per worker",
        "at most 1 of 3 keyholders collude",
        f"1  {card.fingerprint}  Library   (you)",
        *(each.fingerprint for each in committee_of(policy).keyholders),
    ):
        assert said in done.stdout, said


def test_one_round_deals_and_status_tells(call: Run, host: Host, tmp_path: Path) -> None:
    policy = policy_with(make_keys(tmp_path / "k", "Library", PASSPHRASE))
    folder = ("--folder", str(tmp_path / "k"))
    done = call("keyholder", "serve", link_to(host, policy), *folder, "--yes", "--once")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.rstrip().endswith(": noise dealt")
    told = json.loads(call("keyholder", "status", *folder, "--json").stdout)
    [campaign] = told["campaigns"]
    assert [fact["fact"] for fact in campaign["facts"]] == ["joined", "dealt"]
    assert (campaign["seat"], campaign["policy_hash"]) == (1, policy.hash)
    shown = call("keyholder", "status", *folder)
    assert (shown.returncode, "opened     not yet" in shown.stdout) == (0, True)


def test_several_campaigns_are_served_at_once(call: Run, host: Host, tmp_path: Path) -> None:
    policy = policy_with(make_keys(tmp_path / "k", "Library", PASSPHRASE))
    links = [link_to(host, policy) for _ in range(2)]
    done = call(
        "keyholder", "serve", *links, "--folder", str(tmp_path / "k"), "--yes", "--once"
    )  # fmt: skip
    assert (done.returncode, done.stdout.count(": noise dealt")) == (0, 2)
    assert len(Agreement.all(tmp_path / "k")) == 2


def test_a_damaged_log_is_told_and_stops_everything(call: Run, host: Host, tmp_path: Path) -> None:
    policy = policy_with(make_keys(tmp_path / "k", "Library", PASSPHRASE))
    link, folder = link_to(host, policy), ("--folder", str(tmp_path / "k"))
    call("keyholder", "serve", link, *folder, "--yes", "--once")
    [campaign] = Agreement.all(tmp_path / "k")
    log = campaign / LOG
    log.write_bytes(log.read_bytes().replace(b"dealt", b"delta"))
    for command in (("status",), ("serve", link, "--once")):
        done = call("keyholder", *command, *folder)
        assert done.returncode == 1
        assert "must not continue" in done.stdout + done.stderr


def test_a_policy_that_names_others_is_refused(call: Run, host: Host, tmp_path: Path) -> None:
    make_keys(tmp_path / "k", "Library", PASSPHRASE)
    done = call(
        "keyholder", "serve", link_to(host, STRANGERS), "--folder", str(tmp_path / "k"), "--yes"
    )
    assert (done.returncode, "does not name your keys" in done.stderr) == (2, True)


def test_the_link_of_another_seat_is_refused_loudly(call: Run, host: Host, tmp_path: Path) -> None:
    policy = policy_with(make_keys(tmp_path / "k", "Library", PASSPHRASE))
    done = call(
        "keyholder", "serve", link_to(host, policy, 2), "--folder", str(tmp_path / "k"), "--yes"
    )
    assert (done.returncode, "the policy says 1" in done.stderr) == (1, True)


def test_another_passphrase_opens_nothing(
    call: Run, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = policy_with(make_keys(tmp_path / "k", "Library", PASSPHRASE))
    monkeypatch.setenv("SOTTOVOCE_PASSPHRASE", "ten herons by the pond")
    done = call(
        "keyholder", "serve", link_to(host, policy), "--folder", str(tmp_path / "k"), "--yes"
    )
    assert (done.returncode, "the passphrase is wrong" in done.stderr) == (2, True)
