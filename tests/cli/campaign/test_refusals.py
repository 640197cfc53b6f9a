"""What `sottovoce campaign` says when something is wrong: one line, and what to do."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import copytree

import pytest

from sottovoce.testing import RunningServer, running_server

Run = Callable[..., "subprocess.CompletedProcess[str]"]

TREES = ("create", "tasks.csv", "--question", "Which tree?")
LABELS = ("--labels", "oak,birch")
EPSILON = ("--epsilon", "1")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server() as running:
        yield running


@pytest.fixture
def alone(call: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`sottovoce campaign …` by someone who is logged in nowhere."""
    monkeypatch.setenv("SOTTOVOCE_HOME", str(tmp_path / "home"))
    for name in ("SOTTOVOCE_URL", "SOTTOVOCE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "tasks.csv").write_text("task,text\nt1,Is it?\nt2,Was it?\n")

    def alone(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        done = call("campaign", *arguments)
        assert "Traceback" not in done.stderr
        return done

    return alone


@pytest.fixture(scope="module")
def empty() -> Iterator[RunningServer]:
    """Another server, without any campaign."""
    with running_server() as running:
        yield running


@pytest.fixture(scope="module")
def idle(server: RunningServer) -> str:
    """A campaign that nobody answers or changes."""
    id, _ = server.campaign(tasks=2)
    return id


@pytest.fixture(scope="module")
def logged_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logged-in") / "home"


@pytest.fixture
def campaign(alone: Run, server: RunningServer, logged_in: Path, tmp_path: Path) -> Run:
    """The same by someone who is logged in: the first test logs in, others copy its folder."""
    if logged_in.exists():
        copytree(logged_in, tmp_path / "home")
        return alone
    assert alone("login", server.url, "--token", stdin=server.token).returncode == 0
    copytree(tmp_path / "home", logged_in)
    return alone


def said(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    """The exit code and the one line; nothing is on standard output."""
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.returncode, done.stderr.removeprefix("sottovoce: ").removesuffix("\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give --epsilon"),
        ([*EPSILON], "give one of --labels a,b,c, --scale 1,2,3 and --range LOW HIGH"),
        ([*EPSILON, *LABELS, "--scale", "1,2"], "give only one of --labels"),
        ([*EPSILON, "--labels", "oak"], "--labels takes at least two labels"),
        ([*EPSILON, "--scale", "1,,2"], "--scale takes at least two labels"),
        ([*EPSILON, *LABELS, "--step", "1"], "--step is for numbers"),
        ([*EPSILON, *LABELS, "--number-unit", "kg"], "a unit is for numbers"),
        ([*EPSILON, "--range", "5", "1"], "1"),
        (["--epsilon", "-1", *LABELS], "--epsilon takes a number above 0, not '-1'"),
        (["--epsilon", "two", *LABELS], "--epsilon takes a number above 0, not 'two'"),
        ([*EPSILON, *LABELS, "--delta", "2"], "delta must be at least 0 and below 1"),
        ([*EPSILON, *LABELS, "--answers-per-worker", "0"], "answers must be from 1"),
        ([*EPSILON, *LABELS, "--sample", "few"], "--sample takes auto, all or a number"),
        ([*EPSILON, *LABELS, "--mechanism", "piecewise"], "piecewise takes"),
        ([*EPSILON, *LABELS, "--mechanism", "magic"], "magic"),
        ([*EPSILON, *LABELS, "--set", "wild=1"], "no parameter 'wild'"),
        ([*EPSILON, *LABELS, "--quota", "0"], "quota"),
        ([*EPSILON, *LABELS, "--closes-on", "31.12.2031"], "--closes-on takes a date such as"),
        ([*EPSILON, "--policy", "p.json"], "the policy already fixes this: drop --epsilon"),
        (["--policy", "p.json", "--show-draw", "after_send"], "fixes this: drop --show-draw"),
        ([*EPSILON, *LABELS, "--title", "x" * 300], "title"),
    ],
)
def test_terms_that_make_no_sense_are_bad_usage(
    campaign: Run, arguments: list[str], words: str
) -> None:
    code, line = said(campaign(*TREES, *arguments))
    assert code == 2
    assert words in line


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("task,text\nt1,Is it?\nt1,Was it?\n", "tasks.csv, row 3, column 'task': task 't1'"),
        ("text\nIs it?\n", "there is no column task"),
        ("task,image\nt1,ftp://x\n", "tasks.csv, row 2, column 'image'"),
        ("task\n", "has no tasks"),
    ],
)
def test_a_fault_in_the_tasks_is_said_with_its_place(
    campaign: Run, tmp_path: Path, content: str, words: str
) -> None:
    (tmp_path / "tasks.csv").write_text(content)
    code, line = said(campaign(*TREES, *LABELS, *EPSILON))
    assert code == 1
    assert words in line


