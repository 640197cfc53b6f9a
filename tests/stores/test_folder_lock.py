"""One process at a time in a data folder."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce.errors import UsageError
from sottovoce.stores.folder_lock import DataFolderBusy, folder_lock

HOLD = """
import sys
from sottovoce.stores.folder_lock import folder_lock
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
        with pytest.raises(DataFolderBusy, match=r"in use by a running server .*: stop it first"):
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
        pytest.raises(UsageError, match="cannot be made: Permission denied"),
        folder_lock(tmp_path / "new"),
    ):
        pass
