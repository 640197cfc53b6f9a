"""Errors of the library name Python arguments; a command prints them as its options."""

from __future__ import annotations

import re

ARGUMENTS = (
    "bad_rows", "clip", "columns", "domain", "engine", "force", "format", "gold_columns",
    "hide_participation", "max_rounds", "memory", "method", "policy", "repeats", "seed", "unit",
)  # fmt: skip
"""Arguments of the library that are options of commands under the same name."""

_ARGUMENT = re.compile(rf"(?<![\w.-])({'|'.join(ARGUMENTS)})=(?:\"([^\"]*)\"|True\b|(N)\b)?")


def as_options(message: str) -> str:
    """A message with options in place of Python arguments.

    >>> as_options('drop domain=, or pass bad_rows="drop"; force=True replaces it')
    'drop --domain, or pass --bad-rows drop; --force replaces it'
    """
    return _ARGUMENT.sub(_option, message)


def _option(found: re.Match[str]) -> str:
    name, value = f"--{found[1].replace('_', '-')}", found[2] or found[3]
    return f"{name} {value}" if value else name
