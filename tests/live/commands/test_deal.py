"""`sottovoce sealed deal`: what a dealer could do is said, and only the named dealer deals."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sottovoce.keyholder import key_file
from sottovoce.keyholder.key_file import make_keys
from sottovoce.model import Keyholder
from sottovoce.testing import RunningServer, running_server

Run = Callable[..., subprocess.CompletedProcess[str]]

PASSPHRASE = "nine herons by the pond"  # noqa: S105 - it protects nothing
OTHER = Keyholder("Archive", "A" * 43, "B" * 42 + "A")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Keyholder:
    """The keys in the folder `keys`."""
    monkeypatch.setattr(key_file, "COST", {"n": 1 << 4, "r": 8, "p": 1})
    monkeypatch.setenv("SOTTOVOCE_PASSPHRASE", PASSPHRASE)
    return make_keys(tmp_path / "keys", "Library", PASSPHRASE)


def link_of(server: RunningServer, dealer: Keyholder) -> str:
    made = server.requester.live.create(
        "Leaves?", ("t0",), ("no", "yes"), workers=3, suite="damgard_jurik", mode="log_odds",
        dealer=dealer,
    )  # fmt: skip
    return str(made["dealer_link"])


def test_what_a_dealer_could_do_is_said_before_it_is_asked(
    server: RunningServer, call: Run, own: Keyholder
) -> None:
    done = call("sealed", "deal", link_of(server, own), "--folder", "keys")
    shown = " ".join(done.stdout.split("\n"))
    for said in (
        "Leaves?",
        "a key of 2,048 bits to up to 3 workers and the server",
        "YOUR POWER: anyone with the primes of the key can decrypt every contribution",
        "If you are the requester or a worker, do not deal.",
        "up to about 15 seconds",
    ):
        assert said in shown, said
    assert done.returncode == 2
    assert "no terminal to ask for confirmation: add --yes to deal" in done.stderr


def test_another_dealer_s_session_is_refused(
    server: RunningServer, call: Run, own: Keyholder
) -> None:
    done = call("sealed", "deal", link_of(server, OTHER), "--folder", "keys", "--yes")
    assert done.returncode == 2
    assert f"names another dealer, {OTHER.fingerprint}" in done.stderr
    assert own.fingerprint in done.stderr


def test_without_keys_the_way_to_make_some_is_said(server: RunningServer, call: Run) -> None:
    done = call("sealed", "deal", link_of(server, OTHER), "--folder", "none", "--yes")
    assert done.returncode == 2
    assert "sottovoce keyholder init" in done.stderr
