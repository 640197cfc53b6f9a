"""The built site: every page, every public name, and no link or asset that is missing."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import markdown
import pytest
from filelock import FileLock
from website.build import build
from website.llms import first_sentence
from website.mathml import equation
from website.navigation import NOTEBOOKS, read_settings, section_pages
from website.notebooks import notebook_page
from website.pages import PROJECT_PAGES, ROOT, site_page
from website.site_checks import BuiltPage, external_assets, faults, read_pages

import sottovoce
import sottovoce.crowdkit
import sottovoce.testing

DOCS = ROOT / "docs"
SETTINGS = read_settings(ROOT / "mkdocs.yml")
NAVIGATION = [path for _, path in section_pages(SETTINGS["nav"])]
PIXEL = base64.b64encode(b"\x89PNG").decode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The site, built once for all processes of the run."""
    place = tmp_path_factory.getbasetemp()
    folder = (place if worker_id == "master" else place.parent) / "documentation-site"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            build(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, BuiltPage]:
    return read_pages(site)


def test_every_page_is_in_the_navigation_once() -> None:
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert sorted(NAVIGATION) == sorted({*pages, *PROJECT_PAGES.values(), NOTEBOOKS})


def test_every_page_and_notebook_is_built(pages: dict[str, BuiltPage]) -> None:
    notebooks = [f"notebooks/{file.stem}/" for file in (DOCS / "notebooks").glob("*.ipynb")]
    paths = [path for path in NAVIGATION if path != NOTEBOOKS]
    expected = {re.sub(r"(^|/)index\.md$|\.md$", "/", path).removeprefix("/") for path in paths}
    assert {*expected, *notebooks} <= set(pages)


def test_no_link_anchor_or_image_is_broken(site: Path, pages: dict[str, BuiltPage]) -> None:
    assert faults(site, pages, SETTINGS["site_url"]) == []


def test_nothing_is_loaded_from_another_host(site: Path, pages: dict[str, BuiltPage]) -> None:
    assert external_assets(site, pages) == []


def test_every_public_name_is_in_the_api_reference_once(pages: dict[str, BuiltPage]) -> None:
    found = [
        anchor
        for path, page in pages.items()
        if path.startswith("reference/api/")
        for anchor in page.anchors
    ]
    names = [f"sottovoce.{name}" for name in sottovoce.__all__]
    names += [f"sottovoce.crowdkit.{name}" for name in sottovoce.crowdkit.__all__]
    names += [f"sottovoce.testing.{name}" for name in sottovoce.testing.__all__]
    assert [name for name in names if found.count(name) != 1] == [], "add ::: NAME to a page"


def test_api_pages_list_each_name_once() -> None:
    listed = re.findall(
        r"^::: sottovoce\.(\w+)$",
        "\n".join(page.read_text("utf-8") for page in (DOCS / "reference" / "api").glob("*.md")),
        re.MULTILINE,
    )
    assert sorted(set(listed) - {"crowdkit", "testing"}) == sorted(sottovoce.__all__)
    assert len(listed) == len(set(listed))


def test_a_signature_and_a_docstring_are_shown(site: Path) -> None:
    page = (site / "reference" / "api" / "tables" / "index.html").read_text("utf-8")
    text = re.sub(r"<[^>]+>", "", page)
    assert "ties: Literal[" in text
    assert "majority-vote" in text
    assert 'class="gp">&gt;&gt;&gt;' in page


@pytest.mark.parametrize("words", ["randomized response", "backup"])
def test_the_search_index_finds(site: Path, words: str) -> None:
    index = json.loads((site / "search.json").read_text("utf-8"))
    assert words in json.dumps(index, ensure_ascii=False).lower()


def test_llms_txt_lists_every_page(site: Path, pages: dict[str, BuiltPage]) -> None:
    text = (site / "llms.txt").read_text("utf-8")
    assert text.startswith("# Sottovoce\n\n> Sottovoce infers")
    links = re.findall(r"^- \[.+?\]\((\S+?)\)", text, re.MULTILINE)
    assert len(links) >= len(NAVIGATION) - 1
    assert [link for link in links if link.removeprefix(SETTINGS["site_url"]) not in pages] == []


def render(text: str) -> str:
    extensions = ["tables", "pymdownx.superfences", "website.mathml"]
    return str(markdown.markdown(text, extensions=extensions))


