"""Passphrases: what turns a keyholder's file of keys into keys."""

from __future__ import annotations

import unicodedata

from sottovoce.errors import UsageError

__all__ = ["FEWEST_CHARACTERS", "checked_passphrase"]

FEWEST_CHARACTERS = 8


def checked_passphrase(text: str) -> bytes:
    r"""The bytes of a passphrase, the same from every keyboard; a weak one is refused, unquoted.

    Unicode has several ways to write one letter: NFKC takes one of them.

    >>> checked_passphrase("caffe\u0300 latte") == checked_passphrase("caff\u00e8 latte")
    True
    """
    if len(text.strip()) < FEWEST_CHARACTERS:
        raise UsageError(
            f"the passphrase must have at least {FEWEST_CHARACTERS} characters: whoever copies the "
            "file of keys can try as many as it likes"
        )
    return unicodedata.normalize("NFKC", text).encode("utf-8", "surrogatepass")
