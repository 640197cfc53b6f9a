"""Tests of which sections of the page of benchmarks a run measures."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("name", ["spark-growth", "chunked-large"])
def test_large_tables_are_left_alone_unless_they_are_asked_for(name: str) -> None:
    from run import _asked

    family = name.partition("-")[0]
    asked = [
        _asked(name, None, large=False),
        _asked(name, family, large=False),
        _asked(name, name, large=False),
        _asked(name, family, large=True),
    ]
    assert asked == [False, False, True, True]


def test_a_name_measures_those_that_begin_with_it() -> None:
    from run import SECTIONS, _asked

    asked = {name for name in SECTIONS if _asked(name, "live", large=False)}
    assert asked == {"live", "live-masked"}
