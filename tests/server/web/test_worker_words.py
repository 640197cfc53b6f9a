"""The worker's page says the same things in both languages."""

from __future__ import annotations

import re

import pytest

from sottovoce.model.budget import DEFAULT_BUDGET
from sottovoce.server.web.worker_page import STATIC, worker_files

EXPORT = re.compile(r"^export const (\w+) =\s*(?:\(([^)]*)\) =>)?", re.M)
KEY = re.compile(r"^  (\w+): ", re.M)
USED = re.compile(r"\bt\.(\w+)")


def _text(name: str) -> str:
    return (STATIC / "worker" / name).read_text("utf-8")


@pytest.mark.parametrize("form", [EXPORT, KEY], ids=["texts", "troubles"])
def test_both_languages_have_the_same_texts_with_the_same_blanks(form: re.Pattern[str]) -> None:
    english, japanese = (form.findall(_text(name)) for name in ("english.js", "japanese.js"))
    assert len(english) > 20
    assert english == japanese


def test_every_text_is_said_somewhere_and_none_is_missing() -> None:
    modules = [name for name in worker_files() if name.startswith("worker/")]
    said = {
        word
        for name in modules
        if name not in ("worker/english.js", "worker/japanese.js")
        for word in USED.findall((STATIC / name).read_text("utf-8"))
    }
    assert said == {name for name, _ in EXPORT.findall(_text("english.js"))}


def test_the_page_has_the_default_budget_of_a_device() -> None:
    found = re.findall(r"FIRST_LIMIT = (\d+);", _text("storage.js"))
    assert [float(limit) for limit in found] == [DEFAULT_BUDGET.worker_epsilon]


def test_no_text_is_left_in_the_other_language() -> None:
    kana = re.compile(r"[ぁ-んァ-ン]")
    spoken = re.sub(r"//.*", "", _text("english.js"))
    assert not kana.search(spoken)
    for line in _text("japanese.js").splitlines():
        text = re.search(r'= "([^"]+)";', line)
        if text and not line.startswith(("export const code", "export const otherLanguage")):
            assert re.search(r"[ぁ-んァ-ン一-龯、]", text[1]), line
