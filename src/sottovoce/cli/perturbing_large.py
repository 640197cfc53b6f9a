"""`sottovoce perturb --engine spark`: simulated reports of large tables into a folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sottovoce
from sottovoce.api.perturb_into import checked_seed
from sottovoce.cli import screen
from sottovoce.cli.guaranteeing import note_guarantee
from sottovoce.cli.options import refuse_beside_policy
from sottovoce.errors import UsageError

__all__ = ["perturb_large"]


def perturb_large(
    source: str,
    folder: str,
    policy: Path | None,
    beside_policy: Mapping[str, object],
    reading: Mapping[str, Any],
    *,
    seed: int | None,
    master: str | None,
    settings: Mapping[str, str],
    force: bool,
) -> None:
    """Simulate reports on a cluster, and say what was made."""
    given = checked_seed(seed)
    if policy is None:
        raise UsageError(
            "--engine spark perturbs under a policy that is there: say --policy POLICY.json; "
            "`sottovoce guarantee --write-policy POLICY.json` makes one"
        )
    refuse_beside_policy(beside_policy)
    if "format" in reading:
        raise UsageError("--format does not go with --engine spark: drop it")
    kept = sottovoce.read_policy(policy)
    with screen.passes("perturbing", visible=True):
        made = sottovoce.perturb_into(
            source, folder, kept, seed=given, master=master, settings=settings, force=force,
            **reading,
        )  # fmt: skip
    screen.notes_of(made.reading)
    screen.note(f"wrote {made.folder}/reports: {made.reports:,} SIMULATED reports")
    note_guarantee(kept, made.most, given)