def test_equations_become_mathml() -> None:
    html = render("Let $a_1 < b$ hold.\n\n$$\n\\frac{x}{y}\n= \\sum_{k} w_k\n$$\n")
    assert html.count("<math") == 2
    assert 'display="block"' in html
    assert "<mfrac>" in html
    assert "$" not in html


def test_equations_are_rendered_in_tables_and_lists() -> None:
    html = render("| a | b |\n|---|---|\n| $x^2$ | $y_1$ |\n\n- $z$ is\n  $$ w $$\n")
    assert html.count("<math") == 4


def test_aligned_equations_have_columns() -> None:
    html = render("$$\n\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}\n$$")
    assert html.count('columnalign="right"') == 2


@pytest.mark.parametrize(
    "text",
    [
        "`$x$` and ``$y` $z``",
        "```sh\necho $HOME $PATH\n```",
        "    indented $x$ code\n",
        "costs 5$ or 6$ each",
        "\\$x\\$",
        "$HOME and $PATH",
    ],
)
def test_code_and_money_are_not_equations(text: str) -> None:
    html = render(text)
    assert "<math" not in html
    assert "$" in html


@pytest.mark.parametrize("tex", [r"\nosuchcommand x", r"\frac{x}", r"{x", r"\left( x", r"x \\ y"])
def test_a_wrong_equation_is_an_error(tex: str) -> None:
    with pytest.raises(ValueError, match="equation"):
        equation(tex)


def test_links_lead_to_pages_or_to_the_source() -> None:
    text = "[a](../reference/cli.md#x) [b](../../CONTRIBUTING.md) [c](../../src/) `[d](e.md)`"
    assert site_page(text, "docs/how-to/x.md").startswith(
        "[a](../reference/cli.md#x) [b](../project/contributing.md) "
        "[c](https://github.com/sottovoce/sottovoce/blob/main/src)"
    )


def test_comments_are_left_out_and_doctests_are_named() -> None:
    text = "<!-- unseen\n\n```console\n$ x\n```\n-->\n\n```python\n>>> 1\n1\n\n```\n"
    assert site_page(text, "docs/x.md").strip() == "```pycon\n>>> 1\n1\n```"


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    html = ["<table>", "<tr><td>5</td></tr></table>"]
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": ["hello\x1b[31m red\x1b[0m\n"]},
        {"output_type": "execute_result", "data": {"text/html": html, "text/plain": "5"}},
        {"output_type": "display_data", "data": {"image/png": PIXEL, "text/plain": "A plot"}},
        {"output_type": "display_data", "data": {"image/svg+xml": "<svg xmlns='x'/>"}},
    ]
    last = [{"output_type": "execute_result", "data": {"text/plain": ["2"]}}]
    words = ["# A first look\n", "\n", "See [Tables](../reference/tables.md) and $x^2$."]
    cells = [
        {"cell_type": "markdown", "source": words},
        {"cell_type": "code", "source": "print('hello')", "outputs": outputs},
        {"cell_type": "code", "source": ["1 + 1"], "outputs": last},
    ]
    file = tmp_path / "first-look.ipynb"
    file.write_text(json.dumps({"cells": cells, "nbformat": 4, "nbformat_minor": 5}))
    return file


def test_a_notebook_becomes_a_page(notebook: Path, tmp_path: Path) -> None:
    text = notebook_page(notebook, tmp_path / "pages")
    assert "```python\nprint('hello')\n```" in text
    assert "hello red" in text
    assert '<div class="notebook-output">\n<table>' in text
    images = re.findall(r"!\[(.+?)\]\((.+?)\)", text)
    assert [words for words, _ in images] == ["A plot", "Figure"]
    assert all((tmp_path / "pages" / file).is_file() for _, file in images)
    assert text.rstrip().endswith("\n2\n```")


def test_a_notebook_is_rendered_as_code_and_outputs(notebook: Path, tmp_path: Path) -> None:
    text = site_page(notebook_page(notebook, tmp_path / "pages"), "docs/notebooks/first-look.ipynb")
    html = render(text)
    assert html.count("<pre") == 4
    assert html.count("notebook-output") == 3
    assert "`" not in html
    assert "<td>5</td>" in html


def test_first_sentences_are_plain_text() -> None:
    assert first_sentence("# T\n\n| a |\n|---|\n\nA **b** [c](d.md). E.") == "A b c."