def test_tasks_that_are_not_there_are_said(campaign: Run) -> None:
    code, line = said(campaign("create", "no.csv", "--question", "?", *LABELS, *EPSILON))
    assert (code, line) == (1, "no.csv: there is no such file")


def test_a_mistyped_campaign_is_said_with_the_one_that_is_near(
    campaign: Run, server: RunningServer
) -> None:
    id, _ = server.campaign(tasks=2)
    code, line = said(campaign("status", id[:-1] + "9"))
    assert (code, line) == (2, f"there is no campaign '{id[:-1]}9': did you mean '{id}'?")
    code, line = said(campaign("open", "../x"))
    assert f"there is no campaign '../x'; there are {id}" in line


def test_without_any_campaign_that_is_said(alone: Run, empty: RunningServer) -> None:
    alone("login", empty.url, "--token", stdin=empty.token)
    code, line = said(alone("close", "leaf0"))
    assert (code, "create one with sottovoce campaign create" in line) == (2, True)


def test_a_token_that_was_revoked_says_how_to_log_in_again(
    alone: Run, server: RunningServer
) -> None:
    made = server.requester.make_token("short")
    alone("login", server.url, "--token", stdin=made["token"])
    server.requester.revoke_token(made["id"])
    code, line = said(alone("list"))
    assert code == 1
    assert "does not accept your token: log in again with `sottovoce campaign login`" in line


def test_a_wrong_token_in_the_environment_is_named(
    alone: Run, server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOTTOVOCE_URL", server.url)
    monkeypatch.setenv("SOTTOVOCE_TOKEN", "svk_" + "A" * 43)
    assert "SOTTOVOCE_TOKEN is not valid there" in said(alone("list"))[1]


def test_a_wrong_token_is_not_kept(alone: Run, server: RunningServer) -> None:
    code, line = said(alone("login", server.url, "--token", stdin="svk_" + "A" * 43 + "\n"))
    assert (code, line) == (1, "this token is unknown or was revoked")
    assert "not logged in" in said(alone("list"))[1]


def test_what_is_no_token_is_not_quoted(alone: Run, server: RunningServer) -> None:
    code, line = said(alone("login", server.url, "--token", stdin="my password\n"))
    assert (code, "password" in line) == (2, False)


@pytest.mark.parametrize("link", ["http://127.0.0.1:8000/setup", "http://127.0.0.1:8000/#sva_x"])
def test_a_link_without_its_secret_is_refused(alone: Run, link: str) -> None:
    code, line = said(alone("login", link))
    assert (code, "not the link that `sottovoce serve` prints" in line) == (2, True)


def test_a_server_that_does_not_run_is_said(alone: Run) -> None:
    code, line = said(alone("login", "http://127.0.0.1:1/setup#sva_" + "A" * 43))
    assert code == 1
    assert "http://127.0.0.1:1 does not answer (no connection: check that it is running" in line


def test_plain_http_to_another_machine_is_refused(alone: Run) -> None:
    code, line = said(alone("login", "http://answers.example/setup#sva_" + "A" * 43))
    assert (code, "--allow-http" in line) == (2, True)


def test_a_server_option_with_a_link_is_refused(alone: Run) -> None:
    code, line = said(alone("--server", "https://x.example", "login", "https://y.example"))
    assert (code, "drop --server" in line) == (2, True)


def test_one_logs_in_to_a_known_server_again_by_its_address(
    campaign: Run, server: RunningServer, empty: RunningServer
) -> None:
    campaign("login", empty.url, "--token", stdin=empty.token)
    assert server.url in campaign("login", server.url).stderr
    assert campaign("--server", empty.url, "list").returncode == 0
    code, line = said(campaign("login", "https://unknown.example"))
    assert (code, "not logged in to https://unknown.example" in line) == (2, True)


def test_logging_out_needs_a_login(campaign: Run) -> None:
    assert campaign("logout").returncode == 0
    assert said(campaign("logout")) == (2, "you are not logged in to any server")


def test_deleting_asks_and_without_anybody_there_deletes_nothing(
    campaign: Run, server: RunningServer, idle: str
) -> None:
    code, line = said(campaign("delete", idle))
    assert (code, "add --yes" in line) == (2, True)
    assert server.requester.campaign(idle)["id"] == idle


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--expires-on", "tomorrow"], 2, "--expires-on takes a date such as"),
        (["--expires-on", "2020-01-01"], 2, "would never work; choose a later day"),
        (["--single", "0"], 2, "at least 1, not 0"),
        (["--revoke", "--single", "3"], 2, "--revoke does not create links"),
        (["-o", "tasks.csv"], 2, "tasks.csv exists"),
        (["-o", "no/links.csv"], 2, "no is not a folder"),
    ],
)
def test_links_that_cannot_be_made_are_refused(
    campaign: Run, server: RunningServer, idle: str, options: list[str], code: int, words: str
) -> None:
    before = server.requester.invites(idle)
    ended, line = said(campaign("invite", idle, *options))
    assert (ended, words in line) == (code, True)
    assert server.requester.invites(idle) == before


