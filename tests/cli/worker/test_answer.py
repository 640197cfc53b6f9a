"""`sottovoce answer`: consent first, one question after the other, and nothing by accident."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import completed
from tests.worker.hosted_campaign import COIN, DROP_REQUEST, OTHER, YES_NO, Host, hosting, line_to

from sottovoce.mechanisms.policies import Target, make_policy
from sottovoce.model import Domain, State, Terms, Unit
from sottovoce.worker.client import Client

Completed = subprocess.CompletedProcess[str]
Answer = Callable[..., Completed]

HIDING = make_policy(
    YES_NO, "null-randomized-response", Target(1.0, answers=5, hide_participation=True)
)
SAMPLED = make_policy(YES_NO, "randomized-response", Target(2.0, Unit.WORKER, answers=5, sample=2))
GRID = make_policy(Domain.numeric(0, 10, 0.5), "laplace", Target(2.0, answers=5))
SCALE = make_policy(Domain.ordinal([0, 1, 2]), "randomized-response", Target(1.0, answers=5))
NASTY = make_policy(
    Domain.categorical(["[bold]oak[/bold]", "\x1b]0;birch\x07"]),
    "randomized-response",
    Target(1.0, answers=5),
)
NOTHING = "Nothing was sent, and nothing was spent."


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with hosting(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "worker"


@pytest.fixture
def answer(
    home: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Answer:
    """The command in this process, with these lines typed."""

    def answer(*arguments: str, typed: str = "") -> Completed:
        monkeypatch.setenv("SOTTOVOCE_HOME", str(home))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys, "argv", ["sottovoce", "answer", *arguments])
        monkeypatch.setattr(
            sys, "stdin", io.StringIO(typed.replace(" ", "\n") + "\n" * bool(typed))
        )
        return completed(arguments, capfd)

    return answer


def test_a_worker_agrees_answers_and_sends(host: Host, answer: Answer) -> None:
    link = host.link()
    done = answer(link, typed="y 1 2 s 1 2 y")
    assert done.returncode == 0
    assert host.counts(link).reports == 4
    assert "Send 4 randomised reports? They are drawn now, only once." in done.stderr
    assert "your answer (stays here)" in done.stdout
    assert re.search(r"--erase [0-9a-f]{32}", done.stdout)


def test_consent_comes_first_and_says_everything(host: Host, answer: Answer) -> None:
    shown = answer(host.link(), typed="n").stdout
    for said in (
        "REQUESTER, in their own words",
        "│ Leaves",
        "│ Is it?",
        "Of 100 workers with the same answer 73 send it",
        "● ● ●",
        "about one answer: epsilon 1 per answer",
        "about all 5 answers together: epsilon 5 per worker",
        "remaining budget for all campaigns: epsilon 50 per worker",
        "TRUST",
        COIN.hash,
        NOTHING,
    ):
        assert said in shown, said


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (HIDING, "A skipped question looks like any other"),
        (SAMPLED, "answers are chosen at random, randomised and sent"),
        (COIN, "The server sees which questions you answer"),
    ],
)
def test_consent_says_what_is_special(
    host: Host, answer: Answer, policy: object, said: str
) -> None:
    assert said in answer(host.link(policy), typed="n").stdout  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("n", 0),
        ("y q", 0),
        ("y 1 1 1 1 1 n", 0),
        ("y s s s s s", 0),
        ("", 130),
        ("y 1 2", 130),
        ("y 1 1 1 1 1", 130),
    ],
    ids=["no consent", "quit", "no confirmation", "all skipped", "end", "end midway", "end late"],
)
def test_a_worker_who_stops_sends_and_spends_nothing(
    host: Host, answer: Answer, home: Path, typed: str, code: int
) -> None:
    link = host.link()
    done = answer(link, typed=typed)
    assert done.returncode == code
    assert NOTHING in done.stdout + done.stderr
    assert host.counts(link).submissions == 0
    with Client(link, folder=home) as client:
        assert (len(client.ledger), client.pending) == (0, ())


def test_one_may_go_back_and_choose_again(host: Host, answer: Answer) -> None:
    done = answer(host.link(), typed="y 1 b 2 1 1 1 1 y")
    assert len(re.findall(r"t[0-9] +yes", done.stdout)) == 1


def test_what_is_not_understood_is_asked_again(host: Host, answer: Answer) -> None:
    done = answer(host.link(), typed="y 3 0 oak 1 q")
    assert done.stdout.count("Invalid input: type 1 to 2.") == 3


def test_numbers_have_a_range_a_step_and_a_unit(host: Host, answer: Answer) -> None:
    link = host.link(GRID, unit="kg")
    done = answer(link, typed="y 11 nan 3.5 s s s s y")
    assert "a number from 0 to 10 kg in steps of 0.5" in done.stderr
    assert done.stdout.count("Invalid input") == 2
    assert re.search(r"t[0-9] +3.5", done.stdout)


def test_labels_that_are_numbers_are_typed_as_they_are(host: Host, answer: Answer) -> None:
    done = answer(host.link(SCALE), typed="y 0 3 2 s s s y")
    assert "one of 0, 1, 2" in done.stdout
    assert re.search(r"t[0-9] +0 ", done.stdout)
    assert re.search(r"t[0-9] +2 ", done.stdout)


def test_hidden_skipping_is_sent_too(host: Host, answer: Answer) -> None:
    link = host.link(HIDING)
    answer(link, typed="y s s s s s y")
    assert host.counts(link).reports == 5


def test_a_requesters_words_cannot_act_on_the_terminal(host: Host, answer: Answer) -> None:
    link = host.link(NASTY)
    shown = answer(link, typed="y 1 2 1 2 1 y")
    assert shown.returncode == 0
    assert "\x1b" not in shown.stdout + shown.stderr
    assert "\x07" not in shown.stdout + shown.stderr
    assert re.search(r"t[0-9] +\[bold\]oak\[/bold\]", shown.stdout)


def test_the_link_may_come_from_standard_input(host: Host, answer: Answer) -> None:
    link = host.link()
    assert answer("-", typed=f"{link} y 1 s s s s y").returncode == 0
    assert host.counts(link).reports == 1


def test_answers_come_from_a_table(host: Host, answer: Answer, tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("task,answer\nt1,yes\nt4,no\n")
    link = host.link()
    done = answer(link, "--answers", str(table), "--yes", "--json")
    told = json.loads(done.stdout)
    assert told["reports"] == 2
    assert told["guarantee"]["per_worker"]["epsilon"] == pytest.approx(2.0)
    assert told["budget_left"]["per_worker"]["epsilon"] == pytest.approx(48.0)
    assert host.counts(link).reports == 2


def test_nobody_is_taken_to_agree(host: Host, answer: Answer, tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("task,answer\nt1,yes\n")
    link = host.link()
    done = answer(link, "--answers", str(table), typed="y y")
    assert (done.returncode, "add --yes" in done.stderr) == (2, True)
    assert host.counts(link).submissions == 0


@pytest.mark.parametrize(
    "rows",
    ["t1,canary-7f3a", "t1,", "t1,yes\nt1,canary-7f3a", "t1,yes\nt1,no", "t9,yes", "t1", ""],
)
def test_a_bad_table_is_refused_without_quoting_it(
    host: Host, answer: Answer, tmp_path: Path, rows: str
) -> None:
    table = tmp_path / "answers.csv"
    table.write_text(f"task,answer\n{rows}\n")
    link = host.link()
    done = answer(link, "--answers", str(table), "--yes")
    assert done.returncode in (1, 2)
    assert done.stderr.startswith("sottovoce: ")
    assert "canary" not in done.stdout + done.stderr
    assert host.counts(link).submissions == 0


def test_an_answer_to_another_task_is_named_with_its_row(
    host: Host, answer: Answer, tmp_path: Path
) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("task,answer\nt1,yes\nleaf-9,no\n")
    done = answer(host.link(), "--answers", str(table), "--yes")
    assert done.returncode == 1
    assert done.stderr.endswith(
        "answers.csv, row 3: task 'leaf-9' is not one of your tasks in this campaign\n"
    )


def test_status_shows_what_the_server_has(host: Host, answer: Answer) -> None:
    link = host.link()
    answer(link, typed="y 1 s s s s y")
    assert re.search(r"t[0-9] +(no|yes)", answer(link, "--status").stdout)
    told = json.loads(answer(link, "--status", "--json").stdout)
    (submission,) = told["submissions"]
    assert len(submission["reports"]) == 1
    assert told["pending"] == []


def test_a_report_is_taken_back(host: Host, answer: Answer) -> None:
    link = host.link()
    answer(link, typed="y 1 s s s s y")
    id = json.loads(answer(link, "--status", "--json").stdout)["submissions"][0]["report_id"]
    assert "stays spent" in answer(link, "--erase", id).stdout
    assert "no reports from you" in answer(link, "--status").stdout


def test_what_did_not_arrive_is_sent_again(
    host: Host, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = host.link()
    monkeypatch.setattr("sottovoce.http_client.connection.RetryPolicy.before", lambda *_: 0.0)
    with line_to(host.url, *[DROP_REQUEST] * 5) as line:
        done = answer(line.through(link), typed="y 1 s s s s y")
        assert done.returncode == 1
        assert "--resume` sends them" in done.stderr
        assert "is not sent yet (booked)" in answer(line.through(link), "--status").stdout
        assert "The server has your 1 reports" in answer(line.through(link), "--resume").stdout
        assert "Nothing to send" in answer(line.through(link), "--resume").stdout
    assert len({submission.text() for submission in line.submissions()}) == 1
    assert host.counts(link).reports == 1


def test_a_second_round_asks_only_what_is_left(host: Host, answer: Answer) -> None:
    link = host.link()
    answer(link, typed="y 1 1 s s s y")
    assert "Question 1 of 3" in answer(link, typed="y q").stdout
    answer(link, typed="y 1 1 1 y")
    done = answer(link, typed="y")
    assert "already answered all your tasks" in done.stderr


def test_a_small_budget_asks_less(host: Host, answer: Answer) -> None:
    link = host.link()
    done = answer(link, "--budget", "2.5", typed="y 1 1 y")
    assert "Your budget covers 2 of 5 answers" in done.stdout
    assert host.counts(link).reports == 2
    assert "can only be raised" in answer(link, "--budget", "1", "--status").stderr
    assert "Question 1 of 3" in answer(link, "--budget", "9", typed="y q").stdout


def test_another_policy_is_refused(host: Host, answer: Answer) -> None:
    link = host.link()
    assert "promised policy" in answer(link, "--policy-hash", OTHER.hash, typed="y").stderr
    answer(link, typed="n")
    host.change(link, terms=Terms("Leaves", "Is it?", OTHER))
    done = answer(link, typed="y")
    assert (done.returncode, "now offers" in done.stderr, done.stdout) == (1, True, "")


def test_a_closed_campaign_is_said_to_be_closed(host: Host, answer: Answer) -> None:
    link = host.link()
    host.change(link, state=State.CLOSED)
    assert "the campaign is closed" in answer(link, typed="y").stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--status", "--resume"], "give only one of"),
        (["--yes"], "--yes needs --answers"),
        (["--erase", "nonsense"], "32 hexadecimal digits"),
        (["--budget", "much", "--status"], "--budget takes an epsilon"),
        (["--policy-hash", "ab", "--status"], "64 hexadecimal digits"),
    ],
)
def test_bad_usage_is_one_line(host: Host, answer: Answer, arguments: list[str], said: str) -> None:
    done = answer(host.link(), *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_error_shows_the_secret_of_a_link(answer: Answer) -> None:
    done = answer("https://answers.example/c/leaf0#svi_short-secret")
    assert done.returncode == 2
    assert "short-secret" not in done.stdout + done.stderr
