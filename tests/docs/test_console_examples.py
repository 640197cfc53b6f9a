"""The console examples on the pages show the real output; see `consoles.py` for their syntax."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.docs.consoles import Console, Typed, matches, typed_in

ROOT = Path(__file__).parents[2]
PAGES = [
    page
    for page in sorted((ROOT / "docs").rglob("*.md"))
    if typed_in(page.read_text(encoding="utf-8"))
]


LONG = frozenset(
    f"docs/{name}.md"
    for name in (
        "how-to/datasets",
        "how-to/keyholders",
        "how-to/operations",
        "how-to/planning",
        "explanation/recovery",
        "how-to/service",
        "how-to/tradeoff",
        "how-to/worker",
        "tutorials/demo",
    )
)
"""Pages whose commands take long, and are run by their own tests too."""


def param(page: Path) -> Any:
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=name, marks=[pytest.mark.slow] if name in LONG else [])


@pytest.mark.parametrize("page", [param(page) for page in PAGES])
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path, commands: Path) -> None:
    typed = typed_in(page.read_text(encoding="utf-8"))
    _check(typed, tmp_path, commands)


def _check(typed: list[Typed], folder: Path, commands: Path) -> None:
    with Console(folder, commands) as console:
        for each in typed:
            seen = console.run(each.command)
            assert matches(each, seen), "\n".join([f"$ {each.command}", *seen])


def test_variables_and_files_stay(tmp_path: Path, commands: Path) -> None:
    with Console(tmp_path, commands) as console:
        assert console.run("NAME=$(echo ada; echo note >&2)") == ["note"]
        assert console.run("cat > file <<'END'\n$NAME\nEND") == []
        assert console.run('echo "$NAME"; cat file') == ["ada", "$NAME"]


def test_a_command_that_asks_gets_no_answer(tmp_path: Path, commands: Path) -> None:
    with Console(tmp_path, commands) as console:
        assert console.run("cat") == []
        assert console.run("echo yes | cat") == ["yes"]


def test_what_a_command_leaves_out_was_printed_before(tmp_path: Path, commands: Path) -> None:
    with Console(tmp_path, commands) as console:
        console.run("echo \"log in: 'http://127.0.0.1:8000/setup#sva_Ab-1'\"")
        assert console.run("echo setup#sva_…") == ["setup#sva_Ab-1"]
        assert console.run("echo 'Report 7a' >&2; echo bye") == ["Report 7a", "bye"]
        assert console.run("echo Report …") == ["Report 7a"]


def test_only_blocks_marked_random_take_other_figures() -> None:
    [sure, random] = typed_in("```console\n$ a\n0.90\n```\n```console random\n$ b\n0.90\n```\n")
    assert not matches(sure, ["0.95"])
    assert matches(random, ["0.95"])
    assert not matches(random, ["-"])


def test_a_command_may_go_on_over_lines() -> None:
    [typed] = typed_in("```console\n$ cat <<END\n> ada\n> END\nada\n```\n")
    assert typed == Typed("cat <<END\nada\nEND", ["ada"])
