"""Pages of the repository as pages of the site: links rewritten, code blocks named."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

__all__ = ["PROJECT_PAGES", "ROOT", "outside_code", "site_page"]

ROOT = Path(__file__).resolve().parent.parent
SOURCE = "https://github.com/sottovoce/sottovoce/blob/main"

PROJECT_PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
}
"""Files in the root of the repository, and their place on the site."""

_FENCE = re.compile(r"^( *)(```+)([^\n]*)\n(.*?)^\1\2 *$", re.MULTILINE | re.DOTALL)
_COMMENT_OR_FENCE = re.compile(rf"<!--.*?-->|{_FENCE.pattern}", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s]+)(\))|((?:src|href)=\")([^\"]+)(\")")


def site_page(text: str, path: str) -> str:
    """The Markdown of `path`, a file of the repository, as the site's generator needs it.

    Links to files outside `docs/` lead to the source code. Links that lead nowhere are left: the
    build reports them.

    >>> site_page("[Tables](docs/reference/tables.md#null)", "CHANGELOG.md")
    '[Tables](../reference/tables.md#null)'
    >>> site_page("[Compose](../../compose.yaml)", "docs/how-to/operations.md")
    '[Compose](https://github.com/sottovoce/sottovoce/blob/main/compose.yaml)'
    """

    def link(match: re.Match[str]) -> str:
        before, target, after = filter(None, match.groups())
        return f"{before}{_site_link(target, path)}{after}"

    return "".join(
        _named_fence(part) if is_code else _LINK.sub(link, part)
        for part, is_code in outside_code(text)
    )


def outside_code(text: str) -> Iterator[tuple[str, bool]]:
    """The text without comments, in pieces, each with whether it is a fenced code block."""
    end = 0
    for match in _COMMENT_OR_FENCE.finditer(text):
        yield text[end : match.start()], False
        if match[2]:
            yield match[0], True
        end = match.end()
    yield text[end:], False


def _named_fence(block: str) -> str:
    """The block with one word, or attributes in braces, after the ticks: `pycon` for doctests."""
    match = _FENCE.fullmatch(block)
    if match is None or match[3].lstrip().startswith("{"):
        return block
    language = (match[3].split() or ["text"])[0]
    if language == "python" and match[4].lstrip().startswith(">>>"):
        language = "pycon"
    return f"{match[1]}{match[2]}{language}\n{match[4].rstrip()}\n{match[1]}{match[2]}"


def _site_link(target: str, path: str) -> str:
    if target.startswith(("#", "/")) or re.match(r"[a-z]+:", target):
        return target
    file, mark, anchor = target.partition("#")
    there = PurePosixPath(os.path.normpath(PurePosixPath(path).parent / file))
    here = PurePosixPath(_place(path)).parent
    place = _place(str(there))
    if place == str(there) and (ROOT / there).exists():
        return f"{SOURCE}/{there}{mark}{anchor}"
    return f"{os.path.relpath(place, here)}{mark}{anchor}"


def _place(path: str) -> str:
    """The path of a file below the site's root."""
    if path in PROJECT_PAGES:
        return PROJECT_PAGES[path]
    return re.sub(r"\.ipynb$", ".md", path.removeprefix("docs/"))
