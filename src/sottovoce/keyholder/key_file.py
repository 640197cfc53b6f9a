"""A keyholder's key file: made once, never replaced, encrypted with a passphrase."""

from __future__ import annotations

import base64
import json
import os
import stat
import sys
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sottovoce.errors import DataError, UsageError, absent
from sottovoce.files.atomic_output import flush
from sottovoce.files.private_files import private_folder, translated_errors, write_durably
from sottovoce.model.canonical_json import canonical_bytes
from sottovoce.model.keyholder import Keyholder
from sottovoce.securesum.committee.keyholder import KeyholderKeys

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
except ImportError:
    if not TYPE_CHECKING:
        InvalidTag = Ed25519PrivateKey = X25519PrivateKey = AESGCM = Scrypt = absent(
            "cryptography", purpose="a keyholder's keys", extra="secure"
        )


FORMAT = "sottovoce-keyholder-keys/1"

KEY_FILE, CARD_FILE = "keys.json", "card.json"

COST = {"n": 1 << 17, "r": 8, "p": 1}

STRETCHING = {"name": "scrypt", **COST}
"""128 MiB and part of a second per guess (RFC 7914). The format fixes them: a file cannot choose
weaker parameters, or ones that would take forever."""

SALT, NONCE, KEY = 32, 12, 32

FEWEST_CHARACTERS = 8


def make_keys(folder: Path, name: str, passphrase: str) -> Keyholder:
    """Make new keys in a folder for their owner only, and the public card next to them.

    They are drawn from the operating system's generator and encrypted with AES-256-GCM under a key
    derived from the passphrase with scrypt. The card and all parameters are authenticated too.
    """
    secret = checked_passphrase(passphrase)
    keys = KeyholderKeys(X25519PrivateKey.generate(), Ed25519PrivateKey.generate())
    card = Keyholder(name, *keys.public)
    check_free(folder)
    _write_new(private_folder(folder) / KEY_FILE, _sealed(keys, card, secret))
    write_durably(folder / CARD_FILE, f"{card.card()}\n".encode("ascii"))
    return card


def open_keys(folder: Path, passphrase: str) -> tuple[KeyholderKeys, Keyholder]:
    """Open the keys in a folder, with their card."""
    document = _read(folder)
    card = _card(folder, document)
    clear = {name: value for name, value in document.items() if name != "sealed"}
    try:
        salt, nonce = _bytes(document["salt"], SALT), _bytes(document["nonce"], NONCE)
        sealed = _bytes(document["sealed"], 2 * KEY + 16)
        key = _stretched(checked_passphrase(passphrase), salt)
        content = AESGCM(key).decrypt(nonce, sealed, canonical_bytes(clear))
    except (KeyError, TypeError, ValueError):
        raise _damaged(folder) from None
    except InvalidTag:
        raise UsageError(
            f"{folder / KEY_FILE} cannot be opened: the passphrase is wrong, or the file was "
            "changed or damaged"
        ) from None
    keys = KeyholderKeys(
        X25519PrivateKey.from_private_bytes(content[:KEY]),
        Ed25519PrivateKey.from_private_bytes(content[KEY:]),
    )
    if keys.public != (card.sealing, card.signing):
        raise _damaged(folder)
    return keys, card


def read_card(folder: Path) -> Keyholder:
    """The public card of the keys in a folder; no passphrase is needed to read it."""
    return _card(folder, _read(folder))


def check_free(folder: Path) -> None:
    """Refuse a folder that has keys: without them, what is sealed to them cannot be opened."""
    if (folder / KEY_FILE).exists():
        raise UsageError(
            f"{folder} already has a keyholder's keys, which are never replaced; choose another "
            "folder with --folder"
        )


def checked_passphrase(text: str) -> bytes:
    r"""The bytes of a passphrase, the same on every keyboard; a weak one is refused, unquoted.

    Unicode has several forms of the same letter; NFKC picks one.

    >>> checked_passphrase("caffe\u0300 latte") == checked_passphrase("caff\u00e8 latte")
    True
    """
    if len(text.strip()) < FEWEST_CHARACTERS:
        raise UsageError(
            f"the passphrase must have at least {FEWEST_CHARACTERS} characters, because someone "
            "with a copy of the key file can try without limit"
        )
    return unicodedata.normalize("NFKC", text).encode("utf-8", "surrogatepass")


def _sealed(keys: KeyholderKeys, card: Keyholder, secret: bytes) -> bytes:
    salt, nonce = os.urandom(SALT), os.urandom(NONCE)
    clear: dict[str, Any] = {
        "format": FORMAT,
        "card": card.as_json(),
        "cipher": "aes-256-gcm",
        "stretching": STRETCHING,
        "salt": _text(salt),
        "nonce": _text(nonce),
    }
    content = keys.sealing.private_bytes_raw() + keys.signing.private_bytes_raw()
    sealed = AESGCM(_stretched(secret, salt)).encrypt(nonce, content, canonical_bytes(clear))
    return json.dumps({**clear, "sealed": _text(sealed)}, indent=1).encode("ascii") + b"\n"


def _stretched(secret: bytes, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=KEY, **COST).derive(secret)


def _write_new(path: Path, content: bytes) -> None:
    """Write a new file atomically; it is on disk when this returns.

    It is written under another name and linked, because linking fails if the target exists: of two
    processes that make keys at once, one is refused.
    """
    draft = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    write_durably(draft, content)
    with translated_errors(path):
        try:
            os.link(draft, path)
        except FileExistsError:
            check_free(path.parent)
        finally:
            draft.unlink()
        flush(path.parent)


def _read(folder: Path) -> dict[str, Any]:
    path = folder / KEY_FILE
    try:
        content, mode = path.read_bytes(), path.stat().st_mode
    except FileNotFoundError:
        raise UsageError(
            f"{folder} has no keyholder's keys; make them with `sottovoce keyholder init`, or "
            "give their folder with --folder"
        ) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None
    if sys.platform != "win32" and stat.S_IMODE(mode) & 0o077:
        raise UsageError(f"{path} can be read by others; run `chmod 600 {path}` first")
    try:
        document = json.loads(content)
        if document["format"] != FORMAT or document["stretching"] != STRETCHING:
            raise ValueError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _damaged(folder) from None
    return dict(document)


def _card(folder: Path, document: dict[str, Any]) -> Keyholder:
    try:
        return Keyholder.of_json(document["card"])
    except (KeyError, UsageError):
        raise _damaged(folder) from None


def _damaged(folder: Path) -> DataError:
    return DataError(
        "this file was changed or damaged; restore it from your copy", file=str(folder / KEY_FILE)
    )


def _bytes(text: Any, length: int) -> bytes:
    content = base64.b64decode(text, validate=True)
    if len(content) != length or _text(content) != text:
        raise ValueError
    return content


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
