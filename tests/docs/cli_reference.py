"""The command line's reference, from the commands themselves.

`python tests/docs/cli_reference.py > docs/reference/cli.md` writes it. Nothing in it depends on the
terminal: neither its width nor its colours.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer.main

from sottovoce.cli.app import app, load_command
from sottovoce.cli.command_classes import with_names

__all__ = ["cli_reference", "command_names"]

_HEAD = """\
# Command line

<!-- Written by tests/docs/cli_reference.py: edit the commands in src/sottovoce/cli instead. -->

`sottovoce COMMAND --help` prints the same for one command. `sottovoce --install-completion` adds
completion to your shell. `NO_COLOR` turns colours off. [Tables](tables.md) explains how tables are
read, [Methods](methods/index.md) what the methods compute, and
[Mechanisms](mechanisms/index.md) how the mechanisms randomise.
"""
_COMPLETION = {"install_completion", "show_completion"}
"""Typer words these by the shell it finds, so only the text above names them."""


def cli_reference() -> str:
    """The reference as Markdown: usage, help, arguments and options of every command."""
    root = typer.main.get_command(app)
    sections = (_section(name, command) for name, command in _commands("sottovoce", root))
    return "\n".join([_HEAD, *sections])


def command_names() -> list[str]:
    """Every command as a user types it, without arguments."""
    root = typer.main.get_command(app)
    return [name for name, _ in _commands("sottovoce", root)]


def _commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for child in getattr(command, "commands", {}):
        path = f"{name} {child}"
        yield from _commands(path, load_command(path.removeprefix("sottovoce ")))


def _section(name: str, command: Any) -> str:
    parameters = [p for p in command.params if not p.hidden and p.name not in _COMPLETION]
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    options = [p for p in parameters if p.param_type_name == "option"]
    level = "##" if name.count(" ") < 2 else "###"  # commands of a group below the group
    lines = [f"{level} {name}", "", "```text", _usage(name, command, arguments), "```", ""]
    lines += [inspect.cleandoc(command.help or ""), ""]
    if command.epilog:
        lines += [command.epilog, ""]
    if arguments:
        lines += ["| argument | meaning |", "|---|---|"]
        lines += [f"| `{_metavar(p)}` | {_meaning(command, p)} |" for p in arguments]
        lines += [""]
    if options:
        lines += ["| option | meaning | default |", "|---|---|---|"]
        lines += [f"| {_flags(p)} | {_meaning(command, p)} | {_default(p)} |" for p in options]
        lines += [""]
    for group, rows in _children(name, command).items():
        lines += [f"{group}:", ""] if group else []
        lines += ["| command | does |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def _children(name: str, command: Any) -> dict[str | None, list[str]]:
    """The rows of a command's subcommands, by group."""
    rows: dict[str | None, list[str]] = {}
    for child, below in getattr(command, "commands", {}).items():
        row = f"| [`{child}`](#{name.replace(' ', '-')}-{child}) | {_first_line(below)} |"
        rows.setdefault(below.rich_help_panel, []).append(row)
    return rows


def _usage(name: str, command: Any, arguments: list[Any]) -> str:
    end = ["COMMAND"] if hasattr(command, "commands") else [_placed(p) for p in arguments]
    return " ".join([name, "[OPTIONS]", *end])


def _placed(argument: Any) -> str:
    """An argument in the usage line, in brackets if it is optional."""
    return _metavar(argument) if argument.required else f"[{_metavar(argument)}]"


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _flags(parameter: Any) -> str:
    return ", ".join(f"`{flag}`" for flag in parameter.opts)


def _meaning(command: Any, parameter: Any) -> str:
    choices = _choices(command, parameter)
    words = [with_names(parameter.help or "").replace("|", "\\|")]
    if choices:
        words.append(f"One of {', '.join(f'`{choice}`' for choice in choices)}.")
    if parameter.required and parameter.param_type_name == "option":
        words.append("Required.")
    return " ".join(word for word in words if word)


def _choices(command: Any, parameter: Any) -> list[str]:
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}
    hint = hints.get(parameter.name)
    for kind in (hint, *get_args(hint)):
        if isinstance(kind, type) and issubclass(kind, Enum):
            return [str(member.value) for member in kind]
        if get_origin(kind) is Literal:
            return list(get_args(kind))
    return []


def _default(parameter: Any) -> str:
    value = parameter.default
    if value is None or isinstance(value, bool) or callable(value):
        return ""
    return f"`{value.value if isinstance(value, Enum) else value}`"


def _first_line(command: Any) -> str:
    return inspect.cleandoc(command.help or "").split("\n\n")[0].replace("\n", " ")


if __name__ == "__main__":
    sys.stdout.write(cli_reference())
