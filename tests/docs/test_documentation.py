"""What the pages say exists does, and what exists is on a page."""

from __future__ import annotations

import re
import runpy
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import sottovoce

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
PAGES += sorted(DOCS.rglob("*.md"))

METHODS = {**sottovoce.METHODS, **sottovoce.AWARE_METHODS}

METHOD_PARTS = [
    "Equation",
    "Parameters",
    "When to use it",
    "Weight and confidence",
    "Example",
    "Source",
]

MECHANISM_PARTS = [
    "Equation",
    "When to use it",
    "Guarantee",
    "Calibration",
    "In a policy",
    "Example",
    "What the paper says",
    "Source",
]

_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_LINK_TEXT = re.compile(r"^- \[([^\]]*)\]\(([^)\s]+)\)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parent / "cli_reference.py"))


def headings(page: Path) -> list[str]:
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return [heading.replace("`", "") for heading in _HEADING.findall(prose)]


def anchors(page: Path) -> set[str]:
    """How a Markdown site names a page's headings."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings(page))
    return {heading.replace(" ", "-") for heading in plain}


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_the_command_lines_reference_is_what_the_commands_say(reference: dict[str, Any]) -> None:
    written = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    assert written == reference["cli_reference"](), "run: make docs"


def test_every_command_has_a_heading(reference: dict[str, Any]) -> None:
    assert set(reference["command_names"]()) <= set(headings(DOCS / "reference" / "cli.md"))


@pytest.mark.parametrize("width", ["40", "200"])
def test_the_reference_does_not_depend_on_the_terminal(
    width: str, monkeypatch: pytest.MonkeyPatch, reference: dict[str, Any]
) -> None:
    before = reference["cli_reference"]()
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert reference["cli_reference"]() == before


@pytest.mark.parametrize("method", [*METHODS, *sottovoce.SEALED_METHODS])
def test_every_method_has_a_page_with_all_its_parts(method: str) -> None:
    title, *parts = headings(DOCS / "reference" / "methods" / f"{method}.md")
    assert title == method
    assert [part for part in parts if part in METHOD_PARTS] == METHOD_PARTS


@pytest.mark.parametrize("method", [*METHODS, *sottovoce.SEALED_METHODS])
def test_every_method_can_be_chosen(method: str) -> None:
    text = (DOCS / "reference" / "methods" / "index.md").read_text(encoding="utf-8")
    choice = text.split("## Choosing a method", 1)[1].split("\n## ", 1)[0]
    assert f"[{method}]({method}.md)" in choice


@pytest.mark.parametrize("method", METHODS)
def test_every_parameter_of_a_method_is_on_its_page(method: str) -> None:
    text = (DOCS / "reference" / "methods" / f"{method}.md").read_text(encoding="utf-8")
    section = text.split("\n## Parameters\n", 1)[1].split("\n## ", 1)[0]
    # A policy gives the channel and the domain.
    names = {field.name for field in fields(METHODS[method])} - {"channel", "domain"}
    assert [name for name in sorted(names) if f"| `{name}` |" not in section] == []


@pytest.mark.parametrize("mechanism", [*sottovoce.MECHANISMS, "sampling", "sealed-sum"])
def test_every_mechanism_has_a_page_with_all_its_parts(mechanism: str) -> None:
    assert headings(DOCS / "reference" / "mechanisms" / f"{mechanism}.md") == [
        mechanism,
        *MECHANISM_PARTS,
    ]


@pytest.mark.parametrize("mechanism", [*sottovoce.MECHANISMS, "sampling", "sealed-sum"])
def test_every_mechanism_can_be_chosen(mechanism: str) -> None:
    text = (DOCS / "reference" / "mechanisms" / "index.md").read_text(encoding="utf-8")
    parts = text.split("## Choosing a mechanism", 1)[1].split("## Comparison", 1)
    assert all(f"[{mechanism}]({mechanism}.md)" in part for part in parts)


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_link_leads_somewhere(page: Path) -> None:
    prose = _FENCE.sub("", page.read_text(encoding="utf-8"))
    links = [link for link in _LINK.findall(prose) if "://" not in link]
    assert [link for link in links if not leads_somewhere(page, link)] == []


def test_the_public_names_are_sorted_and_true() -> None:
    assert sottovoce.__all__ == sorted(sottovoce.__all__, key=_like_ruff)
    assert [name for name in sottovoce.__all__ if not hasattr(sottovoce, name)] == []


def _like_ruff(name: str) -> tuple[int, str]:
    """CONSTANTS, then Classes, then functions, each by name."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def test_the_layout_names_what_is_in_the_package() -> None:
    text = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    tree = text.split("src/sottovoce/\n", 1)[1].split("```", 1)[0]
    named = set(re.findall(r"^  (\S+)", tree, re.MULTILINE))
    package = ROOT / "src" / "sottovoce"
    there = {
        path.name + "/" * path.is_dir()
        for path in package.iterdir()
        if not path.name.startswith((".", "__pycache__"))
    }
    assert named == there


def test_the_layers_are_those_that_are_checked() -> None:
    """Of the layers in the settings, those in brackets may not exist yet."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    there = {path.stem for path in (ROOT / "src" / "sottovoce").iterdir()}
    checked = [
        [name for name in re.findall(r"\w+", layer) if name in there]
        for layer in contract["layers"]
    ]
    text = (DOCS / "explanation" / "architecture.md").read_text(encoding="utf-8")
    drawn = text.split("## Layers", 1)[1].split("```text\n", 1)[1].split("```", 1)[0]
    assert [re.findall(r"\w+", line) for line in drawn.splitlines()] == [*filter(None, checked)]


def test_decisions_are_numbered_without_gaps_and_listed() -> None:
    folder = DOCS / "explanation" / "decisions"
    pages = sorted(folder.glob("0*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    listed = _LINK_TEXT.findall((folder / "index.md").read_text(encoding="utf-8"))
    titles = [page.read_text(encoding="utf-8").splitlines()[0] for page in pages]
    assert listed == [
        (title.removeprefix("# "), page.name) for title, page in zip(titles, pages, strict=True)
    ]
