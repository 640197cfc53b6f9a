"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.errors import UsageError
from sottovoce.tables import parse_domain


class Repeats(StrEnum):
    """What to do with a (worker, task) pair that occurs more than once."""

    first = "first"
    last = "last"
    keep = "keep"
    error = "error"


class BadRows(StrEnum):
    """What to do with a row that cannot be used."""

    error = "error"
    drop = "drop"


class Ways(StrEnum):
    """How answers leave a device."""

    any = "any"
    local = "local"
    sealed = "sealed"


class Layout(StrEnum):
    """What is added up."""

    votes = "votes"
    sum = "sum"
    histogram = "histogram"


class Unit(StrEnum):
    """What a guarantee protects: one answer, or all answers of a worker."""

    answer = "answer"
    worker = "worker"


class ShowDraw(StrEnum):
    """When a worker sees what was drawn for it."""

    before_send = "before_send"
    after_send = "after_send"


def output_option(help: str, **more: Any) -> Any:
    """`--output`, short `-o`: where a command writes what it makes."""
    return typer.Option("--output", "-o", help=help, **more)


def link_argument(help: str) -> Any:
    """LINK, which carries a secret and is typed in quotes."""
    return typer.Argument(metavar="LINK", help=help, show_default=False)


def yes_option(help: str) -> Any:
    """`--yes`: what is done without asking."""
    return typer.Option("--yes", help=help)


def allow_http_option(help: str) -> Any:
    """`--allow-http`: what may go over plain http to another machine."""
    return typer.Option("--allow-http", help=help)


AnswersArgument = Annotated[
    str,
    typer.Argument(
        metavar="ANSWERS",
        help="Table with columns worker, task and answer (or label, report, value): CSV, TSV, "
        "JSONL (each also .gz) or Parquet; - for standard input; dataset:NAME for a cached one.",
        show_default=False,
    ),
]
ColumnsOption = Annotated[
    str | None, typer.Option(help="Other column names, as worker=annotator,task=item,answer=vote.")
]
GoldColumnsOption = Annotated[
    str | None, typer.Option(help="Other column names of GOLD, as task=item,truth=right.")
]
DomainOption = Annotated[
    str | None,
    typer.Option(
        help="What answers are: categorical, ordinal or numeric, optionally with labels or range, "
        "as ordinal:low,mid,high or numeric:0..10 (numeric:0..10/0.5 with a step). "
        "Inferred if not given."
    ),
]
RepeatsOption = Annotated[
    Repeats, typer.Option(help="When a worker answered a task more than once: which answers count.")
]
BadRowsOption = Annotated[
    BadRows, typer.Option(help="Stop at a row that cannot be used, or drop it and count it.")
]
FormatOption = Annotated[
    str | None, typer.Option(help="csv, tsv, jsonl or parquet, if the name does not tell.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
MechanismOption = Annotated[
    str | None, typer.Option(help="{mechanisms}, or sealed-sum, which perturbs nothing.")
]
EpsilonOption = Annotated[
    float | None, typer.Option(help="How much reports may betray: smaller is more private.")
]
DeltaOption = Annotated[
    float, typer.Option(help="The chance with which they may betray more; 0 is best.")
]
UnitOption = Annotated[
    Unit, typer.Option(help="What epsilon is for: one answer, or all answers of a worker.")
]
AsPublishedOption = Annotated[
    bool, typer.Option("--as-published", help="Calibrate as the paper does, which may keep less.")
]
HideOption = Annotated[
    bool, typer.Option("--hide-participation", help="Hide also who answered which task.")
]
WaysOption = Annotated[
    Ways,
    typer.Option(
        help="How answers leave a device: randomised there (local), sealed for keyholders who open "
        "noised sums (sealed), or whichever does best (any)."
    ),
]
SampleOption = Annotated[
    str | None,
    typer.Option(
        help="When the unit is the worker: how many of its answers a worker sends; auto, all or a "
        "number."
    ),
]
SettingOption = Annotated[
    str | None, typer.Option("--set", help="The mechanism's parameters, as dimension=20.")
]
DATA_FOLDER = Path("sottovoce-data")
"""Where a service keeps everything, if nobody says otherwise."""

DataOption = Annotated[
    Path, typer.Option("--data", help="The service's folder: its SQLite database, and its lock.")
]
DatabaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        envvar="SOTTOVOCE_DATABASE_URL",
        metavar="URL",
        help="PostgreSQL instead, as postgresql://user:password@host/name. A password is better "
        "given in the variable, where other users of the machine do not see it.",
        show_default=False,
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        help="The Spark cluster, as spark://host:7077, yarn or local[4]; under spark-submit, what "
        "that says.",
        show_default=False,
    ),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        metavar="NAME=VALUE",
        help="A setting of Spark, with --master, as spark.executor.memory=8g; may be repeated.",
        show_default=False,
    ),
]
JobsOption = Annotated[
    int, typer.Option(help="Processes to use; 0 is one for each core.", show_default=True)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="EPSILON[,DELTA]",
        help="The most that all campaigns together may learn, per worker; 50 at first. A "
        "higher one than before raises it.",
    ),
]
PolicyArgument = Annotated[
    Path | None, typer.Argument(metavar="[POLICY]", help="A policy's file.", show_default=False)
]
AnswersOption = Annotated[
    int | None, typer.Option(help="How many answers a worker gives; the policy's if not given.")
]
YesOption = Annotated[bool, yes_option("Do not ask.")]
GoldOption = Annotated[
    str | None, typer.Option(help="Table with columns task and truth to score against.")
]
KnownGoldOption = Annotated[
    str | None,
    typer.Option(help="Table with columns task and truth; a cached dataset brings its own."),
]
PatienceOption = Annotated[float, typer.Option(help="Seconds for which the server may be silent.")]
OwnAnswersOption = Annotated[
    Path, typer.Option(help="Your answers: a table with the columns task and answer.")
]
HtmlOption = Annotated[
    Path | None, typer.Option(help="Write a page of one file here, with the figure.")
]


