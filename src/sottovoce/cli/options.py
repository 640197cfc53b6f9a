"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sottovoce.errors import UsageError
from sottovoce.model import Repeats
from sottovoce.tables import parse_domain
from sottovoce.tables.readers import BadRows

Layout = Literal["votes", "sum", "histogram"]
"""The sums that are computed."""


class Ways(StrEnum):
    """How answers leave a device."""

    any = "any"
    local = "local"
    sealed = "sealed"


class Unit(StrEnum):
    """The unit that a guarantee protects: one answer, or all answers of a worker."""

    answer = "answer"
    worker = "worker"


class ShowDraw(StrEnum):
    """When a worker sees the randomised reports."""

    before_send = "before_send"
    after_send = "after_send"


def output_option(help: str) -> Any:
    """`--output`, short `-o`: where a command writes its output."""
    return typer.Option("--output", "-o", metavar="PATH", help=help)


def file_option(help: str, *names: str, **more: Any) -> Any:
    """An option that takes a file."""
    return typer.Option(*names, metavar="FILE", help=help, **more)


def folder_option(help: str, **more: Any) -> Any:
    """`--folder`: where a command keeps its files."""
    return typer.Option("--folder", metavar="FOLDER", help=help, **more)


def gold_option(help: str) -> Any:
    """`--gold`: a table of known truths."""
    return typer.Option("--gold", metavar="TABLE", help=help)


def answers_option(help: str) -> Any:
    """`--answers`: a table of answers."""
    return typer.Option("--answers", metavar="TABLE", help=help)


def link_argument(help: str) -> Any:
    """LINK, which contains a secret and must be quoted in a shell."""
    return typer.Argument(metavar="LINK", help=help, show_default=False)


def domain_option(default: str) -> Any:
    """`--domain`: the kind of answers, with the command's default in words."""
    return typer.Option(
        "--domain",
        metavar="KIND[:VALUES]",
        help="Kind of answers: categorical, ordinal or numeric, optionally with labels or a range, "
        "such as ordinal:low,mid,high, numeric:0..10 or numeric:0..10/0.5 (with a step). "
        + default,
    )


def yes_option(help: str) -> Any:
    """`--yes`: skip the confirmation."""
    return typer.Option("--yes", help=help)


