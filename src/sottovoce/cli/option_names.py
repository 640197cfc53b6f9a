"""Messages of the Python library, with a command's options in place of Python's keywords."""

from __future__ import annotations

import re

KEYWORDS = frozenset({
    "allow_http", "bad_rows", "checkpoint", "clip", "columns", "domain", "engine", "force",
    "format", "gold_columns", "hide_participation", "known", "known_columns", "labels", "master",
    "max_rounds", "memory", "method", "over_budget", "policy", "range", "repeats", "sample", "seed",
    "unit",
})  # fmt: skip
"""Keywords of the library that are options of commands, under the same name."""

_AS_PUBLISHED = "calibration=Calibration.AS_PUBLISHED"
_KEYWORD = re.compile(
    r"(?<![\w.,=-])(?P<name>[a-z_]+)="
    r"(?:True\b|(?P<number>N)\b|\"(?P<text>[^\"\n]*)\"|[A-Z]\w*\.(?P<member>[A-Z_]+)"
    r"|\{(?P<pairs>[^}]*)\}|Domain\.numeric\((?P<range>[^)]*)\)|(?P<ordinal>Domain\.ordinal\(\[\.{3}\]\))|(?![\w'\"(\[]))"
)
_LINK = re.compile(r"this is not an? \w+ link, which looks like \S+$")
_PAIR = re.compile(r'"(\w+)": "([^"]*)"')


def with_options(message: str) -> str:
    """The message as a command prints it; about a link, with a hint for the shell.

    >>> with_options('choose with repeats=, or pass bad_rows="drop", unit=Unit.WORKER, force=True')
    'choose with --repeats, or pass --bad-rows drop, --unit worker, --force'
    >>> with_options('columns={"worker": "who", "task": "…"}, domain=Domain.numeric(LOW, HIGH)')
    '--columns worker=who,task=…, --domain numeric:LOW..HIGH'
    """
    message = _LINK.sub(r"\g<0>; in a shell put it in quotes", message)
    return _KEYWORD.sub(_option, message.replace(_AS_PUBLISHED, "--as-published"))


def _option(keyword: re.Match[str]) -> str:
    name = keyword["name"]
    if name not in KEYWORDS:
        return keyword.group()
    value = keyword["text"] or keyword["number"] or ""
    if keyword["member"]:
        value = keyword["member"].lower().replace("_", "-")
    if keyword["pairs"]:
        value = ",".join(f"{role}={column}" for role, column in _PAIR.findall(keyword["pairs"]))
    if keyword["range"]:
        value = "numeric:" + "..".join(keyword["range"].split(", "))
    if keyword["ordinal"]:
        value = "ordinal:low,mid,high"
    return f"--{name.replace('_', '-')} {value}".rstrip()
