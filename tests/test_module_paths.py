"""Modules that are named in texts exist: in tables, preloads, child processes and hooks."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "src", ROOT / "studies" / "src", ROOT / "tests" / "service")
PATH = re.compile(r"(sottovoce(?:_studies)?(?:\.[a-z_0-9]+)+)(?::(\w+))?")
FILES = (".css", ".db")
"""Endings of files that are named after the product."""


def _texts(tree: ast.Module) -> Iterator[str]:
    """Texts of a module, except names of loggers and of groups of entry points."""
    names = {
        id(argument)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).endswith(("getLogger", "entry_points"))
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in names:
            yield node.value


def _named() -> set[str]:
    files = [file for folder in FOLDERS for file in folder.rglob("*.py")]
    texts = {text for file in files for text in _texts(ast.parse(file.read_bytes()))}
    studies = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text(encoding="utf-8"))
    texts |= set(studies["project"]["entry-points"]["sottovoce.commands"].values())
    return {text for text in texts if PATH.fullmatch(text) and not text.endswith(FILES)}


@pytest.mark.parametrize("text", sorted(_named()))
def test_a_module_that_a_text_names_exists(text: str) -> None:
    found = PATH.fullmatch(text)
    assert found is not None
    module = import_module(found[1])
    assert found[2] is None or hasattr(module, found[2])


def test_texts_name_child_processes_preloads_hooks_and_commands() -> None:
    named = _named()
    assert {
        "sottovoce.server.inference_process.child",
        "sottovoce.server.campaigns.forecast_simulation",
        "sottovoce.live.worker",
        "sottovoce.live.server.feature",
        "sottovoce.server.web",
        "sottovoce.cli.inference:infer",
        "sottovoce_studies.command:reproduce",
    } <= named