def pairs(text: str | None, option: str) -> dict[str, str] | None:
    """`a=b,c=d` as a dictionary."""
    if text is None:
        return None
    found = {}
    for piece in text.split(","):
        name, equals, value = piece.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"{option} takes NAME=VALUE,NAME=VALUE, not {piece!r}")
        found[name.strip()] = value.strip()
    return found


def spark_settings(given: list[str] | None) -> dict[str, str]:
    """The settings of --conf, each NAME=VALUE as spark-submit has them."""
    settings = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().startswith("spark."):
            raise UsageError(f"--conf takes spark.NAME=VALUE, not {text!r}")
        settings[name.strip()] = value.strip()
    return settings


def refuse_given(given: Mapping[str, object], why: str) -> None:
    """Refuse the first option that was given, and say why."""
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"--{option} {why}")


def refuse_beside_policy(given: Mapping[str, object]) -> None:
    """Refuse options that say again, or otherwise, what a policy has decided."""
    named = [option for option, value in given.items() if value]
    if named:
        raise UsageError(f"the policy already decides: drop {', '.join(named)}")


def parameters(text: str | None) -> dict[str, Any]:
    """`--set` with whole numbers, numbers, true and false as such."""
    given: dict[str, Any] = {}
    for name, value in (pairs(text, "--set") or {}).items():
        if value in ("true", "false"):
            given[name] = value == "true"
            continue
        for kind in (int, float, str):
            try:
                given[name] = kind(value)
                break
            except ValueError:
                continue
    return given


def reading(
    columns: str | None, domain: str | None, repeats: Repeats, bad_rows: BadRows, format: str | None
) -> dict[str, Any]:
    """The options as keywords of `sottovoce.read`; what is left at its default is left out."""
    given: Mapping[str, object] = {
        "columns": pairs(columns, "--columns"),
        "domain": parse_domain(domain) if domain is not None else None,
        "repeats": None if repeats is Repeats.first else repeats.value,
        "bad_rows": None if bad_rows is BadRows.error else bad_rows.value,
        "format": format,
    }
    return {name: value for name, value in given.items() if value is not None}
