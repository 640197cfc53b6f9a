"""Simulated errors on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sottovoce.planning import trial_runner
from sottovoce.planning.trial_runner import key_of, plans_folder, recall, remember, stamp_of

KEY = key_of(["a question"])


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_CACHE", str(tmp_path / "cache"))


def test_what_is_kept_is_found_again() -> None:
    remember(KEY, (0.1, 0.25))
    assert recall(KEY) == (0.1, 0.25)
    assert recall(key_of(["another question"])) == ()


def test_nothing_but_the_result_is_left_in_the_folder() -> None:
    remember(KEY, (0.1,))
    remember(KEY, (0.1, 0.2))
    assert [path.name for path in plans_folder().iterdir()] == [f"{KEY}.json"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"errors": "ab"}', '{"errors": [null]}', '{"errors": [NaN]}', "\xff",
     '{"errors": [-1]}', '{"other": 1}', "[" * 100_000],
)  # fmt: skip
def test_an_invalid_file_is_ignored_and_replaced(text: str) -> None:
    plans_folder().mkdir(parents=True)
    (plans_folder() / f"{KEY}.json").write_bytes(text.encode("latin-1"))
    assert recall(KEY) == ()
    remember(KEY, (0.5,))
    assert recall(KEY) == (0.5,)


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    remember(KEY, (0.5,))
    assert recall(KEY) == ()


def test_the_folder_is_the_users_cache_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert plans_folder() == tmp_path / "cache" / "plans"
    monkeypatch.delenv("SOTTOVOCE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert plans_folder() == tmp_path / "xdg" / "sottovoce" / "plans"


def test_other_software_has_other_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_runner, "software", lambda: ("another", "version", "of it"))
    assert key_of(["a question"]) != KEY


def test_a_stamp_is_of_names_and_contents_not_of_times(tmp_path: Path) -> None:
    file = tmp_path / "code.py"
    file.write_text("x = 1")
    first = stamp_of([file], tmp_path)
    os.utime(file, (0, 0))
    assert stamp_of([file], tmp_path) == first
    file.write_text("x = 2")
    second = stamp_of([file], tmp_path)
    other = file.rename(tmp_path / "other.py")
    assert len({first, second, stamp_of([other], tmp_path)}) == 3


def test_a_folder_without_code_is_an_error_not_an_empty_stamp(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trial_runner, "DECIDING", (*trial_runner.DECIDING, "stores"))
    with pytest.raises(FileNotFoundError, match="no code in stores"):
        trial_runner.software.__wrapped__()
