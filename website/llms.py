"""`llms.txt`: the main pages with one line each, for programs that read documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from website.navigation import section_pages
from website.pages import outside_code

__all__ = ["first_sentence", "llms_text"]


def llms_text(settings: dict[str, Any], docs: Path) -> str:
    """The file, in the form of llmstxt.org: title, summary, a list of pages for each part."""
    home = (docs / "index.md").read_text(encoding="utf-8")
    lines = [f"# {settings['site_name']}", "", f"> {first_sentence(home)}", ""]
    for part in settings["nav"]:
        for title, section in part.items():
            lines += [f"## {title}", ""]
            lines += [_entry(settings["site_url"], docs, *page) for page in section_pages(section)]
            lines += [""]
    return "\n".join(lines)


def _entry(address: str, docs: Path, title: str | None, path: str) -> str:
    text = (docs / path).read_text(encoding="utf-8")
    heading = re.search(r"^# +(.+)$", text, re.MULTILINE)
    name = title or (heading[1] if heading else path)
    place = re.sub(r"(index)?\.md$", "", path)
    link = f"{address}{place}{'/' if place and not place.endswith('/') else ''}"
    return f"- [{name}]({link}): {first_sentence(text)}".removesuffix(": ")


def first_sentence(text: str) -> str:
    r"""The first sentence of a page's prose, as plain text.

    >>> first_sentence("# Backups\n\nCopy the *data* folder. Then [restore](x.md) it.")
    'Copy the data folder.'
    """
    prose = "".join(part for part, is_code in outside_code(text) if not is_code)
    for paragraph in re.split(r"\n\s*\n", prose):
        plain = _plain(paragraph)
        if plain and re.match(r"[\w“\"'(`]", plain) and not paragraph.startswith(("#", "|", ":::")):
            return re.split(r"(?<=[.!?])\s", plain, maxsplit=1)[0].rstrip(":")
    return ""


def _plain(markdown: str) -> str:
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^>]+>", "", markdown)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(text.replace("**", "").replace("*", "").split())
