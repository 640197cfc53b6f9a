"""Pages of one file."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.figures.charts import TRADE_OFF

from sottovoce.errors import OutputExists, UsageError
from sottovoce.figures import (
    Badge,
    Chart,
    Details,
    Facts,
    Figure,
    Figures,
    Heading,
    Level,
    Link,
    Paragraph,
    Series,
    Table,
    check_page,
    page,
    write_page,
)

VOID = {"meta"}
HOSTILE = "<script>alert('1')</script>\"><img src=//evil.example/x onerror=a> & --> ]]>"


class Reader(HTMLParser):
    """The document as a browser reads it: elements, their attributes and the text of each."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append((self.open[-1], data))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def text(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]


@pytest.fixture(scope="module")
def document() -> str:
    rows = ((0.1, "aware", "0.512 to 0.530", 40_000), (8.0, "vote", "-", 500))
    columns = ("epsilon", "aggregator", "band", "workers")
    return page(
        "What to expect",
        [
            Heading("The trade-off"),
            Paragraph("The cost of a guarantee."),
            Figure(TRADE_OFF, "A caption"),
            Figure(replace(TRADE_OFF, series=TRADE_OFF.series[:1], levels=()), "Another"),
            Table(columns, rows, "What to expect"),
        ],
    )


@pytest.fixture(scope="module")
def hostile() -> str:
    series = (Series(HOSTILE, (1.0,), (0.5,)),)
    chart = Chart(HOSTILE, HOSTILE, HOSTILE, series, (Level(HOSTILE, 0.1),), HOSTILE)
    table = Table((HOSTILE,), ((HOSTILE,),), HOSTILE)
    phrases = Paragraph((HOSTILE, Link(HOSTILE, "x"), Badge(HOSTILE, "bad")))
    folded = Details(HOSTILE, (Facts(((HOSTILE, HOSTILE),)), phrases, Heading(HOSTILE, 3, "x")))
    return page(
        HOSTILE,
        [Heading(HOSTILE), Paragraph(HOSTILE), table, Figure(chart, HOSTILE), folded],
        report=True,
    )


def test_a_page_is_well_formed(document: str) -> None:
    assert Reader(document).open == []


def test_no_two_elements_share_a_name(document: str) -> None:
    names = [attrs["id"] for _, attrs in Reader(document).elements if "id" in attrs]
    assert len(names) > 0
    assert len(set(names)) == len(names)


def test_every_reference_leads_to_a_name_on_the_page(document: str) -> None:
    names = {attrs["id"] for _, attrs in Reader(document).elements if "id" in attrs}
    used = re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', document)
    assert len(used) > 0
    assert {first or second for first, second in used} <= names


def test_the_policy_lets_nothing_in(document: str) -> None:
    policy = next(m["content"] for m in Reader(document).named("meta") if "http-equiv" in m)
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")


def test_nothing_leads_elsewhere(document: str, hostile: str) -> None:
    for text in (document, hostile):
        attributes = [pair for _, attrs in Reader(text).elements for pair in attrs.items()]
        assert {n for n, v in attributes if v and "://" in v} <= {"xmlns", "xmlns:xlink"}
        assert {
            n for n, _ in attributes if n in ("src", "srcset", "action", "data", "ping")
        } == set()
        assert {
            v for n, v in attributes if n.endswith("href") and not (v or "").startswith("#")
        } == set()
        assert "@import" not in text


def test_hostile_names_stay_text(hostile: str) -> None:
    reader = Reader(hostile)
    assert reader.open == []
    assert reader.named("script") == []
    assert reader.named("img") == []
    for tag in (
        "title", "h1", "h2", "h3", "p", "caption", "th", "td", "summary", "dt", "dd", "a", "strong"
    ):  # fmt: skip
        assert HOSTILE in "".join(reader.text(tag)), tag


