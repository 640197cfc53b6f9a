"""Tests that the list of claims has every claim of the papers' texts, each with its judge.

`claims_by_section.tsv` is a catalogue of the papers' claims, section by section, made apart from
the list: for each claim a keyword, or several that are separated by `|`.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from sottovoce_studies.catalogue import STUDIES
from sottovoce_studies.claims import CLAIMS, Claim

CATALOGUE = Path(__file__).parent / "claims_by_section.tsv"
NAME = re.compile(r"(P[1-4])-([A-Za-z0-9.]+)-([1-9]\d*)")
LONGEST = 40
"""Words of a claim's text."""
WITHOUT_RUN = ("", "proof", "calculator")


def place_of(claim: Claim) -> tuple[str, str]:
    """The paper and the section in a claim's name."""
    found = NAME.fullmatch(claim.name)
    assert found is not None, f"{claim.name} is not like P1-6.1-1"
    return found[1], found[2]


def keywords() -> dict[tuple[str, str], list[str]]:
    """The keywords of the catalogue by paper and section, in the order of the papers."""
    found: dict[tuple[str, str], list[str]] = {}
    lines = csv.DictReader(
        CATALOGUE.read_text("utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    for line in lines:
        found.setdefault((line["paper"], line["section"]), []).append(line["keyword"])
    return found


def in_section(place: tuple[str, str]) -> list[Claim]:
    return [claim for claim in CLAIMS.values() if place_of(claim) == place]


def unmatched(wanted: Sequence[str], claims: Sequence[Claim]) -> list[str]:
    """Keywords for which no claim of their own is left, with as many matched as possible."""
    texts = [f"{claim.place} {claim.text}".lower() for claim in claims]
    fits = np.array(
        [
            [any(word in text for word in each.lower().split("|")) for text in texts]
            for each in wanted
        ]
    ).reshape(len(wanted), len(texts))
    matched = maximum_bipartite_matching(csr_array(fits), perm_type="column")
    return [each for each, claim in zip(wanted, matched, strict=True) if claim < 0]


def made_up(text: str) -> Claim:
    return Claim("P1-6-1", "6", "text", text, "", None)


@pytest.mark.parametrize("place", keywords(), ids="-".join)
def test_every_claim_of_a_section_is_in_the_list(place: tuple[str, str]) -> None:
    assert unmatched(keywords()[place], in_section(place)) == []


def test_each_keyword_needs_a_claim_of_its_own() -> None:
    both = made_up("It falls and is flat.")
    assert unmatched(["falls", "flat"], [both]) in (["falls"], ["flat"])
    assert unmatched(["falls", "flat|even"], [both, made_up("It falls.")]) == []
    assert unmatched(["falls"], []) == ["falls"]


def test_claims_are_in_the_order_of_the_papers_and_numbered_by_section() -> None:
    sections = list(dict.fromkeys(map(place_of, CLAIMS.values())))
    assert sections == list(keywords())
    for place in sections:
        numbers = [int(claim.name.rpartition("-")[2]) for claim in in_section(place)]
        assert numbers == sorted(set(numbers)), place


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_has_a_judge_or_a_verdict_with_its_reason(claim: Claim) -> None:
    if claim.fixed is None:
        assert claim.judge in STUDIES, "a study judges it, or it has its verdict"
        return
    assert claim.judge in WITHOUT_RUN or claim.judge.startswith("sottovoce ")
    assert claim.fixed.verdict != "not claimed"
    assert claim.fixed.reason


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_a_claim_is_short(claim: Claim) -> None:
    assert claim.section
    assert claim.place
    assert claim.text.endswith(".")
    assert len(claim.text.split()) <= LONGEST
