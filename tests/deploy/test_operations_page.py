"""The commands on the page on operations exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from sottovoce.cli.app import COMMANDS, load_command

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "operations.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(?:sh|ini)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
CALL = re.compile(r"(?:^|bin/|sottovoce )(sottovoce (?:db|serve|backup|restore|doctor).*)")
LINES = "\n".join(BLOCKS).replace("\\\n", " ").splitlines()


def _commands() -> list[list[str]]:
    """Every call of sottovoce, wherever in a line it begins."""
    found = []
    for line in LINES:
        call = re.search(
            r"(?:^|bin/|sottovoce )(sottovoce (?:db|serve|backup|restore|doctor).*)", line
        )
        if call and not line.startswith("docker run"):
            found.append(shlex.split(call[1])[1:])
    return found


@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_a_command_has_the_options_that_the_page_gives_it(words: list[str]) -> None:
    count = next(n for n in range(len(words), 0, -1) if " ".join(words[:n]) in COMMANDS)
    command, words = load_command(" ".join(words[:count])), words[count:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= known


def test_the_page_shows_every_command_of_an_operator() -> None:
    shown = {words[0] for words in _commands()}
    assert shown >= {"serve", "db", "backup", "restore", "doctor"}


def test_proxies_log_nothing_and_hold_nothing_back() -> None:
    for setting in (
        "access_log off;", "proxy_buffering off;", "proxy_request_buffering off;",
        "client_max_body_size 64m;", "flush_interval -1", "max_size 64MB",
    ):  # fmt: skip
        assert setting in PAGE
