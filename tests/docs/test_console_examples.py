"""What the pages show on a console is what a reader sees.

In a block marked `console`, lines that begin with `$` are run, in order and in an empty folder of
the page's own; the other lines are what they print. `…` stands for anything, over lines too.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if _BLOCK.search(page.read_text(encoding="utf-8"))
]


def examples(page: Path) -> list[tuple[str, list[str]]]:
    """Each command with the lines that follow it."""
    found: list[tuple[str, list[str]]] = []
    for block in _BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def plain(lines: list[str]) -> list[str]:
    """Lines without what only places them: spaces, and empty or ruled lines."""
    words = (" ".join(line.replace("─", " ").split()) for line in lines)
    return [line for line in words if line]


def run(command: str, folder: Path) -> list[str]:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "SOTTOVOCE_DATA": str(folder / "cache"),
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        shlex.split(command),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.splitlines()


def matches(shown: list[str], seen: list[str]) -> bool:
    """Whether the lines are equal, `…` standing for anything."""
    pattern = re.sub(r"([*?[])", r"[\1]", "\n".join(shown)).replace("…", "*")
    return fnmatchcase("\n".join(seen), pattern)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    for command, shown in examples(page):
        seen = plain(run(command, tmp_path))
        assert matches(plain(shown), seen), "\n".join([f"$ {command}", *seen])
