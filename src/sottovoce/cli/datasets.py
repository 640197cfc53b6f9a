"""`sottovoce datasets`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from sottovoce import datasets
from sottovoce.cli import console
from sottovoce.cli.options import ForceOption, JsonOption, output_option
from sottovoce.datasets import Crowd, DatasetCard
from sottovoce.errors import UsageError


class CrowdKind(StrEnum):
    """Which simulated crowd."""

    categorical = "categorical"
    numeric = "numeric"
    sparse = "sparse"


class AbilityKind(StrEnum):
    """How able the workers of a categorical crowd are."""

    homogeneous = "homogeneous"
    heterogeneous = "heterogeneous"
    spammers = "spammers"
    adversaries = "adversaries"


def list_all(json: JsonOption = False) -> None:
    """List the datasets of the cache."""
    cards = datasets.list_datasets()
    if json:
        console.print_json(
            {"folder": str(datasets.data_folder()), "datasets": list(map(_as_json, cards))}
        )
        return
    if not cards:
        console.note(
            f"no datasets in {datasets.data_folder()}: sottovoce datasets add PATH puts some there"
        )
        return
    sizes = ("workers", "tasks", "answers", "truths")
    rows = [[c.name, str(c.kind), *(_count(getattr(c, size)) for size in sizes)] for c in cards]
    console.print_table(["name", "kind", "workers", "tasks", "answers", "gold"], rows)


def show(
    name: Annotated[str, typer.Argument(help="A name that `list` shows.", show_default=False)],
    json: JsonOption = False,
) -> None:
    """Say what a dataset holds, where it comes from and what is odd about it."""
    card = datasets.describe(name)
    if json:
        console.print_json(_as_json(card))
        return
    rows = [
        ["kind", str(card.kind)],
        ["answers are", card.domain_text],
        ["workers", _count(card.workers)],
        ["tasks", _count(card.tasks) + (f", {card.truths:,} with gold" if card.truths else "")],
        ["answers", _count(card.answers) + (f" from {card.rows:,} rows" if card.rows else "")],
        ["source", card.source],
        ["licence", card.licence],
        ["paper", card.paper],
        ["folder", str(card.folder)],
        ["files", ", ".join(card.files)],
        *(["oddity", oddity] for oddity in card.oddities),
    ]
    console.print_table(["", card.name], rows)


def add(
    path: Annotated[
        Path,
        typer.Argument(
            help="A folder with answers.csv [and truth.csv], or a whole cache with its index.",
            show_default=False,
        ),
    ],
    force: ForceOption = False,
) -> None:
    """Check datasets and copy them into the cache, all of them or none."""
    for name in datasets.add(path, force=force):
        console.note(f"added {name} to {datasets.data_folder()}")


def generate(
    kind: Annotated[CrowdKind, typer.Argument(show_default=False)],
    output: Annotated[Path, output_option("A .parquet file of answers.")],
    gold: Annotated[Path | None, typer.Option(help="A .parquet file for the truths.")] = None,
    workers: Annotated[int, typer.Option(help="How many workers.")] = 100,
    tasks: Annotated[int, typer.Option(help="How many tasks.")] = 1_000,
    labels: Annotated[int, typer.Option(help="categorical: how many labels.")] = 4,
    redundancy: Annotated[int, typer.Option(help="categorical: answers per task.")] = 5,
    ability: Annotated[
        AbilityKind, typer.Option(help="categorical: how able workers are.")
    ] = AbilityKind.heterogeneous,
    accuracy: Annotated[float, typer.Option(help="categorical: mean accuracy.")] = 0.7,
    imbalance: Annotated[
        float, typer.Option(help="categorical: the first label over the last.")
    ] = 1.0,
    difficulty: Annotated[
        float, typer.Option(help="categorical: of the hardest task, 0 to 1.")
    ] = 0.0,
    share: Annotated[
        float, typer.Option(help="categorical: of spammers or adversaries, 0 to 1.")
    ] = 0.2,
    density: Annotated[float, typer.Option(help="numeric: share of present answers.")] = 1.0,
    clip: Annotated[
        bool, typer.Option("--clip", help="numeric: keep answers within the range.")
    ] = False,
    lambda1: Annotated[float, typer.Option(help="numeric: error variance ~ Exp(rate).")] = 1.0,
    sparsity: Annotated[float, typer.Option(help="sparse: share of absent answers.")] = 0.9,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answers.")] = 0,
    force: ForceOption = False,
) -> None:
    """Simulate a crowd and stream its answers to a Parquet file, 10^8 of them if you like."""
    crowd: Crowd
    match kind:
        case CrowdKind.categorical:
            crowd = datasets.CategoricalCrowd(
                workers=workers,
                tasks=tasks,
                labels=labels,
                redundancy=redundancy,
                ability=ability.value,
                accuracy=accuracy,
                share=share,
                imbalance=imbalance,
                difficulty=difficulty,
                seed=seed,
            )
        case CrowdKind.numeric:
            crowd = datasets.NumericCrowd(
                workers=workers, tasks=tasks, lambda1=lambda1, density=density, clip=clip, seed=seed
            )
        case CrowdKind.sparse:
            crowd = datasets.SparseCrowd(workers=workers, tasks=tasks, sparsity=sparsity, seed=seed)
    for path in (output, gold):
        if path is not None and path.suffix != ".parquet":
            raise UsageError(f"a generated crowd is a Parquet file: let {path} end in .parquet")
    count = datasets.stream_to_parquet(crowd, output, gold=gold, force=force)
    console.note(f"wrote {output}: {count:,} simulated answers")


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _as_json(card: DatasetCard) -> dict[str, object]:
    return {
        "name": card.name,
        "kind": str(card.kind),
        "domain": card.domain_text,
        "workers": card.workers,
        "tasks": card.tasks,
        "answers": card.answers,
        "truths": card.truths,
        "source": card.source,
        "licence": card.licence,
        "paper": card.paper,
        "oddities": list(card.oddities),
        "folder": str(card.folder),
        "files": dict(card.files),
    }
