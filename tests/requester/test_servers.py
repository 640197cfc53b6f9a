"""Tokens are kept for each server, and only for their owner."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from sottovoce import DataError, UsageError
from sottovoce.requester.servers import SavedServer, Servers, chosen_server, prepare, servers_file

ONE = SavedServer("https://one.example", "svk_" + "A" * 43)
TWO = SavedServer("http://two.example", "svk_" + "B" * 43, allow_http=True)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOTTOVOCE_HOME", str(tmp_path / "home"))
    for name in ("SOTTOVOCE_URL", "SOTTOVOCE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def logged_in(*servers: SavedServer) -> None:
    kept = Servers()
    for server in servers:
        kept = kept.with_current(server)
    kept.write(servers_file())


def test_what_is_written_is_read_again() -> None:
    logged_in(ONE, TWO)
    servers = Servers.read(servers_file())
    assert (list(servers.known.values()), servers.current) == ([ONE, TWO], TWO.address)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a user's folder for the user")
def test_nobody_else_can_read_the_file(home: Path) -> None:
    logged_in(ONE)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home / "servers.json", home)]
    assert modes == [0o600, 0o700]


def test_tokens_are_in_no_repr() -> None:
    assert "svk_" not in repr(Servers().with_current(ONE))


def test_without_a_file_there_are_no_servers() -> None:
    assert Servers.read(servers_file()) == Servers()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": "sottovoce-servers/2", "current": null, "servers": []}',
     '{"format": "sottovoce-servers/1", "current": null, "servers": [{"address": "x"}]}',
     '{"format": "sottovoce-servers/1", "current": null, "servers": '
     '[{"address": "x", "token": "short", "allow_http": false}]}'],
)  # fmt: skip
def test_a_damaged_file_says_what_to_do(home: Path, content: str) -> None:
    home.mkdir()
    (home / "servers.json").write_text(content)
    with pytest.raises(
        DataError, match=r"servers\.json: the file was changed or damaged; delete it"
    ):
        chosen_server()


def test_the_settings_folder_is_where_others_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("SOTTOVOCE_HOME")
    monkeypatch.setenv("APPDATA" if sys.platform == "win32" else "XDG_CONFIG_HOME", str(tmp_path))
    assert servers_file() == tmp_path / "sottovoce" / "servers.json"


def test_the_last_login_is_the_server_to_speak_to() -> None:
    logged_in(ONE, TWO)
    assert chosen_server() == TWO


def test_a_server_can_be_named() -> None:
    logged_in(ONE, TWO)
    assert chosen_server("https://one.example/") == ONE


def test_the_environment_names_server_and_token(monkeypatch: pytest.MonkeyPatch) -> None:
    logged_in(ONE)
    monkeypatch.setenv("SOTTOVOCE_URL", "https://three.example")
    monkeypatch.setenv("SOTTOVOCE_TOKEN", "svk_" + "C" * 43)
    assert chosen_server() == SavedServer("https://three.example", "svk_" + "C" * 43)


def test_a_token_in_the_environment_must_look_like_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_URL", "https://three.example")
    monkeypatch.setenv("SOTTOVOCE_TOKEN", "secret words")
    with pytest.raises(UsageError, match="the token is incomplete") as caught:
        chosen_server()
    assert "secret words" not in str(caught.value)


def test_plain_http_to_another_machine_has_to_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_URL", "http://three.example")
    monkeypatch.setenv("SOTTOVOCE_TOKEN", ONE.token)
    with pytest.raises(UsageError, match="plain http"):
        chosen_server()
    assert chosen_server(allow_http=True).allow_http


def test_http_that_was_allowed_at_login_stays_allowed() -> None:
    logged_in(ONE, TWO)
    assert chosen_server("http://two.example").allow_http


def test_a_server_nobody_logged_in_to_is_said_with_those_one_did() -> None:
    logged_in(ONE)
    with pytest.raises(
        UsageError, match=r"not logged in to https://x\.example, only to https://on"
    ):
        chosen_server("https://x.example")


def test_nobody_logged_in_is_told_how_to() -> None:
    with pytest.raises(UsageError, match="not logged in to any server: sottovoce campaign login"):
        chosen_server()


def test_when_the_current_server_goes_the_one_that_is_left_is_current() -> None:
    servers = Servers().with_current(ONE).with_current(TWO)
    assert servers.without(TWO.address).current == ONE.address
    assert servers.without(ONE.address).current == TWO.address
    assert servers.without(ONE.address).without(TWO.address) == Servers()


def test_a_write_that_fails_leaves_the_file_as_it_was(home: Path) -> None:
    logged_in(ONE)
    before = (home / "servers.json").read_bytes()
    broken = Servers({"x": SavedServer("x", ONE.token, allow_http=object())})  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        broken.write(servers_file())
    assert (home / "servers.json").read_bytes() == before
    assert json.loads(before)["current"] == ONE.address
    assert [path.name for path in home.iterdir()] == ["servers.json"]


def test_a_place_for_no_file_is_refused_before_anything_is_done(home: Path) -> None:
    (home / "servers.json").mkdir(parents=True)
    with pytest.raises(UsageError, match="is a folder"):
        prepare(servers_file())