def test_what_cannot_be_written_or_turns_direction_is_replaced(tmp_path: Path) -> None:
    write_page("a\udcffb\x00c\u202ed", [], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>a\ufffdb\ufffdc\ufffdd</h1>" in text


def test_a_figure_is_told_to_those_who_cannot_see_it(document: str) -> None:
    figure, _ = Reader(document).named("svg")
    assert figure["role"] == "img"
    assert figure["aria-label"] == (
        "Accuracy against epsilon: 164 workers, 800 tasks. accuracy (higher is better) against "
        "epsilon per answer."
    )


def test_the_numbers_of_a_figure_stand_below_it(document: str) -> None:
    below = document.split("<details>")[1].split("</details>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", below)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
    assert cells[0] == ["epsilon per answer", "series", "accuracy", "low", "high"]
    assert cells[1][1:] == ["recommended: subset-selection + aware", "0.512", "0.492", "0.532"]
    assert cells[-1] == ["–", "clean answers", "0.935", "", ""]
    assert len(cells) == 1 + 4 * 6 + 2


def test_the_note_is_text(document: str) -> None:
    assert TRADE_OFF.note in Reader(document).text("p")


def test_numbers_stand_to_the_right_and_words_to_the_left(document: str) -> None:
    row = re.search(r"<tr>(<td[^>]*>0\.1</td><td>aware.*?)</tr>", document)
    assert row is not None
    assert row[1] == (
        '<td class="number">0.1</td><td>aware</td><td class="number">0.512 to 0.530</td>'
        '<td class="number">40,000</td>'
    )


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(UsageError, match="has 1 cells for 2 columns"):
        Table(("a", "b"), (("1",),))


def test_a_page_is_not_replaced_unasked(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    with pytest.raises(OutputExists):
        check_page(tmp_path / "page.html")
    with pytest.raises(OutputExists):
        write_page("t", [], tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "mine"


def test_the_same_blocks_are_the_same_page() -> None:
    chart = Chart("t", "x", "y", (Series("a", (1.0,), (0.5,)),))
    assert page("t", [Figure(chart)]) == page("t", [Figure(chart)])


def test_a_badge_is_told_by_its_words_and_a_sign() -> None:
    text = page("t", [Paragraph((Badge("holds", "good"), " always"))])
    assert (
        '<p><strong class="badge good"><span aria-hidden="true">✓</span> holds</strong> always</p>'
        in text
    )


def test_a_link_leads_to_its_heading() -> None:
    reader = Reader(page("t", [Paragraph((Link("there", "p1-7.3-users"),)),
                               Heading("here", 3, "p1-7.3-users")]))  # fmt: skip
    assert reader.named("a") == [{"href": "#p1-7.3-users"}]
    assert reader.named("h3") == [{"id": "p1-7.3-users"}]


def test_what_repeats_is_written_once_over_its_rows() -> None:
    rows = (("a", "x", 1), ("a", "x", 1), ("a", "y", 2), ("b", "y", 2))
    text = page("t", [Table(("data", "method", "n"), rows, merged=2)])
    assert re.findall(r"<tr>(<td.*?)</tr>", text) == [
        '<td rowspan="3">a</td><td rowspan="2">x</td><td class="number">1</td>',
        '<td class="number">1</td>',
        '<td>y</td><td class="number">2</td>',
        '<td>b</td><td>y</td><td class="number">2</td>',
    ]


def test_figures_side_by_side_and_folded_ones_keep_their_names_apart() -> None:
    figure = Figure(Chart("t", "x", "y", (Series("a", (1.0,), (0.5,)),)))
    reader = Reader(page("t", [Figures((figure, figure)), Details("more", (figure,))]))
    names = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert reader.open == []
    assert len(reader.named("svg")) == 3
    assert len(set(names)) == len(names)


def test_small_numbers_on_a_logarithmic_axis_are_told_by_their_digits() -> None:
    series = (Series("a", (1.0, 2.0), (1.234e-12, 1.0)),)
    text = page("t", [Figure(Chart("t", "x", "y", series, y_scale="log"))])
    assert '<td class="number">1.234e-12</td>' in text


@pytest.mark.parametrize("anchor", ["", "Upper", "a b", 'a"b', "1st"])
def test_an_anchor_that_would_break_a_page_is_refused(anchor: str) -> None:
    with pytest.raises(UsageError, match="an anchor is a letter and"):
        Link("there", anchor)


def test_an_unknown_tone_or_level_is_refused() -> None:
    with pytest.raises(UsageError, match="a tone is one of good, partly, bad, open, not 'fine'"):
        Badge("holds", "fine")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="level 2 or 3, not 1"):
        Heading("t", 1)  # type: ignore[arg-type]


def test_only_a_report_has_the_style_of_reports() -> None:
    assert "max-width: 76rem" in page("t", [], report=True)
    assert "76rem" not in page("t", [])
