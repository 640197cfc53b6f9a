"""`sottovoce answer` and `weigh` in a sealed campaign."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.securesum.sealed_policies import sealed_policy
from tests.worker.hosted_campaign import YES_NO, Host, hosting

from sottovoce.cli.worker.consent import consent_lines
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.securesum.committee.terms import committee_of
from sottovoce.worker.client import Client

Run = Callable[..., subprocess.CompletedProcess[str]]

POLICY = sealed_policy(YES_NO, Layout.VOTES, 2, minimum=7)
HIDDEN = sealed_policy(YES_NO, Layout.VOTES, 2, hidden=True)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with hosting(tmp_path_factory.mktemp("server")) as server:
        yield server


def consent(link: str, folder: Path) -> str:
    with Client(link, folder=folder) as client:
        return "\n".join(consent_lines(client.offer, client.preview(5)))


def test_consent_says_what_is_sealed_and_for_whom(host: Host, tmp_path: Path) -> None:
    shown = consent(host.link(POLICY), tmp_path)
    for said in (
        "split into pieces and sealed here",
        "Each of 3 keyholders can open one piece, which reveals nothing. To read an answer, 2 of "
        "them would have to collude.",
        "the total of at least 7 workers' answers",
        "with their noise added",
        "The server sees which questions you answer",
        "about one answer: epsilon 1 per answer",
        "about all 5 answers together: epsilon 5 per worker",
        *(each.fingerprint for each in committee_of(POLICY).keyholders),
        "Bibliothèque",
        POLICY.hash,
    ):
        assert said in shown, said
    assert "randomised" not in shown


def test_consent_says_that_skipping_is_hidden(host: Host, tmp_path: Path) -> None:
    assert "a sealed value is sent for it" in consent(host.link(HIDDEN), tmp_path)


def test_answers_from_a_table_are_sealed_and_shown_nowhere(
    host: Host, call: Run, tmp_path: Path
) -> None:
    (tmp_path / "answers.csv").write_text("task,answer\nt0,yes\nt1,no\n")
    link, home = host.link(POLICY), ("--folder", str(tmp_path / "worker"))
    done = call("answer", link, "--answers", "answers.csv", "--yes", *home)
    assert done.returncode == 0
    assert "SENT: 2 sealed answers in " in done.stdout
    assert "Your answers to 2 questions are sealed and sent." in done.stdout
    assert host.counts(link).reports == 2
    status = call("answer", link, "--status", *home).stdout
    assert status.count("sealed") == 2


def test_weighing_before_truths_are_published_says_so(
    host: Host, call: Run, tmp_path: Path
) -> None:
    (tmp_path / "answers.csv").write_text("task,answer\nt0,yes\n")
    home = ("--folder", str(tmp_path / "worker"))
    done = call("weigh", host.link(POLICY), "--answers", "answers.csv", *home)
    assert done.returncode == 1
    assert "publish" in done.stderr
