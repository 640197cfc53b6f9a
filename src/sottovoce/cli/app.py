"""The command line's root: what errors look like, and how it ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from sottovoce.cli import (
    answering,
    auditing,
    campaigns,
    comparing,
    databases,
    datasets,
    demo,
    doctoring,
    guaranteeing,
    inferring,
    inspecting,
    keyholding,
    packing,
    perturbing,
    planning,
    reproducing,
    safekeeping,
    sealing,
    serving,
    simulating,
    tradeoff,
    verifying,
    weighing,
)
from sottovoce.cli.epsilons import EpsilonsCommand
from sottovoce.cli.registry_help import RegistryCommand
from sottovoce.cli.stopping import Stopped
from sottovoce.errors import (
    DataError,
    PolicyChanged,
    Reason,
    Refused,
    SealedRefused,
    SottovoceError,
    Unreachable,
)
from sottovoce.version import __version__

__all__ = ["app", "main"]

DATA, USAGE, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="A crowd answers privately, and the truth is still heard.",
    epilog="Data goes to standard output, everything else to standard error. "
    "Exit codes: 0 done, 1 bad data or refused by a server, 2 bad usage.",
)
app.command("infer", cls=RegistryCommand)(inferring.infer)
app.command("compare")(comparing.compare)
app.command("inspect")(inspecting.inspect)
app.command("perturb", cls=RegistryCommand)(perturbing.perturb)
app.command("guarantee", cls=RegistryCommand)(guaranteeing.guarantee)
app.command("audit")(auditing.audit)
app.command("plan", cls=EpsilonsCommand)(planning.plan)
app.command("tradeoff", cls=EpsilonsCommand)(tradeoff.tradeoff)
app.command("reproduce")(reproducing.reproduce)
app.command("pack")(packing.pack)
app.command("simulate")(simulating.simulate)
app.command("serve")(serving.serve)
app.add_typer(campaigns.app, name="campaign")
app.command("answer")(answering.answer)
app.command("weigh")(weighing.weigh)
app.add_typer(keyholding.app, name="keyholder")
app.add_typer(sealing.app, name="sealed")
app.command("verify-page")(verifying.verify_page)
app.command("backup")(safekeeping.backup)
app.command("restore")(safekeeping.restore)
app.command("doctor")(doctoring.doctor)
app.add_typer(databases.app, name="db")
app.command("demo")(demo.demo)
app.add_typer(datasets.app, name="datasets")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sottovoce {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    """A crowd answers privately, and the truth is still heard."""


def main() -> None:
    """Run the command line; a refusal is one line on standard error, never a traceback."""
    try:
        try:
            app()
        except SystemExit as end:
            # Typer turns Ctrl-C into a silent exit.
            if end.code == INTERRUPTED:
                raise KeyboardInterrupt from None
            raise
    except SottovoceError as error:
        typer.echo(f"sottovoce: {error}", err=True)
        sys.exit(_code(error))
    except KeyboardInterrupt:
        typer.echo("sottovoce: stopped; nothing was written", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has seen enough. Python flushes once more on exit: into nothing.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # a full disk, a folder that cannot be made
        place = f"{error.filename}: " if error.filename else ""
        typer.echo(f"sottovoce: {place}{error.strerror or error}", err=True)
        sys.exit(DATA)
    except MemoryError:
        typer.echo("sottovoce: the machine ran out of memory; nothing was written", err=True)
        sys.exit(DATA)


def _code(error: SottovoceError) -> int:
    """Bad usage, unless the same command would do with another table, campaign or server."""
    if isinstance(error, Stopped):
        return INTERRUPTED
    if isinstance(error, Refused) and error.reason is Reason.MALFORMED and error.row is None:
        return USAGE
    wrong = DataError | PolicyChanged | Refused | SealedRefused | Unreachable
    return DATA if isinstance(error, wrong) else USAGE
