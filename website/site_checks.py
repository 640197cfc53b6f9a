"""Checks of the built site: links, anchors, images, and assets from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

__all__ = ["BuiltPage", "external_assets", "faults", "read_pages"]

_LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src"}
_LOADED = {"stylesheet", "icon", "preload", "modulepreload", "manifest"}
_CSS_URL = re.compile(
    r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)|@import\s+['\"]((?:https?:)?//[^'\"]+)"
)


@dataclass
class BuiltPage:
    """A page of HTML: its anchors, its links, and the files it loads."""

    path: str
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, page: BuiltPage) -> None:
        super().__init__()
        self.page = page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.page.anchors |= {found[name] for name in ("id", "name") if name in found}
        target = found.get(_LINKS.get(tag, ""))
        if target is None:
            return
        self.page.links.append(target)
        if tag not in ("a", "link") or _LOADED & set(found.get("rel", "").split()):
            self.page.loads.append(target)


def read_pages(site: Path) -> dict[str, BuiltPage]:
    """Every page of the site by its path, `index.html` left out."""
    pages = {}
    for file in sorted(site.rglob("*.html")):
        path = file.relative_to(site).as_posix().removesuffix("index.html")
        pages[path] = BuiltPage(path)
        _Reader(pages[path]).feed(file.read_text(encoding="utf-8"))
    return pages


def faults(site: Path, pages: Mapping[str, BuiltPage], address: str) -> list[str]:
    """Every internal link, anchor and image that leads nowhere, in words."""
    base = urlsplit(address).path
    found = []
    for page in pages.values():
        for link in page.links:
            full = urljoin(urljoin(address, page.path), link)
            if not full.startswith(address) or link.startswith(("data:", "mailto:")):
                continue
            parts = urlsplit(full)
            path, anchor = unquote(parts.path.removeprefix(base)), unquote(parts.fragment)
            if path in pages:
                if anchor and anchor not in pages[path].anchors and page.path != "404.html":
                    found.append(f"{page.path or 'home'}: no anchor {link}")
            elif not (site / path).is_file():
                found.append(f"{page.path or 'home'}: nothing at {link}")
    return found


def external_assets(site: Path, pages: Mapping[str, BuiltPage]) -> list[str]:
    """Every style, script, image or font that a page or a style would load from elsewhere."""
    found = [
        f"{page.path or 'home'}: {load}"
        for page in pages.values()
        for load in page.loads
        if re.match(r"(https?:)?//", load)
    ]
    for file in sorted(site.rglob("*.css")):
        for match in _CSS_URL.finditer(file.read_text(encoding="utf-8")):
            found.append(f"{file.relative_to(site)}: {match[1] or match[2]}")
    return found
