"""A keyholder's keys: nobody reads, changes or replaces them without being noticed."""

from __future__ import annotations

import base64
import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from sottovoce.errors import DataError, UsageError
from sottovoce.keyholder.key_file import CARD_FILE, KEY_FILE, make_keys, open_keys, read_card
from sottovoce.model.keyholder import Keyholder

PASSPHRASE = "nine herons by the pond"  # noqa: S105 - it protects nothing


def test_keys_open_with_their_passphrase_as_stretched_in_earnest(home: Path) -> None:
    card = make_keys(home, "Library", PASSPHRASE)
    keys, found = open_keys(home, PASSPHRASE)
    assert keys.public == (card.sealing, card.signing)
    assert found == card == Keyholder.parse_card((home / CARD_FILE).read_text())


@pytest.mark.usefixtures("cheap")
def test_keys_are_for_their_owner_only(home: Path) -> None:
    make_keys(home, "Library", PASSPHRASE)
    assert stat.S_IMODE((home / KEY_FILE).stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert sorted(file.name for file in home.iterdir()) == [CARD_FILE, KEY_FILE]


@pytest.mark.usefixtures("cheap")
@pytest.mark.skipif(sys.platform == "win32", reason="rights are POSIX's")
def test_keys_that_others_can_read_are_not_used(home: Path) -> None:
    make_keys(home, "Library", PASSPHRASE)
    (home / KEY_FILE).chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others; run `chmod 600"):
        open_keys(home, PASSPHRASE)


@pytest.mark.usefixtures("cheap")
def test_keys_are_never_replaced(home: Path) -> None:
    make_keys(home, "Library", PASSPHRASE)
    before = (home / KEY_FILE).read_bytes()
    with pytest.raises(UsageError, match="never replaced"):
        make_keys(home, "Library", PASSPHRASE)
    assert (home / KEY_FILE).read_bytes() == before


@pytest.mark.usefixtures("cheap")
def test_another_passphrase_opens_nothing(home: Path) -> None:
    make_keys(home, "Library", PASSPHRASE)
    with pytest.raises(UsageError, match="the passphrase is wrong"):
        open_keys(home, PASSPHRASE + "s")


@pytest.mark.parametrize("weak", ["", "        ", "secret"])
def test_a_weak_passphrase_makes_no_keys(home: Path, weak: str) -> None:
    with pytest.raises(UsageError, match="at least 8 characters"):
        make_keys(home, "Library", weak)
    assert not home.exists()


def flipped(value: Any) -> Any:
    """The same with one bit of it changed."""
    if isinstance(value, int):
        return value ^ 1
    try:
        content = bytearray(base64.b64decode(value, validate=True))
        content[len(content) // 2] ^= 1
        return base64.b64encode(content).decode()
    except ValueError:
        return chr(ord(value[0]) ^ 1) + value[1:]


FIELDS = [
    ("format",), ("cipher",), ("salt",), ("nonce",), ("sealed",),
    *(("stretching", each) for each in ("name", "n", "r", "p")),
    *(("card", each) for each in ("name", "sealing", "signing")),
]  # fmt: skip


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize("field", FIELDS, ids=".".join)
def test_a_flipped_bit_in_any_field_is_noticed(home: Path, field: tuple[str, ...]) -> None:
    make_keys(home, "Library", PASSPHRASE)
    document = json.loads((home / KEY_FILE).read_bytes())
    place = document
    for name in field[:-1]:
        place = place[name]
    place[field[-1]] = flipped(place[field[-1]])
    (home / KEY_FILE).write_text(json.dumps(document))
    with pytest.raises((DataError, UsageError), match=r"changed or damaged"):
        open_keys(home, PASSPHRASE)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format":"other"}'])
def test_what_is_no_file_of_keys_is_said(home: Path, content: bytes) -> None:
    home.mkdir(mode=0o700)
    (home / KEY_FILE).touch(0o600)
    (home / KEY_FILE).write_bytes(content)
    with pytest.raises(DataError, match="restore it from your copy"):
        read_card(home)


def test_a_folder_without_keys_says_how_to_make_them(home: Path) -> None:
    with pytest.raises(UsageError, match="sottovoce keyholder init"):
        read_card(home)
