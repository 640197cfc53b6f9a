"""Commands are loaded from one table, when they run, and say what they lack."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module, metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from tests.cli.conftest import Run

from sottovoce.cli.app import COMMANDS, load_command
from sottovoce.errors import install_command

BLOCKING = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in LIBRARIES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

LIBRARIES = set(sys.argv.pop(1).split(","))
sys.meta_path.insert(0, Blocked())
"""
SERVER = "uvicorn,fastapi,starlette,sqlalchemy,alembic"
CLIENT, SECURE = "httpx", "cryptography,gmpy2"


def ran(*words: str, without: str = "nothing", **environment: str) -> tuple[int, str, str]:
    """Exit code and outputs of a command where these libraries are not installed."""
    code = f"{BLOCKING}\nfrom sottovoce.cli import main\nmain()"
    done = subprocess.run(
        [sys.executable, "-c", code, without, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_loads_and_its_summary_is_the_first_line_of_its_help(words: str) -> None:
    entry = COMMANDS[words]
    if entry.function is not None:
        module, _, name = entry.function.partition(":")
        first = (inspect.getdoc(getattr(import_module(module), name)) or "").partition("\n\n")[0]
        assert entry.summary == " ".join(first.splitlines())
    loaded = load_command(words)
    assert loaded.name == words.rpartition(" ")[2]
    assert (loaded.help or "").partition("\n\n")[0].replace("\n", " ") == entry.summary


def test_every_group_of_the_table_has_commands_and_every_command_has_its_groups() -> None:
    for words, entry in COMMANDS.items():
        above = words.rpartition(" ")[0]
        assert not above or above in COMMANDS
        held = any(each.startswith(f"{words} ") for each in COMMANDS)
        assert entry.function or entry.distribution or held


def test_every_function_with_options_that_a_command_module_offers_is_in_the_table() -> None:
    listed = {entry.function for entry in COMMANDS.values()}
    for module in {function.partition(":")[0] for function in listed if function}:
        found = import_module(module)
        for name, thing in vars(found).items():
            if name.startswith("_") or getattr(thing, "__module__", None) != module:
                continue
            hints = getattr(thing, "__annotations__", {}).values()
            if any("Option" in str(hint) or "typer." in str(hint) for hint in hints):
                assert f"{module}:{name}" in listed


def loaded_by(*words: str) -> set[str]:
    code = """
import json, sys
from sottovoce.cli import main
try:
    main()
except SystemExit:
    pass
print(json.dumps([name for name in sys.modules if name.startswith("sottovoce")]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_loads_no_command() -> None:
    modules = {str(entry.function).partition(":")[0] for entry in COMMANDS.values()}
    assert not modules & loaded_by("--help")


def test_a_command_loads_no_other_command(tmp_path: Path) -> None:
    table = tmp_path / "answers.csv"
    table.write_text("worker,task,answer\na,t,x\nb,t,x\n")
    modules = {str(entry.function).partition(":")[0] for entry in COMMANDS.values()}
    assert modules & loaded_by("infer", str(table)) == {"sottovoce.cli.inference"}


LINK = "https://example.org/c/abcdefghjkmnpqrs#svi_x"
TALKING = f"talking to a server needs httpx, which is not installed: {install_command('client')}"
SIGNING = "signing messages needs cryptography, which is not installed: pip install "
SERVING = f"the server needs uvicorn, which is not installed: {install_command('server')}"
KEEPING = "the service's database needs sqlalchemy, which is not installed: pip install "


@pytest.mark.parametrize(
    ("line", "without", "said"),
    [
        ("serve --port 0", SERVER, SERVING),
        ("db check", SERVER, KEEPING),
        ("backup FILE", SERVER, KEEPING),
        ("restore FILE", SERVER, KEEPING),
        (f"answer {LINK}", CLIENT, TALKING),
        (f"weigh {LINK} --answers own.csv", CLIENT, TALKING),
        ("verify-page https://example.org", CLIENT, TALKING),
        ("campaign list", CLIENT, TALKING),
        ("sealed session list", CLIENT, TALKING),
        ("keyholder serve LINK", f"{CLIENT},{SECURE}", TALKING),
        ("keyholder serve LINK", SECURE, SIGNING),
        ("keyholder init --name someone", SECURE, SIGNING),
        ("keyholder status", SECURE, SIGNING),
    ],
)
def test_a_command_says_in_one_line_which_extra_it_needs(
    line: str, without: str, said: str, tmp_path: Path
) -> None:
    code, out, err = ran(*line.split(), without=without, SOTTOVOCE_HOME=str(tmp_path))
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert err.startswith(f"sottovoce: {said}")


def without_entry_points(group: str, name: str) -> tuple[EntryPoint, ...]:
    return ()


def test_a_command_of_another_distribution_is_its_entry_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def points(group: str, name: str) -> tuple[EntryPoint, ...]:
        return (EntryPoint(name, "tests.cli.test_app:toy", group),)

    monkeypatch.setattr(metadata, "entry_points", points)
    assert load_command("reproduce").help == "A command of the group sottovoce.commands."


def toy() -> None:
    """A command of the group sottovoce.commands."""


def test_the_entry_point_of_a_subcommand_has_its_words_joined_by_hyphens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = []

    def points(group: str, name: str) -> tuple[EntryPoint, ...]:
        names.append(name)
        return (EntryPoint(name, "tests.cli.test_app:toy", group),)

    monkeypatch.setattr(metadata, "entry_points", points)
    load_command("sealed attack")
    assert names == ["sealed-attack"]


def test_a_command_of_a_distribution_that_is_not_installed_says_in_one_line_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, call: Run
) -> None:
    monkeypatch.setattr(metadata, "entry_points", without_entry_points)
    rest = (
        "needs sottovoce-studies, which is not installed: "
        f"{install_command(distribution='sottovoce-studies')}\n"
    )
    for words in (["reproduce"], ["reproduce", "--list"], ["reproduce", "calibration", "-o", "x"]):
        done = call(*words)
        said = f"sottovoce: `sottovoce reproduce` {rest}"
        assert (done.returncode, done.stdout, done.stderr) == (2, "", said)
    done = call("sealed", "attack", "seen.json", "--json")
    said = f"sottovoce: `sottovoce sealed attack` {rest}"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_command_of_a_distribution_that_is_not_installed_is_listed_and_has_help(
    monkeypatch: pytest.MonkeyPatch, call: Run
) -> None:
    listed = call("--help").stdout
    monkeypatch.setattr(metadata, "entry_points", without_entry_points)
    assert call("--help").stdout == listed
    assert " reproduce " in listed
    done = call("reproduce", "--help")
    assert done.returncode == 0
    assert "Reproduce the papers' tables, figures and claims" in done.stdout


@pytest.mark.parametrize("line", ["answer", "campaign", "campaign login", "keyholder serve", "db"])
def test_help_needs_no_extra(line: str) -> None:
    bare = ran(*line.split(), "--help", without=f"{SERVER},{CLIENT},{SECURE}")
    assert bare == ran(*line.split(), "--help")
    assert bare[0] == 0


def test_help_of_a_server_that_is_not_installed_says_what_it_would_do() -> None:
    code, out, _ = ran("serve", "--help", without=SERVER)
    assert code == 0
    assert COMMANDS["serve"].summary in out


def test_a_plot_is_skipped_in_one_line_without_matplotlib(tmp_path: Path) -> None:
    code, out, err = ran("simulate", "--folder", str(tmp_path / "demo"), without="matplotlib")
    assert code == 0
    assert [path.name for path in sorted((tmp_path / "demo").iterdir())] == [
        "answers.csv",
        "truth.csv",
    ]
    assert "Saved" in out
    assert "demo.png" not in out
    assert err == (
        f"skipped {tmp_path}/demo/demo.png: a plot needs matplotlib, which is not installed: "
        f"{install_command('plots')}\n"
    )


def test_a_tradeoff_without_matplotlib_keeps_its_table(tmp_path: Path) -> None:
    answers, gold = tmp_path / "answers.csv", tmp_path / "gold.csv"
    rows = [f"w{k},t{t},{'yes' if (k + t) % 4 else 'no'}" for k in range(6) for t in range(8)]
    answers.write_text("\n".join(["worker,task,answer", *rows]))
    gold.write_text("\n".join(["task,truth", *(f"t{t},yes" for t in range(8))]))
    options = ["--epsilon", "2", "--trials", "2", "--jobs", "1", "--plot", str(tmp_path / "x.svg")]
    code, out, err = ran(
        "tradeoff", str(answers), "--gold", str(gold), *options, without="matplotlib"
    )
    assert code == 0, err
    assert out
    assert err.count("a plot needs matplotlib") == 1
    assert not (tmp_path / "x.svg").exists()
