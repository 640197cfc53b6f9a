"""Tests of outcomes as pages, records and text."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sottovoce.figures import Chart, Series, Table, page
from sottovoce.figures.html import marked_up
from sottovoce_studies.catalogue import GROUPS, STUDIES
from sottovoce_studies.cells import Cell, Kept, Recomputed, Remembered, run_cells
from sottovoce_studies.report import blocks
from sottovoce_studies.rulings import Ruling, Rulings
from sottovoce_studies.study import Outcome, Row
from sottovoce_studies.verdicts import (
    PAPERS,
    Run,
    by_paper,
    csv_columns,
    merged,
    record,
    tally,
    unrepeated,
    verdict_words,
)

CHART = Chart("Errors", "epsilon", "error", (Series("a", (1.0, 2.0), (0.2, 0.1)),), note="P2: so.")
ROWS: tuple[Row, ...] = (
    {"part": "Errors", "data": "a", "epsilon": 1.0, "error": 0.25, "n": 3},
    {"part": "Errors", "data": "a", "epsilon": 2.0, "error": None, "n": 3},
    {"part": "Counts", "what": "workers", "n": 20},
)
CALLS: list[int] = []


FAILS = Rulings(guarantee=Ruling("fails", "errors <grow>"))
HOLDS = Rulings(numbers=Ruling("holds"), shape=Ruling("holds"))


def outcome(rulings: Rulings = FAILS) -> Outcome:
    return Outcome(ROWS, rulings, "it grows.", (CHART,), (Table(("x",), ((1,),), "More"),))


def double(number: int) -> int:
    CALLS.append(number)
    return 2 * number


def body(size: str = "quick", seed: int | None = None, **changes: Any) -> str:
    done = [
        (STUDIES["label-recovery"], replace(outcome(), **changes)),
        (STUDIES["calibration"], outcome(HOLDS)),
    ]
    run = Run(size, seed, "2030-01-02")  # type: ignore[arg-type]
    return marked_up(blocks(done, run), count(1))


def test_every_group_has_a_title() -> None:
    assert list(PAPERS) == list(GROUPS)


def test_studies_come_in_the_order_of_their_papers() -> None:
    chosen = [STUDIES["calibration"], STUDIES["label-recovery"]]
    assert [*by_paper(chosen)] == ["P2", "beyond the papers"]
    assert by_paper(chosen)["P2"] == (STUDIES["label-recovery"],)


def test_verdicts_are_counted_including_those_that_do_not_occur() -> None:
    done = [(STUDIES["calibration"], outcome()), (STUDIES["label-recovery"], outcome())]
    expected = {"holds": 0, "partly": 0, "fails": 2, "cannot be checked": 0, "not claimed": 0}
    assert tally(done, "guarantee") == expected
    assert tally(done, "shape")["not claimed"] == 2


def test_a_quick_run_says_what_it_leaves_out() -> None:
    study = STUDIES["calibration"]
    words = verdict_words(study, outcome(), "quick")
    verdict = "verdict: guarantee fails: errors <grow>"
    assert words == f"{verdict} (quick run: {study.quick}). It grows."
    assert verdict_words(study, outcome(), "full") == f"{verdict}. It grows."


def test_a_table_has_the_columns_of_its_rows_in_their_order() -> None:
    errors, counts = outcome().tables()
    assert errors.columns == ("data", "epsilon", "error", "n")
    assert counts.columns == ("what", "n")
    assert counts.rows == (("workers", "20"),)


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        ((("a", "1", "x"), ("b", "1", "x")), 0),
        ((("a", "1", "x"), ("a", "2", "x")), 1),
        ((("a", "1", "x"), ("a", "1", "x")), 2),
        ((("a", "1", "x"),), 0),
    ],
)
def test_columns_that_repeat_are_found(rows: tuple[tuple[str, ...], ...], columns: int) -> None:
    assert merged(Table(("data", "epsilon", "error"), rows)) == columns


def test_what_repeats_is_left_out_in_a_terminal() -> None:
    table = Table(("data", "epsilon", "error"), (("a", 1, 2), ("a", 2, 2), ("b", 2, 2)))
    assert unrepeated(table) == [["a", "1", "2"], ["", "2", "2"], ["b", "2", "2"]]


def test_columns_of_a_csv_have_one_type_each() -> None:
    columns = csv_columns(outcome())
    assert columns["n"].tolist() == [3, 3, 20]
    assert columns["what"].tolist() == [None, None, "workers"]
    assert str(columns["error"].tolist()) == "[0.25, nan, nan]"


def test_a_record_has_every_study_with_its_paper_and_seed() -> None:
    found = record([(STUDIES["label-recovery"], outcome())], Run("full", None))
    assert (found["size"], found["seed"]) == ("full", None)
    [study] = found["studies"]
    assert (study["paper"], study["items"], study["seed"]) == ("P2", ["P2 Theorem 1"], 1)
    assert study["verdicts"]["guarantee"] == {"verdict": "fails", "reason": "errors <grow>"}
    assert study["verdicts"]["shape"] == {"verdict": "not claimed", "reason": ""}


def test_the_report_starts_with_how_many_claims_hold_and_links_to_each() -> None:
    text = body()
    summary = text[: text.index("<h2>P2, the worker-private EM")]
    assert re.findall(r"</span> (\d [a-z ]+)</strong>", summary) == [
        *("1 holds", "1 not claimed"),
        *("1 holds", "1 not claimed"),
        *("1 fails", "1 not claimed"),
    ]
    links = re.findall(r'href="#([^"]+)"', summary)
    assert links == ["label-recovery", "calibration"]
    assert all(f'<h3 id="{name}">' in text for name in links)


def test_a_section_has_claim_setting_verdict_figures_and_tables() -> None:
    text = body()
    section = text[text.index('<h3 id="label-recovery">') : text.index("<h2>Beyond")]
    study = STUDIES["label-recovery"]
    assert f"<dd>{study.claim.replace(chr(39), '&#x27;')}.</dd>" in section
    assert "<dd>It grows.</dd>" in section
    assert '<strong class="badge bad">' in section
    assert "errors &lt;grow&gt;" in section
    assert section.count("<svg ") == 1
    assert '<p class="note">P2: so.</p>' in section
    assert "<summary>More (1 rows)</summary>" in section


def test_long_tables_are_folded_and_short_ones_are_not() -> None:
    rows = tuple({"part": "Long", "x": number} for number in range(13))
    assert "<summary>Long (13 rows)</summary>" in body(results=rows)
    assert "<caption>Long</caption>" in body(results=rows[:12])


def test_verdicts_other_than_the_recorded_are_pointed_out() -> None:
    recorded = STUDIES["label-recovery"].recorded
    same = Rulings(*(Ruling(verdict, "so") for verdict in recorded))
    other = Rulings.unchecked("no data")
    own = "<h2>Beyond"
    assert "reached other verdicts" not in body(rulings=same).split(own)[0]
    assert "reached other verdicts: numbers" in body(rulings=other).split(own)[0]


def test_the_report_says_how_it_was_made() -> None:
    text = body("full", 7)
    made = text[text.index("Software and settings") :]
    assert "<dd>sottovoce reproduce --full</dd>" in made
    assert "<dt>Seed</dt><dd>7</dd>" in made
    assert "<dt>Day</dt><dd>2030-01-02</dd>" in made
    assert "quick run" not in text
    assert "This is a quick run" in body()


def test_the_same_outcomes_are_the_same_page() -> None:
    done = [(STUDIES["calibration"], outcome())]
    first, second = (page("t", blocks(done, Run("quick")), report=True) for _ in range(2))
    assert first == second


def test_results_are_remembered_across_studies() -> None:
    CALLS.clear()
    kept, cells = Remembered(), [Cell(double, (number,)) for number in range(3)]
    assert run_cells(cells[:2], kept=kept) == [0, 2]
    assert run_cells(cells, kept=kept) == [0, 2, 4]
    assert CALLS == [0, 1, 2]


def test_recomputed_results_are_stored_without_reading_earlier_ones(tmp_path: Path) -> None:
    CALLS.clear()
    file, cells = tmp_path / "results.jsonl", [Cell(double, (number,)) for number in range(2)]
    run_cells(cells, kept=Kept(file))
    recomputed = Recomputed(file)
    assert run_cells(cells, kept=recomputed) == run_cells(cells, kept=recomputed) == [0, 2]
    assert CALLS == [0, 1, 0, 1]
    assert run_cells(cells, kept=Kept(file)) == [0, 2]
    assert CALLS == [0, 1, 0, 1]