def epsilon_from(text: str) -> float:
    """The number of `--epsilon`."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise UsageError(f"--epsilon takes a number above 0, not {text!r}")
    return number


AnswersArgument = Annotated[
    str,
    typer.Argument(
        metavar="ANSWERS",
        help="Table with columns worker, task and answer (or label, report, value): CSV, TSV, "
        "JSONL (each also .gz) or Parquet; - for standard input; dataset:NAME for a cached "
        "dataset.",
        show_default=False,
    ),
]
AllowHttpOption = Annotated[
    bool,
    typer.Option(
        "--allow-http",
        help="Allow plain http to another machine; others on the network can read and change it.",
    ),
]
ColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=COLUMN,…",
        help="Column names of the table, such as worker=who,task=item.",
    ),
]
GoldColumnsOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME=COLUMN,…",
        help="Column names of the gold table, such as task=item,truth=right.",
    ),
]
DomainOption = Annotated[str | None, domain_option("Detected by default.")]
RepeatsOption = Annotated[
    Repeats, typer.Option(help="Answers that count if a worker answered a task more than once.")
]
BadRowsOption = Annotated[
    BadRows, typer.Option(help="Stop at the first invalid row, or drop and count invalid rows.")
]
FormatOption = Annotated[
    str | None,
    typer.Option(
        metavar="csv|tsv|jsonl|parquet", help="Format of the table, if its name does not show it."
    ),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace existing files.")]
MechanismOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="One of {mechanisms}; or sealed-sum, which seals answers without perturbing them.",
    ),
]
EpsilonOption = Annotated[
    float | None,
    typer.Option(
        metavar="EPSILON",
        help="Privacy loss of the reports; smaller is more private.",
        parser=epsilon_from,
    ),
]
DeltaOption = Annotated[
    float, typer.Option(metavar="DELTA", help="Failure probability delta (0 means pure DP).")
]
UnitOption = Annotated[
    Unit, typer.Option(help="Unit of the guarantee: one answer, or all answers of a worker.")
]
AsPublishedOption = Annotated[
    bool,
    typer.Option(
        "--as-published", help="Calibrate as in the paper; the true guarantee may be weaker."
    ),
]
HideOption = Annotated[
    bool, typer.Option("--hide-participation", help="Also hide who answered which task.")
]
WaysOption = Annotated[
    Ways,
    typer.Option(
        help="How answers leave the device: randomised (local), sealed for keyholders who open "
        "noised sums (sealed), or the better of the two (any)."
    ),
]
SampleOption = Annotated[
    str | None,
    typer.Option(
        metavar="auto|all|N",
        help="With --unit worker: how many of its answers a worker sends.",
    ),
]
SettingOption = Annotated[
    str | None,
    typer.Option(
        "--set", metavar="NAME=VALUE,…", help="Parameters of the mechanism, such as dimension=20."
    ),
]
DATA_FOLDER = Path("sottovoce-data")
"""The default of `--data`."""

DataOption = Annotated[
    Path,
    typer.Option(
        "--data", metavar="FOLDER", help="The service's folder: its SQLite database and its lock."
    ),
]
DatabaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        envvar="SOTTOVOCE_DATABASE_URL",
        metavar="URL",
        help="Use PostgreSQL: postgresql://user:password@host/name. Prefer the variable for a "
        "password: other users of the machine can see the command line.",
        show_default=False,
    ),
]
MasterOption = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark cluster: spark://host:7077, yarn or local[4]. Default: that of spark-submit.",
        show_default=False,
    ),
]
ConfOption = Annotated[
    list[str] | None,
    typer.Option(
        "--conf",
        metavar="NAME=VALUE",
        help="Spark setting, with --master, such as spark.ui.port=4050; can be repeated.",
        show_default=False,
    ),
]
JobsOption = Annotated[
    int, typer.Option(help="Processes to use; 0 means one per core.", show_default=True)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
BudgetOption = Annotated[
    str | None,
    typer.Option(
        metavar="EPSILON[,DELTA]",
        help="Limit on your total privacy loss over all campaigns, per worker; initially 50. It "
        "can be raised, not lowered.",
    ),
]
PolicyArgument = Annotated[
    Path | None, typer.Argument(metavar="POLICY", help="A policy file.", show_default=False)
]
AnswersPerWorkerOption = Annotated[
    int | None,
    typer.Option(help="Number of answers per worker. Default: that of the policy."),
]
YesOption = Annotated[bool, yes_option("Do not ask for confirmation.")]
GoldOption = Annotated[
    str | None, gold_option("Known truths to score against: columns task and truth.")
]
KnownGoldOption = Annotated[
    str | None,
    gold_option("Known truths: columns task and truth. A cached dataset has its own."),
]
PatienceOption = Annotated[float, typer.Option(help="Seconds to wait for an unresponsive server.")]
OwnAnswersOption = Annotated[Path, answers_option("Your answers: columns task and answer.")]
HtmlOption = Annotated[Path | None, file_option("Write a self-contained HTML page here.")]


def pairs(text: str | None, option: str) -> dict[str, str] | None:
    """Parse `a=b,c=d` into a dictionary."""
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
    """The settings of --conf, each NAME=VALUE as in spark-submit."""
    settings = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip().startswith("spark."):
            raise UsageError(f"--conf takes spark.NAME=VALUE, not {text!r}")
        settings[name.strip()] = value.strip()
    return settings


def refuse_given(given: Mapping[str, object], why: str) -> None:
    """Raise a usage error for the first option that was given."""
    for option, value in given.items():
        if value is not None:
            raise UsageError(f"--{option} {why}")


def refuse_beside_policy(given: Mapping[str, object]) -> None:
    """Raise a usage error for options whose value the policy already fixes."""
    named = [option for option, value in given.items() if value]
    if named:
        raise UsageError(f"the policy already fixes this: drop {', '.join(named)}")


def parameters(text: str | None) -> dict[str, Any]:
    """Parse `--set`: integers, numbers, true and false, else strings."""
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
    """The options as keywords of `sottovoce.read`, without those at their default."""
    given: Mapping[str, object] = {
        "columns": pairs(columns, "--columns"),
        "domain": parse_domain(domain) if domain is not None else None,
        "repeats": None if repeats == "first" else repeats,
        "bad_rows": None if bad_rows == "error" else bad_rows,
        "format": format,
    }
    return {name: value for name, value in given.items() if value is not None}
