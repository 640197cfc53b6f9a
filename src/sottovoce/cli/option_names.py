"""Messages of the Python library, with a command's options in place of Python's keywords."""

from __future__ import annotations

import re

KEYWORDS = frozenset({
    "bad_rows", "checkpoint", "clip", "columns", "domain", "engine", "force", "format",
    "gold_columns", "hide_participation", "labels", "master", "max_rounds", "memory", "method",
    "policy", "range", "repeats",
    "sample", "seed", "unit",
})  # fmt: skip
"""Keywords of the library that are options of commands, under the same name."""

_AS_PUBLISHED = "calibration=Calibration.AS_PUBLISHED"
_KEYWORD = re.compile(
    r"(?<![\w.,=-])([a-z_]+)=(?:(True)\b|\"([^\"\n]*)\"|[A-Z]\w*\.([A-Z_]+)|(?![\w'\"(\[]))"
)


def with_options(message: str) -> str:
    """The message as a command prints it.

    >>> with_options('choose with repeats=, or pass bad_rows="drop", unit=Unit.WORKER, force=True')
    'choose with --repeats, or pass --bad-rows drop, --unit worker, --force'
    """
    return _KEYWORD.sub(_option, message.replace(_AS_PUBLISHED, "--as-published"))


def _option(keyword: re.Match[str]) -> str:
    name, _, text, member = keyword.groups()
    if name not in KEYWORDS:
        return keyword.group()
    option = f"--{name.replace('_', '-')}"
    value = text or (member or "").lower().replace("_", "-")
    return f"{option} {value}" if value else option
