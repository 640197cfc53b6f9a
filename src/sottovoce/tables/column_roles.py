"""Which column plays which role: by its usual name, or as the user maps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from sottovoce.errors import DataError, UsageError


class Roles(NamedTuple):
    """Each role with the column names that mean it, and the option that maps other names.

    Where the table is `private`, no message quotes a cell of it, nor a header that may be a cell.
    """

    names: Mapping[str, tuple[str, ...]]
    option: str
    private: bool = False


SIMULATED = "simulated_report"
"""The column of reports whose noise came from a seed: the stamp that keeps them apart."""

REPORTS = Roles(
    {
        "worker": ("worker",),
        "task": ("task",),
        "answer": ("answer", "label", "report", "value", SIMULATED),
    },
    "--columns",
)
MADE = Roles(
    {"worker": ("worker",), "task": ("task",), "answer": ("report", SIMULATED)}, "--columns"
)
"""Reports made under a policy; a table of answers is none."""
ANSWERS = Roles(
    {"worker": ("worker",), "task": ("task",), "answer": ("answer", "label", "value")},
    "--columns",
    private=True,
)
"""Answers that are about to be perturbed; a table of reports is none."""
GOLD = Roles(
    {"task": ("task",), "truth": ("truth", "true_label", "label", "answer", "value", "gold")},
    "--gold-columns",
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


def _check_mapping(roles: Roles, columns: Mapping[str, str] | None) -> None:
    unknown = sorted(set(columns or {}) - set(roles.names))
    if unknown:
        known = ", ".join(roles.names)
        raise UsageError(f"{roles.option} maps {known}; there is no {unknown[0]!r}")


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
        one = _in_line(names[found[0]])
        raise DataError(
            f"{several} could each be the {role}: choose with {roles.option} {role}={one}",
            file=file,
        )
    if roles.private:
        raise DataError(
            f"there is no column {' or '.join(usual)}: is there a header, and are these answers? "
            f"{roles.option} {role}=… names another",
            file=file,
        )
    near = next(iter(_near(names, usual)), None)
    example = ",".join(f"{each}=…" for each in roles.names)
    way = f"{roles.option} {role}={_in_line(near)}" if near else f"{roles.option} {example}"
    wanted = " or ".join(usual)
    if len(names) == 1 and (split := next((mark for mark in ";|" if mark in names[0]), None)):
        raise DataError(
            f"its cells are split by {split!r}: only commas and tabs are read", file=file
        )
    raise DataError(
        f"there is no column {wanted}, only {_listed(names)}: map it with {way}", file=file
    )


def _near(names: Sequence[str], usual: tuple[str, ...]) -> list[str]:
    lowered = {name.strip().casefold(): name for name in names}
    return [lowered[near] for each in usual for near in get_close_matches(each, lowered, 1, 0.6)]


def _in_line(name: str) -> str:
    return " ".join(name[:80].split())


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name if len(name) <= 40 else name[:39] + "…") for name in names[:6]]
    return ", ".join(shown) + (" …" if len(names) > 6 else "")
