"""One process at a time in a data folder, or with a file."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sottovoce.errors import LedgerBusy, LedgerUnwritable, UsageError
from sottovoce.files.locks import DataFolderBusy, exclusive, folder_lock, open_locked

HOLD = """
import sys
from sottovoce.files.locks import folder_lock
with folder_lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_another_process_keeps_us_out_until_it_dies(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(DataFolderBusy, match=r"in use by a running server .*; stop it first"):
            with folder_lock(tmp_path):
                pass
        holder.kill()
    with folder_lock(tmp_path):
        pass


def test_the_same_process_is_kept_out_as_well(tmp_path: Path) -> None:
    with folder_lock(tmp_path), pytest.raises(DataFolderBusy), folder_lock(tmp_path):
        pass


def test_the_folder_is_made_for_its_owner_only(tmp_path: Path) -> None:
    with folder_lock(tmp_path / "a" / "b"):
        assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        pytest.raises(UsageError, match="file is a file: name a folder"),
        folder_lock(tmp_path / "file"),
    ):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        pytest.raises(UsageError, match="cannot be created: Permission denied"),
        folder_lock(tmp_path / "new"),
    ):
        pass


def test_a_file_that_is_held_is_said_to_block(tmp_path: Path) -> None:
    with open_locked(tmp_path / "lock"), pytest.raises(BlockingIOError):
        open_locked(tmp_path / "lock")
    with open_locked(tmp_path / "lock"):
        pass


def test_a_file_is_waited_for(tmp_path: Path) -> None:
    locked = open_locked(tmp_path / "lock")
    timer = threading.Timer(0.05, locked.__exit__)
    timer.start()
    with exclusive(tmp_path / "lock", 30.0):
        pass
    timer.join()


def test_waiting_ends_in_time(tmp_path: Path) -> None:
    began = time.monotonic()
    with open_locked(tmp_path / "lock"), pytest.raises(LedgerBusy, match=r"for 0\.05 seconds"):
        with exclusive(tmp_path / "lock", 0.05):
            pass
    assert 0.05 <= time.monotonic() - began < 10


@pytest.mark.parametrize("missing", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_refused_and_never_locked_softly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: int
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def refuse(_file: int, _operation: int) -> None:
        raise OSError(missing, os.strerror(missing))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(UsageError, match=r"cannot be locked \(.*\): use a folder on a local disk"):
        with folder_lock(tmp_path):
            pass
    with pytest.raises(LedgerUnwritable), exclusive(tmp_path / "lock", 1.0):
        pass
