"""Tests that the tables of guarantees.md are up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="module")
def promises() -> dict[str, Any]:
    return runpy.run_path(str(Path(__file__).parent / "promises.py"))


def test_the_tables_on_the_page_are_up_to_date(promises: dict[str, Any]) -> None:
    page = promises["PAGE"].read_text(encoding="utf-8")
    assert page == promises["written"](page), "run: make docs"


def test_every_table_is_on_the_page_once(promises: dict[str, Any]) -> None:
    page = promises["PAGE"].read_text(encoding="utf-8")
    assert sorted(re.findall(r"<!-- table: (\S+) -->", page)) == sorted(promises["TABLES"])


def _cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def test_a_claim_of_1_for_100_answers_is_4_6_in_truth(promises: dict[str, Any]) -> None:
    """The README and the changelog quote these figures."""
    rows = {(row[0], row[2]): row[3:] for row in _cells(promises["two_layer"]())}
    assert rows["1", "100"] == ["4.605", "67.2", "0.2433"]


def test_the_loss_between_answering_and_not_grows_without_end(promises: dict[str, Any]) -> None:
    losses = [float(row[1].replace(",", "")) for row in _cells(promises["factorization"]())]
    assert losses[-1] > 9 * losses[-2] > 81 * losses[-3]
