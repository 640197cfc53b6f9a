"""An option name means the same in every command, and old spellings still work."""

from __future__ import annotations

import inspect
from collections import defaultdict
from enum import Enum
from types import UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import pytest
from tests.cli.conftest import Run

from sottovoce.cli.app import COMMANDS, load_command
from sottovoce.cli.command_classes import current_spelling


class Shown(NamedTuple):
    """How help shows the value of an option: a metavar, a type, or the choices."""

    value: str
    choices: frozenset[str] = frozenset()


def shown(option: Any, hint: Any) -> Shown:
    if option.metavar:
        return Shown(option.metavar)
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    kind = kinds[0] if get_origin(hint) in (UnionType, Union) else hint
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Shown("one of", frozenset(str(member.value) for member in kind))
    if get_origin(kind) is Literal:
        return Shown("one of", frozenset(get_args(kind)))
    return Shown(getattr(kind, "__name__", str(kind)))


def options() -> dict[str, dict[str, Shown]]:
    """Every option name with the commands that have it."""
    found: dict[str, dict[str, Shown]] = defaultdict(dict)
    for words in COMMANDS:
        command = load_command(words)
        hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
        for option in command.params:
            if option.param_type_name == "option":
                for name in option.opts:
                    found[name][words] = shown(option, hints[option.name])
    return found


@pytest.mark.parametrize(("name", "commands"), options().items())
def test_an_option_name_has_one_type_and_one_metavar(name: str, commands: dict[str, Shown]) -> None:
    assert len({each.value for each in commands.values()}) == 1, commands
    every = frozenset[str]().union(*(each.choices for each in commands.values()))
    # A command may offer fewer choices than another, but no others.
    assert every in {each.choices for each in commands.values()}, commands


@pytest.mark.parametrize("words", [words for words in COMMANDS if COMMANDS[words].renamed])
def test_a_renamed_option_exists_only_under_its_new_name(words: str) -> None:
    names = {name for option in load_command(words).params for name in option.opts}
    for old, new in COMMANDS[words].renamed.items():
        assert (old in names, new in names) == (False, True)


def test_an_old_spelling_works_and_warns_in_one_line(call: Run) -> None:
    asked = ("guarantee", "--mechanism", "randomized-response", "--epsilon", "1", "--json")
    new = call(*asked, "--label-count", "3")
    for spelling in (("--labels", "3"), ("--labels=3",)):
        old = call(*asked, *spelling)
        assert (old.returncode, old.stdout) == (0, new.stdout)
        assert old.stderr == (
            "sottovoce: warning: --labels is deprecated and will be removed in the next release: "
            "use --label-count\n"
        )
    assert new.stderr == ""


def test_a_value_after_two_dashes_is_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["a.csv", "--", "--workers"]
    assert list(current_spelling(words, {"--workers": "--weights"})) == words
    assert capsys.readouterr().err == ""


def test_old_spellings_are_not_in_help(call: Run) -> None:
    assert "--workers" not in call("infer", "--help").stdout


@pytest.mark.parametrize("words", COMMANDS)
def test_flags_are_shown_without_a_type(words: str, call: Run) -> None:
    said = call(*words.split(), "--help").stdout
    assert "<bool>" not in said
    assert "default: no-" not in said


def test_help_lists_commands_in_groups(call: Run) -> None:
    said = call("--help").stdout
    groups = dict.fromkeys(entry.group for entry in COMMANDS.values() if entry.group)
    assert list(groups) == ["Tables", "Privacy", "Campaigns", "Sealed", "Operations", "Research"]
    places = [said.index(f"─ {group} ─") for group in groups]
    assert places == sorted(places)
    assert all(entry.group for words, entry in COMMANDS.items() if " " not in words)


@pytest.mark.parametrize("command", ["guarantee", "perturb answers.csv -o r.csv --write-policy p"])
def test_a_mistyped_mechanism_is_answered_with_the_nearest(
    command: str, call: Run, answers: object
) -> None:
    asked = ("--mechanism", "randomised-response", "--epsilon", "1", "--domain", "ordinal:no,yes")
    done = call(*command.split(), *asked)
    assert done.stderr == (
        "sottovoce: no mechanism 'randomised-response': did you mean randomized-response?\n"
    )


def test_a_mistyped_command_is_answered_with_the_nearest(call: Run) -> None:
    done = call("infre")
    assert done.returncode == 2
    assert "Did you mean 'infer'" in done.stderr
