"""The column of each role, by its usual name or as the user maps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from sottovoce.errors import DataError, UsageError


class Roles(NamedTuple):
    """The usual column names of each role, and the argument that maps other names.

    No message quotes a cell of a `private` table, nor a header that may be a cell.
    """

    names: Mapping[str, tuple[str, ...]]
    argument: str
    private: bool = False

    def mapping(self, role: str, column: str = "…") -> str:
        """The argument that maps a role to a column, as a message shows it."""
        name = " ".join(column[:80].split())
        return f'{self.argument}={{"{role}": "{name}"}}'


SIMULATED = "simulated_report"
"""The column name of reports whose noise came from a seed: a stamp that sets them apart."""

REPORTS = Roles(
    {
        "worker": ("worker",),
        "task": ("task",),
        "answer": ("answer", "label", "report", "value", SIMULATED),
    },
    "columns",
)
MADE = Roles({"worker": ("worker",), "task": ("task",), "answer": ("report", SIMULATED)}, "columns")
"""Reports made under a policy; a table of answers is refused."""
ANSWERS = Roles(
    {"worker": ("worker",), "task": ("task",), "answer": ("answer", "label", "value")},
    "columns",
    private=True,
)
"""Answers to perturb; a table of reports is refused."""
GOLD = Roles(
    {"task": ("task",), "truth": ("truth", "true_label", "label", "answer", "value", "gold")},
    "gold_columns",
)


def chosen_columns(
    names: Sequence[str], roles: Roles, columns: Mapping[str, str] | None, file: str
) -> dict[str, int]:
    """The position of each role's column.

    Names match exactly, else without regard to case and outer spaces.
    """
    _check_mapping(roles, columns)
    _check_distinct(names, roles, file)
    mapped = columns or {}
    return {
        role: _mapped(names, role, mapped[role], roles, file)
        if role in mapped
        else _found(names, role, usual, roles, file)
        for role, usual in roles.names.items()
    }


def is_stamp(name: str) -> bool:
    """Whether a column of this name holds simulated reports."""
    return name.strip().casefold() == SIMULATED


def is_report(name: str) -> bool:
    """Whether a column of this name holds reports that are not simulated."""
    return name.strip().casefold() == "report"


def _check_mapping(roles: Roles, columns: Mapping[str, str] | None) -> None:
    unknown = sorted(set(columns or {}) - set(roles.names))
    if unknown:
        known = ", ".join(roles.names)
        raise UsageError(f"{roles.argument}= maps {known}, not {unknown[0]!r}")


def _check_distinct(names: Sequence[str], roles: Roles, file: str) -> None:
    seen: set[str] = set()
    for name in names:
        if name and name in seen:
            raise DataError(
                "the header names this column more than once: rename one",
                file=file,
                column=None if roles.private else name,
            )
        seen.add(name)


def _mapped(names: Sequence[str], role: str, wanted: str, roles: Roles, file: str) -> int:
    if wanted in names:
        return list(names).index(wanted)
    if roles.private:
        raise DataError(f"there is no column {wanted!r} for {role}", file=file)
    near = get_close_matches(wanted, names, 1, 0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {_listed(names)}"
    raise DataError(f"there is no column {wanted!r} for {role}: {hint}", file=file)


def _found(names: Sequence[str], role: str, usual: tuple[str, ...], roles: Roles, file: str) -> int:
    exact = [i for i, name in enumerate(names) if name in usual]
    found = exact or [i for i, name in enumerate(names) if name.strip().casefold() in usual]
    if len(found) == 1:
        return found[0]
    if found:
        several = " and ".join(repr(names[i]) for i in found)
        raise DataError(
            f"{several} could each be the {role}: pass {roles.mapping(role, names[found[0]])}",
            file=file,
        )
    if roles.private:
        raise DataError(
            f"there is no column {' or '.join(usual)}: is there a header, and are these answers? "
            f"Pass {roles.mapping(role)} to name another",
            file=file,
        )
    if usual == MADE.names["answer"] and _has_answers(names):
        raise DataError(
            "has a column of answers, not of reports; with a policy, give the table that perturb "
            "or an export of the campaign wrote; if a column holds reports under another name, "
            f"pass {roles.mapping(role, 'THAT')}",
            file=file,
        )
    near = next(iter(_near(names, usual)), None)
    example = ", ".join(f'"{each}": "…"' for each in roles.names)
    way = roles.mapping(role, near) if near else f"{roles.argument}={{{example}}}"
    wanted = " or ".join(usual)
    if len(names) == 1 and (split := next((mark for mark in ";|" if mark in names[0]), None)):
        raise DataError(f"cells are separated by {split!r}: use commas or tabs", file=file)
    raise DataError(f"there is no column {wanted}, only {_listed(names)}: pass {way}", file=file)


def _has_answers(names: Sequence[str]) -> bool:
    return any(name.strip().casefold() in ANSWERS.names["answer"] for name in names)


def _near(names: Sequence[str], usual: tuple[str, ...]) -> list[str]:
    lowered = {name.strip().casefold(): name for name in names}
    return [lowered[near] for each in usual for near in get_close_matches(each, lowered, 1, 0.6)]


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name if len(name) <= 40 else name[:39] + "…") for name in names[:6]]
    return ", ".join(shown) + (" …" if len(names) > 6 else "")
