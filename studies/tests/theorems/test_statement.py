"""Every published figure has a label."""

from __future__ import annotations

import math

import pytest

from sottovoce.errors import UsageError
from sottovoce_studies import theorems
from sottovoce_studies.theorems import Published


def test_a_published_figure_is_printed_with_its_verdict_and_what_is_sound() -> None:
    figure = Published(value=2.0, sound=1.5, holds=True, source="P9 Thm. 1", note="Not sharp.")
    assert str(figure) == "P9 Thm. 1 prints 2; holds here; sound: 1.5. Not sharp."


@pytest.mark.parametrize("field", ["value", "sound"])
def test_a_figure_that_is_none_is_refused(field: str) -> None:
    figures = {"value": 1.0, "sound": 1.0} | {field: math.nan}
    with pytest.raises(UsageError, match=r"P9 Thm\. 1 has no value at these parameters"):
        Published(**figures, holds=True, source="P9 Thm. 1", note="")


@pytest.mark.parametrize("name", [n for n in theorems.__all__ if n.startswith("published_")])
def test_whatever_is_called_published_returns_a_labelled_figure(name: str) -> None:
    assert getattr(theorems, name).__annotations__["return"] == "Published"


def test_the_public_names_are_sorted_and_there() -> None:
    assert theorems.__all__ == sorted(theorems.__all__)
    assert all(hasattr(theorems, name) for name in theorems.__all__)
