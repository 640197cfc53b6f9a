"""A keyholder forgets nothing: its log is whole, or it stops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sottovoce.keyholder.fact_log import FactLog, LogDamaged

FACTS: list[dict[str, Any]] = [
    {"fact": "dealt", "digest": "ab"},
    {"fact": "confirmed", "number": 0},
    {"fact": "opened"},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "facts.jsonl"
    log = FactLog(file, now=lambda: "2026-11-16T11:00:00+00:00")
    for fact in FACTS:
        log.add(fact)
    return file


def test_facts_are_read_as_they_were_written(path: Path) -> None:
    found = FactLog(path).facts()
    assert [logged.fact for logged in found] == FACTS
    assert {logged.at for logged in found} == {"2026-11-16T11:00:00+00:00"}


@pytest.mark.parametrize("number", range(4))
def test_a_changed_line_is_found(path: Path, number: int) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number] = lines[number].replace(b"2026", b"2027")
    path.write_bytes(b"".join(lines))
    with pytest.raises(LogDamaged, match=f"line {number + 1}: .* must not go on"):
        FactLog(path).facts()


def test_lost_lines_are_found(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]))
    with pytest.raises(LogDamaged, match="but are missing"):
        FactLog(path).facts()


def test_lines_in_another_order_are_found(path: Path) -> None:
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([first, *reversed(others)]))
    with pytest.raises(LogDamaged, match="not what was written"):
        FactLog(path).facts()


def test_a_line_that_a_crash_cut_short_is_taken_off(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"fact":{"fact":"ope')
    log = FactLog(path)
    assert [logged.fact for logged in log.facts()] == FACTS
    log.add({"fact": "refused"})
    assert len(log.facts()) == 4
