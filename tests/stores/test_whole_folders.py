"""Folders appear whole or not at all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sottovoce.errors import OutputExists, UsageError
from sottovoce.stores.whole_folders import new_folder

KILLED = """
import os, signal, sys
from sottovoce.stores.whole_folders import new_folder
with new_folder(sys.argv[1], ["old"], force=True) as place:
    (place / "half").touch()
    if sys.argv[2] == "moved":
        os.rename(sys.argv[1], place.parent / "old")
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
    with pytest.raises(UsageError, match=r"out holds thesis\.tex, which no export has put there"):
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
