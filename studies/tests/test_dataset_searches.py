"""Tests of searches of the dataset cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from sottovoce_studies.dataset_searches import search


def test_a_search_names_what_was_searched(real_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(real_data))
    found = search(39, 108).run()
    assert "by workers 39, tasks 108: found 1 exact (bluebirds)" in found


def test_an_empty_cache_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOTTOVOCE_DATA", str(tmp_path))
    assert search(39, 108).run() == "no dataset is in the cache to search"
