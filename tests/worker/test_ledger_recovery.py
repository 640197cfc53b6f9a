"""The ledger survives kill -9, concurrent use, torn writes and a full disk; real processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

from sottovoce.errors import LedgerBusy, LedgerDamaged, LedgerError, LedgerUnwritable
from sottovoce.files.hash_chained_log import locked
from sottovoce.model import Unit
from sottovoce.worker import Budget, Ledger

from .conftest import Open, Spend

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")
posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs the rights of POSIX files")


def run(name: str, path: Path, **arguments: object) -> Any:
    """The result of a function of `crash_program.py`, run in a separate process."""
    program = Path(__file__).with_name("crash_program.py")
    done = subprocess.run(
        [sys.executable, str(program), json.dumps({"run": name, "path": str(path), **arguments})],
        capture_output=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
        timeout=120,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return json.loads(done.stdout)


@forks
def test_a_killed_process_loses_no_acknowledged_spend(path: Path) -> None:
    rounds = run("killed_at_random", path, rounds=20)
    assert len(rounds) == 20
    for seen in rounds:
        assert seen["acknowledged"] <= seen["booked"] <= seen["acknowledged"] + 1
        assert seen["spent"] == pytest.approx(seen["entries"], abs=1e-5 * seen["entries"])
    assert sum(seen["acknowledged"] for seen in rounds) > 0


@forks
@pytest.mark.parametrize(
    ("call", "number", "fraction", "booked", "torn"),
    [
        ("write", 1, 0.0, 1, 0),  # before the line is written
        ("write", 1, 0.5, 1, 1),  # in the middle of the line
        ("write", 1, 1.0, 2, 0),  # after it
        ("fsync", 1, 1.0, 2, 0),  # when the line is on the disk
        ("write", 2, 0.0, 2, 0),  # before the head is written
        ("write", 2, 0.5, 2, 0),  # in the middle of the head
        ("fsync", 2, 0.0, 2, 0),  # after it
    ],
)
def test_a_death_within_any_write_leaves_a_ledger_that_goes_on(
    path: Path, call: str, number: int, fraction: float, booked: int, torn: int
) -> None:
    seen = run("killed_within", path, call=call, number=number, fraction=fraction)
    assert seen == {"killed": True, "booked": booked, "torn": torn, "then": booked + 1}


@forks
def test_processes_at_the_same_time_lose_nothing_and_stay_within_the_budget(path: Path) -> None:
    seen = run("race", path, processes=8, tries=12, epsilon=50.5)
    assert seen["acknowledged"] == seen["booked"] == 50
    assert seen["spent"] <= 50.5
    assert seen["torn"] == 0


@forks
def test_a_full_disk_spends_nothing(path: Path) -> None:
    seen = run("full_disk", path)
    assert "cannot read or write the ledger here" in seen["said"]
    assert (seen["grown"], seen["entries"], seen["torn"]) == (0, 2, 0)


def test_threads_take_turns(opened: Open, spend: Spend) -> None:
    ledger = opened(Budget(worker_epsilon=20))
    threads = [
        threading.Thread(target=lambda i=i: ledger.spend(spend([f"t{i}"]))) for i in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ledger), ledger.left(Unit.WORKER)) == (20, (0, 0))


def test_a_line_cut_anywhere_by_a_crash_is_taken_off(
    opened: Open, path: Path, spend: Spend
) -> None:
    ledger, head = opened(), Path(f"{path}.head")
    ledger.spend(spend(["t1"]))
    whole, acknowledged = path.read_bytes(), head.read_bytes()
    ledger.spend(spend(["t2"]))
    line = path.read_bytes()[len(whole) :]
    for length in {*range(1, len(line), 9), len(line) - 1}:
        path.write_bytes(whole + line[:length])
        head.write_bytes(acknowledged)
        again = opened()
        assert (again.torn, len(again), path.read_bytes()) == (1, 1, whole)


def test_a_first_line_cut_by_a_crash_is_written_again(opened: Open, path: Path) -> None:
    path.write_bytes(b'{"budget":{"answer_eps')
    ledger = opened()
    assert (ledger.torn, len(ledger)) == (1, 0)


@pytest.mark.parametrize("line", [1, 2, 3])
def test_any_changed_byte_names_its_line(opened: Open, path: Path, spend: Spend, line: int) -> None:
    ledger = opened()
    ledger.spend(spend(["t1"]))
    ledger.spend(spend(["t2"]))
    lines = path.read_bytes().splitlines(keepends=True)
    for place in range(0, len(lines[line - 1]) - 1, 7):
        damaged = bytearray(lines[line - 1])
        damaged[place] ^= 1
        path.write_bytes(b"".join([*lines[: line - 1], bytes(damaged), *lines[line:]]))
        with pytest.raises(LedgerDamaged, match=f"line {line}: this line was changed") as caught:
            opened()
        assert caught.value.line == line


@pytest.mark.parametrize("missing", [1, 2])
def test_a_line_taken_out_is_noticed(opened: Open, path: Path, spend: Spend, missing: int) -> None:
    ledger = opened()
    ledger.spend(spend(["t1"]))
    ledger.spend(spend(["t2"]))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[: missing - 1] + lines[missing:]))
    with pytest.raises(LedgerDamaged, match=f"line {missing}: "):
        ledger.spend(spend(["t3"]))


def test_a_ledger_that_lost_its_end_is_refused_and_left_alone(
    opened: Open, path: Path, spend: Spend
) -> None:
    ledger = opened()
    ledger.spend(spend(["t1"]))
    ledger.spend(spend(["t2"]))
    content = path.read_bytes()
    for length in [0, 10, content.index(b"\n") + 1, len(content) - 1, len(content) // 2]:
        path.write_bytes(content[:length])
        with pytest.raises(LedgerDamaged, match="lines up to 3 were written but are missing"):
            opened()
        assert path.read_bytes() == content[:length]


def test_a_removed_ledger_is_not_started_again(opened: Open, path: Path, spend: Spend) -> None:
    ledger = opened()
    ledger.spend(spend(["t1"]))
    path.unlink()
    with pytest.raises(LedgerDamaged, match="line 1: lines up to 2 were written"):
        opened()
    with pytest.raises(LedgerDamaged, match="line 1: lines up to 2 were written"):
        ledger.spend(spend(["t2"]))


def test_an_older_ledger_grown_in_another_way_is_refused(
    opened: Open, path: Path, spend: Spend
) -> None:
    ledger, head = opened(), Path(f"{path}.head")
    ledger.spend(spend(["t1"]))
    older, older_head = path.read_bytes(), head.read_bytes()
    ledger.spend(spend(["t2"]))
    newer_head = head.read_bytes()
    path.write_bytes(older)
    head.write_bytes(older_head)
    ledger.spend(spend(["t3"]))
    head.write_bytes(newer_head)
    with pytest.raises(LedgerDamaged, match="line 3: a different line was written here"):
        opened()


def test_a_ledger_brought_without_its_head_goes_on(opened: Open, path: Path, spend: Spend) -> None:
    opened().spend(spend(["t1"]))
    Path(f"{path}.head").unlink()
    ledger = opened()
    ledger.spend(spend(["t2"]))
    assert len(opened()) == 2


def test_a_file_of_something_else_is_refused_and_left_alone(opened: Open, path: Path) -> None:
    path.write_bytes(b"worker,task,answer\nada,t1,yes\n")
    with pytest.raises(LedgerDamaged, match="line 1"):
        opened()
    assert path.read_bytes() == b"worker,task,answer\nada,t1,yes\n"


def test_a_ledger_held_by_another_is_waited_for_and_then_given_up(opened: Open, path: Path) -> None:
    opened()
    with locked(str(path), 1.0), pytest.raises(LedgerBusy, match=r"for 0\.05 seconds") as caught:
        opened(timeout=0.05)
    assert isinstance(caught.value, LedgerError)


def test_a_folder_that_is_not_there_is_a_clean_error(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnwritable, match="No such file or directory"):
        Ledger(tmp_path / "nowhere" / "ledger.jsonl", Budget(worker_epsilon=1))


@posix
def test_a_read_only_ledger_is_a_clean_error_and_spends_nothing(spend: Spend) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.jsonl"
        ledger = Ledger(path, Budget(worker_epsilon=5))
        before = path.read_bytes()
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        was = os.geteuid()
        if was == 0:
            os.seteuid(65534)  # nothing is read-only to the superuser
        try:
            with pytest.raises(LedgerUnwritable, match="Permission denied"):
                ledger.spend(spend())
        finally:
            os.seteuid(was)
            Path(folder).chmod(0o755)
        assert path.read_bytes() == before