def test_a_closed_campaign_is_neither_opened_nor_answered(
    campaign: Run, server: RunningServer
) -> None:
    id, _ = server.campaign(tasks=2)
    server.requester.close(id)
    assert said(campaign("open", id))[0] == 1
    assert "nobody can be invited" in said(campaign("invite", id))[1]


def test_results_before_any_report_are_said_and_nothing_is_written(
    campaign: Run, idle: str, tmp_path: Path
) -> None:
    assert said(campaign("results", idle)) == (0, "no truths yet: no report has arrived")
    code, line = said(campaign("results", idle, "-o", "truths.csv"))
    assert (code, "no truths yet" in line) == (1, True)
    assert not (tmp_path / "truths.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give the NAME of an export"),
        (["truth.csv"], "did you mean truths.csv?"),
        (["-o", "x.xlsx"], "there is no export 'reports.xlsx'"),
        (["../../x.csv"], "there is no export"),
        (["tasks.csv"], "tasks.csv exists"),
    ],
)
def test_an_export_that_is_none_is_refused(
    campaign: Run, idle: str, arguments: list[str], words: str
) -> None:
    code, line = said(campaign("export", idle, *arguments))
    assert (code, words in line) == (2, True)


def test_two_outputs_need_two_files(campaign: Run, idle: str) -> None:
    code, line = said(campaign("results", idle, "-o", "x.csv", "--weights", "./x.csv"))
    assert (code, line) == (2, "two outputs have the same name: choose different files")


def test_webhooks_and_tokens_that_are_not_there_are_said(campaign: Run, idle: str) -> None:
    assert said(campaign("webhook", "remove", idle, "0" * 16))[0] == 1
    assert said(campaign("webhook", "add", idle, "ftp://example.org"))[0] == 2
    assert said(campaign("token", "revoke", "0" * 16)) == (1, "the token does not exist")
    assert said(campaign("token", "revoke", "nonsense"))[0] == 2


def test_revoking_ones_own_token_says_so(alone: Run, server: RunningServer) -> None:
    made = server.requester.make_token("own")
    alone("login", server.url, "--token", stdin=made["token"])
    assert "This was your own token" in alone("token", "revoke", made["id"]).stderr
