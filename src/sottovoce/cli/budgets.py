"""What a worker allows all campaigns together to learn, as it is said on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sottovoce.cli.consenting import amount_words
from sottovoce.errors import UsageError
from sottovoce.files.private_files import private_folder
from sottovoce.files.user_folders import home_folder
from sottovoce.model import Unit
from sottovoce.worker.budget import Budget
from sottovoce.worker.client import DEFAULT_BUDGET, LEDGER
from sottovoce.worker.ledger import Ledger

__all__ = ["ledger_in", "parsed_limits", "raise_budget"]


def parsed_limits(text: str | None) -> tuple[float, float] | None:
    """What --budget says: an epsilon and a delta."""
    if text is None:
        return None
    epsilon, _, delta = text.partition(",")
    try:
        return float(epsilon), float(delta or 0)
    except ValueError:
        raise UsageError("--budget is an epsilon, as 20, or with a delta, as 20,1e-6") from None


def raise_budget(ledger: Ledger, limits: tuple[float, float]) -> None:
    """Allow more than before: less could not be kept any more."""
    budget = ledger.budget
    wanted = replace(budget, worker_epsilon=limits[0], worker_delta=limits[1])
    if not wanted.covers(budget):
        now = amount_words(budget.limit(Unit.WORKER))
        raise UsageError(f"--budget only raises what you allow, which is {now} per worker now")
    if wanted != budget:
        ledger.raise_budget(wanted)


def ledger_in(folder: Path | None, limits: tuple[float, float] | None) -> Ledger:
    """The worker's ledger; limits that were said are those of a new one, or raise those it has."""
    path = private_folder((folder or home_folder()).absolute()) / LEDGER
    is_new = not path.exists()
    first = Budget(*limits) if limits is not None and is_new else DEFAULT_BUDGET
    ledger = Ledger(path, first, adopt=True)
    if limits is not None and not is_new:
        raise_budget(ledger, limits)
    return ledger
