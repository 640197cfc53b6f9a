"""Texts of others on one's own terminal."""

from __future__ import annotations

import pytest

from sottovoce.http_client.replies import printable


@pytest.mark.parametrize(
    "text",
    ["\x1b]0;title\x07", "\x9b31m", "a\x08b", "\u202egnp", "\u2066x", "\u200b", "\ue000", "\x00"],
)
def test_nothing_acts_on_a_terminal(text: str) -> None:
    assert "\ufffd" in printable(text)
    assert printable(printable(text)) == printable(text)
    assert printable(text).isprintable()


@pytest.mark.parametrize(
    "text", ["Eiche oder Birke?", "樫か樺か", "\u0646\u0645\u06cc\u200c\u062e", "👩\u200d🌾"]
)
def test_other_scripts_stay_as_they_are(text: str) -> None:
    assert printable(text) == text


def test_lines_stay_only_where_they_may() -> None:
    assert printable("a\r\nb\tc") == "a b c"
    assert printable("a\r\nb", lines=True) == "a\nb"


def test_a_long_text_is_cut() -> None:
    assert printable("abc", longest=2) == "ab…"
