"""Files that are complete or missing."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from sottovoce.errors import LedgerUnwritable
from sottovoce.files.atomic_output import remove_unfinished
from sottovoce.files.private_files import private_folder, write_durably


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_durably(file, b"one")
    write_durably(file, b"two")
    assert file.read_bytes() == b"two"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(sys.platform == "win32", reason="limits are POSIX's")
def test_a_full_disk_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    write_durably(file, b"one")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(LedgerUnwritable, match="No space left"):
        write_durably(file, b"two")
    assert file.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_is_made_for_its_owner(tmp_path: Path) -> None:
    folder = private_folder(tmp_path / "a" / "b")
    for made in (folder, folder.parent):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_a_file_in_place_of_a_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(LedgerUnwritable, match="a/b"):
        private_folder(tmp_path / "a" / "b")


def test_what_was_half_written_is_removed(tmp_path: Path) -> None:
    (tmp_path / "x.json.ab12.unfinished").write_bytes(b"{")
    (tmp_path / "x.json").write_bytes(b"{}")
    remove_unfinished(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["x.json"]
