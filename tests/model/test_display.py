"""Reprs of at most one screen, and HTML that shows no more than it should."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import sottovoce
from sottovoce import Domain, Gold, Guarantee, Policy, Reports, Result, Submission, Target, Unit
from sottovoce.model import Calibration, Provenance
from sottovoce.model.display import LONGEST, SHOWN, Display, Displayed
from sottovoce.privacy.audit import Audit

MANY = 1_000_000
NASTY = "<script>alert(1)</script>\x1b[31m\n&\"'"


def names(count: int, start: str) -> Any:
    return np.array([f"{start} {i}" for i in range(count)], dtype=object)


@pytest.fixture(scope="module")
def large() -> Result:
    return Result(
        names(MANY, NASTY * 20),
        names(1000, NASTY),
        Domain.categorical([NASTY, "b"]),
        np.zeros(MANY, np.int32),
        np.ones(1000),
        np.full(MANY, 3),
        5,
        True,
        Provenance("dawid-skene"),
        np.full(MANY, 0.75),
    )


def policy(labels: int = 2) -> Policy:
    domain = Domain.categorical([f"{NASTY[:7]} {i}" for i in range(labels)])
    return sottovoce.make_policy(domain, "randomized-response", Target(1.0, answers=3))


def values(large: Result) -> list[Displayed]:
    reports = Reports.of(
        np.arange(MANY) % 1000,
        np.arange(MANY),
        np.zeros(MANY, int),
        domain=Domain.categorical(names(MANY, "secret").tolist()),
        tasks=names(MANY, NASTY),
    )
    tasks = tuple(f"t{i:07}" for i in range(MANY))
    return [
        large,
        reports,
        policy(50_000),
        Guarantee(Unit.WORKER, 3, 1.5, 1e-6, False, ("a" * 50,) * 3, "b" * 100),
        Gold(large.tasks, large.tasks),
        Submission("f4a3" * 16, NASTY, tasks, tasks),
        Audit(1.0, 0.0, 0.95, 10**6, "score 3", "first over second", 0.3, 0.1),
        sottovoce.inspect({"worker": [NASTY, "b"], "task": ["t", "t"], "answer": ["x", "y"]}),
    ]


def test_every_repr_fits_on_a_screen_and_every_page_on_a_few(large: Result) -> None:
    for value in values(large):
        assert len(repr(value)) <= LONGEST, type(value)
        assert repr(value).replace("\n", "").isprintable(), type(value)
        html = value._repr_html_()
        assert html.count("<tr>") <= SHOWN + 1
        assert len(html) < 15_000, type(value)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))


def test_html_has_no_script_no_link_and_no_colour(large: Result) -> None:
    allowed = {"div", "style", "p", "strong", "dl", "dt", "dd", "table", "thead", "tbody", "tr"}
    for value in values(large):
        parser = Tags()
        parser.feed(value._repr_html_())
        assert {tag for tag, _ in parser.seen} <= allowed | {"th", "td", "span", "br"}
        attributes = {name for _, attrs in parser.seen for name, _ in attrs}
        assert attributes <= {"class", "style", "scope", "tabindex", "role", "aria-label"}
        html = value._repr_html_()
        assert not re.search(r"url\(|@import|#[0-9a-f]{3,6}\b|rgb", html.split("</style>")[0])
        assert "<script" not in html


def test_a_result_shows_confidence_as_bars(large: Result) -> None:
    assert large._repr_html_().count('<span style="width:75%">') == SHOWN
    assert "… 999,980 more rows" in large._repr_html_()
    assert repr(large).endswith("more rows")


def test_raw_answers_are_in_no_repr() -> None:
    answers = {
        "worker": ["ann", "bob", "cy"] * 20,
        "task": [f"q{i // 3}" for i in range(60)],
        "answer": ["no", "yes", "no"] * 20,
    }
    table = sottovoce.read(answers)
    for text in (repr(table), table._repr_html_()):
        assert "ann" not in text
        assert "q1" not in text
    looked = sottovoce.inspect(table)
    assert any("always answers" in each.reason for each in looked.suspicious)
    assert "always" not in repr(looked) + looked._repr_html_()


def test_a_policy_shows_its_odds_and_a_broken_one_says_why() -> None:
    html = policy()._repr_html_()
    assert 'aria-label="73 of 100"' in html
    assert html.count("●") == 73
    assert html.count("○") == 27
    unknown = Policy(Domain.categorical("ab"), {"name": "none"}, Calibration.SOUND, None)
    assert "no mechanism" in unknown._repr_html_()
    sealed = sottovoce.make_policy(Domain.categorical("ab"), "sealed-sum", Target(1.0))
    assert "●" not in sealed._repr_html_()


@pytest.mark.parametrize(
    ("epsilon", "delta", "right"), [(0.0, 0.0, 0.5), (1.0, 0.0, 0.7311), (1e4, 0, 1), (0.0, 1.0, 1)]
)
def test_guesses_are_bounded_by_the_guarantee(epsilon: float, delta: float, right: float) -> None:
    held = Guarantee(Unit.ANSWER, 1, epsilon, delta)
    assert held.guesses_right == pytest.approx(right, abs=1e-4)
    assert f"{np.ceil(100 * right - 1e-9):.0f} times of 100" in held._repr_html_()


def test_no_finite_epsilon_means_every_guess_may_be_right() -> None:
    assert Guarantee(Unit.WORKER, 1, np.inf).guesses_right == 1


def test_a_text_drops_rows_before_facts() -> None:
    facts = tuple((f"fact {i}", "x" * 300) for i in range(8))
    text = Display("title", facts, ("a", "b"), (("y" * 99, 1234),) * 6, 6).text()
    assert len(text) <= LONGEST
    assert text.count("fact") == 8
    assert "more row" in text
