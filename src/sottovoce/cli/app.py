"""The command line's root: what errors look like, and how it ends."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from sottovoce.cli import (
    auditing,
    comparing,
    datasets,
    demo,
    guaranteeing,
    inferring,
    inspecting,
    packing,
    perturbing,
)
from sottovoce.errors import DataError, SottovoceError
from sottovoce.version import __version__

__all__ = ["app", "main"]

DATA, USAGE, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="A crowd answers privately, and the truth is still heard.",
    epilog="Data goes to standard output, everything else to standard error. "
    "Exit codes: 0 done, 1 bad data, 2 bad usage.",
)
app.command("infer")(inferring.infer)
app.command("compare")(comparing.compare)
app.command("inspect")(inspecting.inspect)
app.command("perturb")(perturbing.perturb)
app.command("guarantee")(guaranteeing.guarantee)
app.command("audit")(auditing.audit)
app.command("pack")(packing.pack)
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
        sys.exit(DATA if isinstance(error, DataError) else USAGE)
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
