"""Tests that every study is on its page with the recorded verdict."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from sottovoce_studies.catalogue import STUDIES
from sottovoce_studies.claims import CLAIMS
from sottovoce_studies.rulings import ASPECTS
from sottovoce_studies.verdicts import by_paper


@pytest.fixture(scope="module")
def studies_page() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parent / "studies_page.py"))


@pytest.fixture
def page(studies_page: dict[str, Any]) -> str:
    return str(studies_page["PAGE"].read_text(encoding="utf-8"))


def record() -> dict[str, Any]:
    """A record of all studies, with the verdicts they record."""
    studies = [
        {
            "name": study.name,
            "paper": paper,
            "items": list(study.items),
            "claim": study.claim,
            "verdicts": {
                aspect: {"verdict": verdict, "reason": "0.2 | 0.3 is a*b < c"}
                for aspect, verdict in zip(ASPECTS, study.recorded, strict=True)
            },
            "choices": [{"values": {"ties": "first"}, "met": 1, "of": 2, "distance": 3.25}],
            "explanation": "So it is.",
        }
        for paper, group in by_paper([*STUDIES.values()]).items()
        for study in group
    ]
    claims = [
        {
            "claim": claim.name,
            "section": claim.section,
            "place": claim.place,
            "text": claim.text,
            "judge": claim.judge,
            "verdict": "fails",
            "reason": "a | b",
        }
        for claim in CLAIMS.values()
    ]
    return {"version": "1.0", "size": "full", "seed": None, "studies": studies, "claims": claims}


def test_every_study_is_on_the_page_with_the_verdict_it_records(
    studies_page: dict[str, Any], page: str
) -> None:
    recorded = {name: study.recorded for name, study in STUDIES.items()}
    assert studies_page["verdicts_on"](page) == recorded, "run: make studies"


def test_a_record_is_written_between_the_marks_and_nowhere_else(
    studies_page: dict[str, Any], page: str
) -> None:
    written = studies_page["with_verdicts"](page, record())
    assert written.split("<!-- verdicts -->")[0] == page.split("<!-- verdicts -->")[0]
    assert written.split("<!-- end -->")[1] == page.split("<!-- end -->")[1]
    assert studies_page["with_verdicts"](written, record()) == written


def test_words_of_a_record_stay_in_their_cell(studies_page: dict[str, Any], page: str) -> None:
    written = studies_page["with_verdicts"](page, record())
    assert r": 0.2 \| 0.3 is a\*b &lt; c. So it is." in written
    assert studies_page["verdicts_on"](written).keys() == STUDIES.keys()


def test_choices_tried_are_listed_with_their_distance(
    studies_page: dict[str, Any], page: str
) -> None:
    written = studies_page["with_verdicts"](page, record())
    assert "Choices tried: ties first (1 of 2, rms z 3.25)." in written


def test_every_claim_is_on_its_page(studies_page: dict[str, Any]) -> None:
    page = studies_page["CLAIMS_PAGE"].read_text(encoding="utf-8")
    assert studies_page["claims_on"](page).keys() == CLAIMS.keys(), "run: make studies"


def test_claims_that_need_no_run_are_on_their_page_as_recorded(
    studies_page: dict[str, Any],
) -> None:
    on_page = studies_page["claims_on"](studies_page["CLAIMS_PAGE"].read_text(encoding="utf-8"))
    fixed = {name: claim.fixed.verdict for name, claim in CLAIMS.items() if claim.fixed}
    assert {name: on_page[name] for name in fixed} == fixed, "run: make studies"


def test_a_record_without_a_claim_is_refused(studies_page: dict[str, Any]) -> None:
    page = studies_page["CLAIMS_PAGE"].read_text(encoding="utf-8")
    with pytest.raises(SystemExit, match=r"the record lacks P1-\S+: a study must judge each"):
        studies_page["with_claims"](page, {**record(), "claims": record()["claims"][1:]})


def test_a_record_of_some_studies_is_refused(studies_page: dict[str, Any], page: str) -> None:
    part = {**record(), "studies": record()["studies"][1:]}
    with pytest.raises(SystemExit, match=r"the record lacks \S+: run all studies"):
        studies_page["with_verdicts"](page, part)
