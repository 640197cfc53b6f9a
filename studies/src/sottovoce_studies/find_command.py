"""The command `sottovoce datasets find`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sottovoce import datasets
from sottovoce.cli import console
from sottovoce.cli.options import JsonOption
from sottovoce.errors import UsageError
from sottovoce_studies.dataset_search import DatasetMatch, DatasetSearch
from sottovoce_studies.dataset_search import find as search

__all__ = ["find"]


def find(
    workers: Annotated[int | None, typer.Option(help="Number of workers.")] = None,
    tasks: Annotated[int | None, typer.Option(help="Number of tasks.")] = None,
    answer_count: Annotated[
        int | None, typer.Option(help="Number of answers: distinct pairs, or all rows.")
    ] = None,
    sparsity: Annotated[
        float | None, typer.Option(help="Share of pairs without an answer.")
    ] = None,
    min_sparsity: Annotated[
        float | None, typer.Option(help="Sparsity of the worker with the most answers.")
    ] = None,
    max_sparsity: Annotated[
        float | None, typer.Option(help="Sparsity of the worker with the fewest answers.")
    ] = None,
    label_count: Annotated[int | None, typer.Option(help="Number of labels.")] = None,
    json: JsonOption = False,
) -> None:
    """Search the cached datasets by their sizes, such as those that a paper prints.

    Exact matches come first, then datasets that have at least half of the sizes, or all within
    10 %. Every dataset is read and measured. Sparsities are compared to the digits given.
    """
    sizes = (workers, tasks, answer_count, sparsity, min_sparsity, max_sparsity, label_count)
    if all(size is None for size in sizes):
        raise UsageError("give at least one size, such as --workers or --tasks")
    found = search(
        workers=workers,
        tasks=tasks,
        answers=answer_count,
        sparsity=sparsity,
        min_sparsity=min_sparsity,
        max_sparsity=max_sparsity,
        labels=label_count,
    )
    if json:
        console.print_json(_search_as_json(found))
        return
    folder = datasets.data_folder()
    if found.matches:
        console.print_table(
            ["name", "workers", "tasks", "answers", "sparsity", "match"],
            [_match_row(match) for match in found.matches],
        )
    elif not found.searched:
        console.note(f"no datasets in {folder}; add some with: sottovoce datasets add PATH")
    sentence = str(found)
    console.say(f"{sentence[0].upper()}{sentence[1:]}.")
    if found.searched:
        console.say(f"In the cache: {', '.join(found.searched)}.")
    for name, reason in found.unreadable.items():
        console.note(f"note: {name} was not searched: {reason}")


def _match_row(match: DatasetMatch) -> list[str]:
    sizes = match.fingerprint
    counts = [f"{count:,}" for count in (sizes.workers, sizes.tasks, sizes.answers)]
    verdict = "exact" if match.exact else f"near: {match}"
    return [match.name, *counts, f"{sizes.sparsity:.6f}", verdict]


def _search_as_json(search: DatasetSearch) -> dict[str, object]:
    return {
        "folder": str(datasets.data_folder()),
        "asked": dict(search.asked),
        "searched": list(search.searched),
        "unreadable": dict(search.unreadable),
        "matches": [
            {
                "name": match.name,
                "exact": match.exact,
                "matching": list(match.matching),
                "differing": {
                    size: {"asked": asked, "found": found}
                    for size, (asked, found) in match.differing.items()
                },
                "sizes": asdict(match.fingerprint),
            }
            for match in search.matches
        ],
    }
