"""Sums in a folder outlive the process that made them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sottovoce.engines.checkpoint import KeptSums, checkpoint_lock, identity_of
from sottovoce.errors import DataError, UsageError

KILLED = """
import os, signal, sys
import numpy as np
from sottovoce.engines.checkpoint import KeptSums, checkpoint_lock
with checkpoint_lock(sys.argv[1]):
    kept = KeptSums(sys.argv[1] + "/sums", "a run")
    kept.append(0, np.arange(3.0))
    os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
    kept.append(1, np.arange(4.0))
"""


def test_a_sum_comes_back_as_it_was(tmp_path: Path) -> None:
    sums = np.random.default_rng(1).normal(size=(4, 3))
    KeptSums(tmp_path, "a run").append(0, sums)
    found = KeptSums(tmp_path, "a run").read(0)
    assert found is not None
    np.testing.assert_array_equal(found, sums)
    found += 1  # as writable as a new one


def test_what_was_not_made_is_not_there(tmp_path: Path) -> None:
    assert KeptSums(tmp_path, "a run").read(0) is None


def test_another_run_is_refused(tmp_path: Path) -> None:
    KeptSums(tmp_path, "a run")
    with pytest.raises(
        UsageError, match=r"is the checkpoint of another run .*: name another folder"
    ):
        KeptSums(tmp_path, "another run")


def test_a_damaged_note_of_the_run_is_another_run(tmp_path: Path) -> None:
    KeptSums(tmp_path, "a run")
    (tmp_path / "run.json").write_bytes(b"{")
    with pytest.raises(UsageError, match="is the checkpoint of another run"):
        KeptSums(tmp_path, "a run")


@pytest.mark.parametrize("damage", ["cut", "changed", "junk"])
def test_a_damaged_sum_is_made_again_with_those_after_it(tmp_path: Path, damage: str) -> None:
    kept = KeptSums(tmp_path, "a run")
    for number in range(3):
        kept.append(number, np.full(5, float(number)))
    path = tmp_path / "sum-00001"
    content = path.read_bytes()
    path.write_bytes({"cut": content[:-1], "changed": content[:-1] + b"x", "junk": b"x"}[damage])
    assert kept.read(1) is None
    kept.append(1, np.full(5, 7.0))
    assert kept.read(2) is None
    assert kept.read(0) is not None


def test_a_process_that_is_killed_leaves_what_was_whole(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    assert subprocess.run(command).returncode < 0
    with checkpoint_lock(tmp_path):
        kept = KeptSums(tmp_path / "sums", "a run")
        np.testing.assert_array_equal(kept.read(0), np.arange(3.0))
        assert kept.read(1) is None
    assert not list((tmp_path / "sums").glob("*.unfinished"))


def test_two_runs_do_not_go_on_from_one_folder_at_once(tmp_path: Path) -> None:
    with checkpoint_lock(tmp_path / "kept"):
        with pytest.raises(
            UsageError, match=r"another run uses the checkpoint .*kept: wait until it ends"
        ):
            with checkpoint_lock(tmp_path / "kept"):
                pass


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="file is a file: name a folder"):
        with checkpoint_lock(tmp_path / "file"):
            pass
    with pytest.raises(DataError, match=r"sums: cannot write the checkpoint: \w"):
        KeptSums(tmp_path / "file" / "sums", "a run")


def test_an_identity_is_of_all_its_parts() -> None:
    parts = {"table": "t", "rounds": [1, 2]}
    assert identity_of(parts) == identity_of(dict(reversed(parts.items())))
    assert identity_of(parts) != identity_of({**parts, "rounds": [1, 3]})
