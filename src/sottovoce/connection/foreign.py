"""Texts that somebody else wrote."""

from __future__ import annotations

import unicodedata

__all__ = ["plain"]

INVISIBLE = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
"""Controls, formats (also those that turn the direction of writing), and what is no letter."""

ALLOWED = {"\u200c", "\u200d"}
"""Joiners, which several scripts and emoji need."""


def plain(text: str, *, lines: bool = False, longest: int = 5_000) -> str:
    """A text that a terminal can show: what could move its cursor or hide a word becomes �.

    Line ends become spaces, unless `lines` may stay.

    >>> plain("Oak" + chr(27) + "[2J or" + chr(10) + "birch?")
    'Oak�[2J or birch?'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    pieces = [_shown(letter, lines=lines) for letter in text[:longest]]
    return "".join(pieces) + ("…" if len(text) > longest else "")


def _shown(letter: str, *, lines: bool) -> str:
    if letter == "\n":
        return "\n" if lines else " "
    if letter in ALLOWED or unicodedata.category(letter) not in INVISIBLE:
        return letter
    return "\ufffd"
