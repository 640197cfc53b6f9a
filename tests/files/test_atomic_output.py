"""Files and folders appear whole or not at all."""

from __future__ import annotations

import stat
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from sottovoce.errors import OutputExists, UsageError
from sottovoce.files.atomic_output import (
    durable_file,
    new_file,
    new_folder,
    remove_unfinished,
)

KILLED = """
import os, signal, sys
from sottovoce.files.atomic_output import new_folder
with new_folder(sys.argv[1], ["old"], force=True) as place:
    (place / "half").touch()
    if sys.argv[2] == "moved":
        os.rename(sys.argv[1], place.parent / "old")
    os.kill(os.getpid(), signal.SIGKILL)
"""

KILLED_FILE = """
import os, pathlib, signal, sys
from sottovoce.files.atomic_output import durable_file
with durable_file(pathlib.Path(sys.argv[1])) as file:
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def make(target: Path, name: str, *, force: bool = False) -> None:
    with new_folder(target, ["old", "new"], force=force) as place:
        (place / name).touch()


def everything(folder: Path) -> set[str]:
    return {str(found.relative_to(folder)) for found in folder.rglob("*")}


def test_a_folder_is_there_when_the_block_ends_and_not_before(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out", []) as place:
        (place / "new").touch()
        assert not (tmp_path / "out").exists()
    assert everything(tmp_path) == {"out", "out/new"}


def test_what_exists_is_replaced_only_by_force(tmp_path: Path) -> None:
    make(tmp_path / "out", "old")
    with pytest.raises(OutputExists):
        make(tmp_path / "out", "new")
    assert everything(tmp_path) == {"out", "out/old"}
    make(tmp_path / "out", "new", force=True)
    assert everything(tmp_path) == {"out", "out/new"}


def test_a_folder_with_anything_else_in_it_is_never_replaced(tmp_path: Path) -> None:
    make(tmp_path / "out", "thesis.tex")
    with pytest.raises(
        UsageError, match=r"out contains thesis\.tex, which is not part of an export"
    ):
        make(tmp_path / "out", "new", force=True)
    assert everything(tmp_path) == {"out", "out/thesis.tex"}


def test_what_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    with pytest.raises(OutputExists), new_folder(tmp_path / "out", []):
        (tmp_path / "out").touch()
    assert everything(tmp_path) == {"out"}


def test_two_do_not_write_one_folder_at_once(tmp_path: Path) -> None:
    with new_folder(tmp_path / "out", []):
        with pytest.raises(UsageError, match="another process is writing"):
            make(tmp_path / "out", "new")
    assert everything(tmp_path) == {"out"}


@pytest.mark.parametrize("moment", ["writing", "moved"])
def test_what_a_killed_process_has_left_is_gone_with_the_next(tmp_path: Path, moment: str) -> None:
    make(tmp_path / "out", "old")
    command = [sys.executable, "-c", KILLED, str(tmp_path / "out"), moment]
    assert subprocess.run(command).returncode < 0
    assert (tmp_path / "out").exists() == (moment == "writing")
    with pytest.raises(RuntimeError), new_folder(tmp_path / "out", ["old"], force=True):
        raise RuntimeError
    assert everything(tmp_path) == {"out", "out/old"}


def test_a_folder_in_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere is not a folder: create it first"):
        make(tmp_path / "nowhere" / "out", "new")


def test_a_file_is_there_when_the_block_ends_and_not_before(tmp_path: Path) -> None:
    with new_file(tmp_path / "out") as place:
        place.write_bytes(b"new")
        assert not (tmp_path / "out").exists()
    assert (tmp_path / "out").read_bytes() == b"new"
    assert everything(tmp_path) == {"out"}


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    with ExitStack() as stack:
        stack.enter_context(new_file(tmp_path / "out")).write_bytes(b"new")
        (tmp_path / "out").write_bytes(b"other")
        with pytest.raises(OutputExists):
            stack.close()
    assert (tmp_path / "out").read_bytes() == b"other"
    assert everything(tmp_path) == {"out"}


def test_a_durable_file_replaces_the_old_one_for_its_owner_only(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    with durable_file(target) as file:
        file.write(b"new")
        assert target.read_bytes() == b"old"
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert everything(tmp_path) == {"out"}


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_the_durable_file_that_was_there(
    tmp_path: Path, error: type[BaseException]
) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    with pytest.raises(error), durable_file(target):
        raise error
    assert target.read_bytes() == b"old"
    assert everything(tmp_path) == {"out"}


def test_an_unfinished_file_of_a_killed_process_is_removed_on_request(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    assert subprocess.run([sys.executable, "-c", KILLED_FILE, str(target)]).returncode < 0
    assert target.read_bytes() == b"old"
    assert len(everything(tmp_path)) == 2
    remove_unfinished(tmp_path)
    assert everything(tmp_path) == {"out"}
