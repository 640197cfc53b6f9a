"""Errors of the library name Python arguments; a command prints them as its options."""

from __future__ import annotations

import re

ARGUMENTS = (
    "bad_rows", "clip", "columns", "domain", "engine", "force", "format", "gold_columns",
    "hide_participation", "max_rounds", "memory", "method", "policy", "repeats", "seed", "unit",
)  # fmt: skip
"""Arguments of the library that are options of commands under the same name."""

_ARGUMENT = re.compile(
    rf"(?<![\w.-])({'|'.join(ARGUMENTS)})="
    r"""(?:"(?P<text>[^"]*)"|(?P<number>N)\b|Kind\.(?P<kind>[A-Z]+)|\{(?P<pairs>[^}]*)\}|True\b"""
    r"""|Domain\.numeric\((?P<range>[^)]*)\))?"""
)
_PAIR = re.compile(r'"(\w+)": "([^"]*)"')


def as_options(message: str) -> str:
    """A message with options in place of Python arguments.

    >>> as_options('drop domain=, or pass bad_rows="drop"; force=True replaces it')
    'drop --domain, or pass --bad-rows drop; --force replaces it'
    >>> as_options('pass columns={"worker": "who", "task": "…"} or domain=Kind.ORDINAL')
    'pass --columns worker=who,task=… or --domain ordinal'
    """
    return _ARGUMENT.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    value = found["text"] or found["number"] or (found["kind"] or "").lower()
    if found["pairs"]:
        value = ",".join(f"{role}={column}" for role, column in _PAIR.findall(found["pairs"]))
    if found["range"]:
        value = "numeric:" + "..".join(found["range"].split(", "))
    return f"--{found[1].replace('_', '-')} {value}".rstrip()
