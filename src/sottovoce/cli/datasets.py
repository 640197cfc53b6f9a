"""`sottovoce datasets`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from sottovoce import datasets
from sottovoce.cli import console
from sottovoce.cli.options import ForceOption, JsonOption, file_option, output_option
from sottovoce.datasets import Crowd, DatasetCard
from sottovoce.datasets.crowds import Ability
from sottovoce.errors import UsageError


def list_all(json: JsonOption = False) -> None:
    """List the cached datasets."""
    cards = datasets.list_datasets()
    if json:
        console.print_json(
            {"folder": str(datasets.data_folder()), "datasets": list(map(_as_json, cards))}
        )
        return
    if not cards:
        console.note(
            f"no datasets in {datasets.data_folder()}; add some with: sottovoce datasets add PATH"
        )
        return
    sizes = ("workers", "tasks", "answers", "truths")
    rows = [[c.name, str(c.kind), *(_count(getattr(c, size)) for size in sizes)] for c in cards]
    console.print_table(["name", "kind", "workers", "tasks", "answers", "gold"], rows)


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name from `datasets list`.", show_default=False)
    ],
    json: JsonOption = False,
) -> None:
    """Describe a dataset: contents, source, licence and oddities."""
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
            metavar="PATH",
            help="A folder with answers.csv (and truth.csv), or a whole cache with its index.",
            show_default=False,
        ),
    ],
    force: ForceOption = False,
) -> None:
    """Check datasets and copy them into the cache, all or none."""
    for name in datasets.add(path, force=force):
        console.note(f"added {name} to {datasets.data_folder()}")


def generate(
    kind: Annotated[
        Literal["categorical", "numeric", "sparse"],
        typer.Argument(metavar="KIND", help="categorical, numeric or sparse.", show_default=False),
    ],
    output: Annotated[Path, output_option("Write the answers to this .parquet file.")],
    write_gold: Annotated[
        Path | None, file_option("Write the truths to this .parquet file.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Number of workers.")] = 100,
    tasks: Annotated[int, typer.Option(help="Number of tasks.")] = 1_000,
    label_count: Annotated[int, typer.Option(help="categorical: number of labels.")] = 4,
    redundancy: Annotated[int, typer.Option(help="categorical: answers per task.")] = 5,
    population: Annotated[
        Ability, typer.Option(help="categorical: which workers the crowd has.")
    ] = "heterogeneous",
    accuracy: Annotated[float, typer.Option(help="categorical: mean accuracy.")] = 0.7,
    imbalance: Annotated[
        float, typer.Option(help="categorical: frequency of the first label over the last.")
    ] = 1.0,
    difficulty: Annotated[
        float, typer.Option(help="categorical: difficulty of the hardest task, 0 to 1.")
    ] = 0.0,
    share: Annotated[
        float, typer.Option(help="categorical: share of spammers or adversaries, 0 to 1.")
    ] = 0.2,
    density: Annotated[float, typer.Option(help="numeric: share of pairs with an answer.")] = 1.0,
    clip: Annotated[
        bool, typer.Option("--clip", help="numeric: clip answers to the range.")
    ] = False,
    lambda1: Annotated[
        float, typer.Option(help="numeric: rate of the workers' error variances, Exp(lambda1).")
    ] = 1.0,
    sparsity: Annotated[
        float, typer.Option(help="sparse: share of pairs without an answer.")
    ] = 0.9,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    force: ForceOption = False,
) -> None:
    """Simulate a crowd and stream its answers to a Parquet file (10^8 answers are feasible)."""
    crowd: Crowd
    match kind:
        case "categorical":
            crowd = datasets.CategoricalCrowd(
                workers=workers,
                tasks=tasks,
                labels=label_count,
                redundancy=redundancy,
                ability=population,
                accuracy=accuracy,
                share=share,
                imbalance=imbalance,
                difficulty=difficulty,
                seed=seed,
            )
        case "numeric":
            crowd = datasets.NumericCrowd(
                workers=workers, tasks=tasks, lambda1=lambda1, density=density, clip=clip, seed=seed
            )
        case "sparse":
            crowd = datasets.SparseCrowd(workers=workers, tasks=tasks, sparsity=sparsity, seed=seed)
    for path in (output, write_gold):
        if path is not None and path.suffix != ".parquet":
            raise UsageError(f"{path} must end in .parquet: generated tables are Parquet files")
    count = datasets.stream_to_parquet(crowd, output, gold=write_gold, force=force)
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
