"""Tests that results are cached for the code that computed them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sottovoce_studies import cells
from sottovoce_studies.cells import study_stamp

FILES = {
    "judged.py": "from sottovoce_studies.computed import cell",
    "computed.py": "from sottovoce_studies import shared\nimport math",
    "shared.py": "VALUE = 1",
    "other.py": "VALUE = 2",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
        monkeypatch.setitem(sys.modules, f"sottovoce_studies.{name[:-3]}", cells)
    monkeypatch.setattr(cells, "ROOT", tmp_path)
    monkeypatch.setattr(cells, "study_stamp", study_stamp.__wrapped__)
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "differs"),
    [("computed.py", True), ("shared.py", True), ("judged.py", False), ("other.py", False)],
)
def test_a_result_rests_on_its_module_and_what_that_imports(
    folder: Path, changed: str, differs: bool
) -> None:
    before = cells.study_stamp("sottovoce_studies.computed")
    (folder / changed).write_text(f"{FILES[changed]}\nMORE = 0")
    assert (cells.study_stamp("sottovoce_studies.computed") != before) is differs


def test_a_function_of_another_package_rests_on_its_file() -> None:
    assert study_stamp(__name__) != study_stamp("studies.tests.test_cells")


def test_a_function_of_the_interpreter_rests_on_it() -> None:
    assert study_stamp("builtins") == "builtins"
