"""`sottovoce infer --engine chunked|spark`: truths of large tables into a folder."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import sottovoce
from sottovoce.cli import screen
from sottovoce.errors import UsageError

if TYPE_CHECKING:
    from sottovoce.api.infer_into import Inferred, LargeEngineName

__all__ = ["Limits", "infer_large"]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(|K|M|G|Ki|Mi|Gi)B?", re.ASCII)


class Limits(NamedTuple):
    """Where a large table is worked on, and with how much memory."""

    master: str | None
    settings: Mapping[str, str]
    checkpoint: str | None
    memory: str | None


def infer_large(
    source: str,
    output: str | None,
    method: str,
    engine: LargeEngineName,
    limits: Limits,
    parameters: Mapping[str, Any],
    policy: Path | None,
    reading: Mapping[str, Any],
    beside: Mapping[str, object],
    *,
    json: bool,
    force: bool,
) -> None:
    """Infer into a folder, and say what was found; `beside` are options that do not go with it."""
    for option, given in beside.items():
        if given is not None:
            raise UsageError(f"--{option} does not go with --engine {engine}: drop it")
    if output is None:
        raise UsageError(f"--engine {engine} writes a folder: say which, --output FOLDER")
    kept = sottovoce.read_policy(policy) if policy is not None else None
    with screen.passes("inferring", visible=True) as progress:
        found = sottovoce.infer_into(
            source,
            output,
            method,
            engine=engine,
            parameters=parameters,
            policy=kept,
            master=limits.master,
            settings=limits.settings,
            checkpoint=limits.checkpoint,
            memory=None if limits.memory is None else bytes_of(limits.memory),
            progress=progress,
            force=force,
            **reading,
        )
    screen.notes_of(found.result.provenance.reading)
    screen.note_of_simulation(found.result.provenance.simulated)
    if json:
        screen.print_json(found.summary())
        return
    screen.note(f"wrote {found.folder}/truths, {found.folder}/workers")
    screen.note(_words(found))


def bytes_of(text: str) -> int:
    """An amount of memory, as 2GB or 512 MiB.

    >>> bytes_of("2GB"), bytes_of("1.5 GiB")
    (2000000000, 1610612736)
    """
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--memory is an amount such as 2GB or 512MiB, not {text!r}")
    return int(float(found[1]) * _UNITS[found[2]])


def _words(found: Inferred) -> str:
    result = found.result
    end = "converged" if result.converged else "stopped at the round limit"
    rounds = f"{result.rounds} round{'s' if result.rounds != 1 else ''}"
    return (
        f"{result.provenance.method}: {found.tasks:,} tasks, {len(result.workers):,} workers, "
        f"{found.answers:,} answers, {rounds}, {end}"
    )
