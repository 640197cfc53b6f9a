"""The navigation in `mkdocs.yml`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

__all__ = ["NOTEBOOKS", "read_settings", "section_pages"]

NOTEBOOKS = "notebooks/*.ipynb"
"""The entry of the navigation that stands for all notebooks."""


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads the settings without making the Python objects that they name."""


_Loader.add_multi_constructor("tag:yaml.org,2002:python/", lambda *_: None)


def read_settings(file: Path) -> dict[str, Any]:
    """The settings of the site."""
    return dict(yaml.load(file.read_text(encoding="utf-8"), _Loader))  # noqa: S506 - a safe one


def section_pages(section: Any, title: str | None = None) -> Iterator[tuple[str | None, str]]:
    """Title and path of every page in the navigation, or in a section of it, in order."""
    if isinstance(section, str):
        yield title, section
    elif isinstance(section, dict):
        for name, below in section.items():
            yield from section_pages(below, name)
    else:
        for each in section:
            yield from section_pages(each)
