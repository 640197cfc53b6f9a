"""A user's folders: where the system has them, or where an earlier version put them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sottovoce.files import user_folders
from sottovoce.files.user_folders import cache_folder, home_folder, settings_folder

linux = pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("SOTTOVOCE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def test_the_users_folder_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert home_folder().name == "sottovoce"
    monkeypatch.setenv("SOTTOVOCE_HOME", str(tmp_path))
    assert home_folder() == tmp_path


@linux
def test_on_linux_folders_are_the_hidden_ones_in_the_home(home: Path) -> None:
    assert home_folder() == home / ".local" / "share" / "sottovoce"
    assert settings_folder() == home / ".config" / "sottovoce"
    assert cache_folder() == home / ".cache" / "sottovoce"


@linux
def test_on_linux_xdg_variables_name_other_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("DATA", "CONFIG", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name))
    assert home_folder() == tmp_path / "DATA" / "sottovoce"
    assert settings_folder() == tmp_path / "CONFIG" / "sottovoce"
    assert cache_folder() == tmp_path / "CACHE" / "sottovoce"


def test_no_folder_is_made(home: Path) -> None:
    for folder in (home_folder(), settings_folder(), cache_folder()):
        assert not folder.exists()


@pytest.mark.parametrize(
    ("called", "function", "earlier"),
    [
        (settings_folder, "user_config_path", Path(".config", "sottovoce")),
        (cache_folder, "user_cache_path", Path(".cache", "sottovoce")),
    ],
)
def test_where_the_system_has_another_folder_one_of_an_earlier_version_is_kept(
    monkeypatch: pytest.MonkeyPatch, home: Path, called: object, function: str, earlier: Path
) -> None:
    assert callable(called)
    monkeypatch.setattr(user_folders, function, lambda *_, **__: home / "Library" / "sottovoce")
    assert called() == home / "Library" / "sottovoce"
    (home / earlier).mkdir(parents=True)
    assert called() == home / earlier


def test_on_macos_a_ledger_stays_where_it_is(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(user_folders, "user_data_path", lambda *_, **__: home / "xdg")
    assert home_folder() == home / "xdg"
    earlier = home / "Library" / "Application Support" / "sottovoce"
    earlier.mkdir(parents=True)
    assert home_folder() == earlier
