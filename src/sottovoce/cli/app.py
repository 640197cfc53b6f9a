"""The command line's root: which commands there are, what errors look like, and how it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from sottovoce.cli.command_classes import EpsilonsCommand, RegistryCommand
from sottovoce.cli.option_names import with_options
from sottovoce.errors import (
    DataError,
    NotInstalled,
    PolicyChanged,
    Reason,
    Refused,
    SealedRefused,
    SottovoceError,
    Stopped,
    Unreachable,
)
from sottovoce.version import __version__

DATA, USAGE, INTERRUPTED = 1, 2, 130


class Library(NamedTuple):
    """A library that a command cannot do without, what for, and the extra that installs it."""

    name: str
    purpose: str
    extra: str

    def missing(self, error: ImportError | None = None) -> NotInstalled | None:
        """The error to raise where the library, or one that an import failed on, is absent."""
        try:
            import_module(self.name)
        except ImportError:
            return NotInstalled(self.name, purpose=self.purpose, extra=self.extra)
        if error is None or error.name is None or error.name.startswith("sottovoce"):
            return None
        if isinstance(error, NotInstalled):
            return error
        return NotInstalled(error.name, purpose=self.purpose, extra=self.extra)


CLIENT = Library("httpx", "talking to a server", "client")
SECURE = Library("cryptography", "signing messages", "secure")
SERVER = Library("uvicorn", "the server", "server")
DATABASE = Library("sqlalchemy", "the service's database", "server")


class Command(NamedTuple):
    """A command: the first line of its help, and the function, which is loaded when it runs.

    The function is written as entry points are, module:name. A command of another distribution
    names that instead, and its function is the entry point of the command's name in the group
    `sottovoce.commands`. A group without a function does nothing but hold its commands.
    """

    summary: str
    function: str | None = None
    cls: type[TyperCommand] = TyperCommand
    distribution: str | None = None


COMMANDS: Mapping[str, Command] = {
    "infer": Command(
        "Print the truth of every task in ANSWERS, a table of worker, task and answer.",
        "sottovoce.cli.inference:infer",
        cls=RegistryCommand,
    ),
    "compare": Command(
        "Score every suitable method on ANSWERS against GOLD, side by side, best first.",
        "sottovoce.cli.comparison:compare",
    ),
    "inspect": Command(
        "Say what ANSWERS holds: size, sparsity, agreement, repeated pairs, suspicious workers.",
        "sottovoce.cli.tables:inspect",
    ),
    "perturb": Command(
        "Turn ANSWERS, a table of worker, task and answer, into reports that hide them.",
        "sottovoce.cli.perturbation:perturb",
        cls=RegistryCommand,
    ),
    "guarantee": Command(
        "Say what all reports of a worker betray under POLICY, or under a mechanism and a target.",
        "sottovoce.cli.guarantee:guarantee",
        cls=RegistryCommand,
    ),
    "audit": Command(
        "Try to prove that the mechanism of POLICY betrays more than it states.",
        "sottovoce.cli.audit:audit",
    ),
    "plan": Command(
        "Say what accuracy to expect of a campaign at each epsilon, before anyone answers.",
        "sottovoce.cli.plan:plan",
        cls=EpsilonsCommand,
    ),
    "tradeoff": Command(
        "Show what privacy would cost on ANSWERS, whose truths are in GOLD.",
        "sottovoce.cli.tradeoff:tradeoff",
        cls=EpsilonsCommand,
    ),
    "reproduce": Command(
        "Check the papers' tables, figures and claims, ours beside theirs, with a verdict on each.",
        distribution="sottovoce-studies",
    ),
    "pack": Command(
        "Write a coded copy of ANSWERS that reads several times faster.",
        "sottovoce.cli.tables:pack",
    ),
    "simulate": Command(
        "Simulate a campaign with spammers, infer its truths by several methods, and plot it.",
        "sottovoce.cli.simulation:simulate",
    ),
    "serve": Command(
        "Run the service: campaigns, reports, results, on one port.",
        "sottovoce.cli.server.service:serve",
    ),
    "answer": Command(
        "Answer the questions behind LINK in private: what leaves is randomised, or sealed, here.",
        "sottovoce.cli.worker.answer:answer",
    ),
    "weigh": Command(
        "How well your answers agree with the published truths: computed here, "
        "and nothing is sent.",
        "sottovoce.cli.worker.weight:weigh",
    ),
    "verify-page": Command(
        "Compare a live server's worker page, and every file it loads, with this release.",
        "sottovoce.cli.worker.page_verification:verify_page",
    ),
    "backup": Command(
        "Copy everything the service holds to FILE, while it may go on running.",
        "sottovoce.cli.server.backup:backup",
    ),
    "restore": Command(
        "Bring the backup in FILE back into an empty database, of either kind.",
        "sottovoce.cli.server.backup:restore",
    ),
    "doctor": Command(
        "Look for what keeps a service from running well, and say how to put it right.",
        "sottovoce.cli.server.doctor:doctor",
    ),
    "demo": Command(
        "Run a private campaign for real: a server, workers in other processes, truths.",
        "sottovoce.cli.demo:demo",
    ),
    "campaign": Command(
        "Run a campaign on a server: ask a crowd, and read truths while its reports arrive.",
        "sottovoce.cli.campaign:campaign",
    ),
    "campaign login": Command(
        "Log in to a server: its token is kept in a file that only you can read.",
        "sottovoce.cli.campaign.tokens:login",
    ),
    "campaign logout": Command(
        "Forget the token of the current server, or of --server.",
        "sottovoce.cli.campaign.tokens:logout",
    ),
    "campaign create": Command(
        "Make a campaign out of TASKS: a question about each, what may be answered, and a promise.",
        "sottovoce.cli.campaign.creation:create",
        cls=RegistryCommand,
    ),
    "campaign sample": Command(
        "Make a sample campaign with simulated workers, to look around before asking anybody.",
        "sottovoce.cli.campaign.creation:sample",
    ),
    "campaign list": Command(
        "List the server's campaigns, the newest first.",
        "sottovoce.cli.campaign.lifecycle:list_campaigns",
    ),
    "campaign open": Command(
        "Open a campaign: it takes reports, and its tasks and its promise are fixed.",
        "sottovoce.cli.campaign.lifecycle:open_campaign",
    ),
    "campaign invite": Command(
        "Make links that let workers take part, one a line.",
        "sottovoce.cli.campaign.invitations:invite",
    ),
    "campaign status": Command(
        "Say how far a campaign is: who took part, what is promised, and what is inferred so far.",
        "sottovoce.cli.campaign.lifecycle:status",
    ),
    "campaign results": Command(
        "Print the truth of every task as far as reports have come in.",
        "sottovoce.cli.campaign.results:results",
    ),
    "campaign export": Command(
        "Download a campaign's reports, truths, weights, tasks or policy, whole or not at all.",
        "sottovoce.cli.campaign.results:export",
    ),
    "campaign keyholders": Command(
        "Make a link for each keyholder of a sealed campaign. Links that were made before end.",
        "sottovoce.cli.campaign.keyholders:keyholders",
    ),
    "campaign rounds": Command(
        "Say how a sealed campaign gets on: who is here, what is checked, what is in the way.",
        "sottovoce.cli.campaign.keyholders:rounds",
    ),
    "campaign publish": Command(
        "Show the truths of a closed campaign to its workers, for good.",
        "sottovoce.cli.campaign.keyholders:publish",
    ),
    "campaign close": Command(
        "Close a campaign: it takes no more reports, for good. Its results stay.",
        "sottovoce.cli.campaign.lifecycle:close_campaign",
    ),
    "campaign delete": Command(
        "Delete a campaign with its tasks, reports and results, for good.",
        "sottovoce.cli.campaign.lifecycle:delete_campaign",
    ),
    "campaign webhook": Command("Tell other programs when a campaign closes or converges."),
    "campaign webhook add": Command(
        "Send a campaign's events to ADDRESS; print the secret that they are signed with.",
        "sottovoce.cli.campaign.webhooks:add",
    ),
    "campaign webhook list": Command(
        "List who is told about a campaign.", "sottovoce.cli.campaign.webhooks:list_webhooks"
    ),
    "campaign webhook remove": Command(
        "Tell a webhook nothing more.", "sottovoce.cli.campaign.webhooks:remove"
    ),
    "campaign webhook verify": Command(
        "Check that a message to a webhook was signed with its secret, and lately.",
        "sottovoce.cli.campaign.webhooks:verify",
    ),
    "campaign token": Command("Make, list and revoke the tokens that may run campaigns."),
    "campaign token make": Command(
        "Make a further token and print it. It may do all that yours may.",
        "sottovoce.cli.campaign.tokens:make",
    ),
    "campaign token list": Command(
        "List all tokens by name, without the tokens themselves.",
        "sottovoce.cli.campaign.tokens:list_tokens",
    ),
    "campaign token revoke": Command(
        "End a token at once.", "sottovoce.cli.campaign.tokens:revoke"
    ),
    "keyholder": Command("Be a keyholder: hold a share of what opens a sealed campaign's totals."),
    "keyholder init": Command(
        "Make keys, once, and a card to hand out.", "sottovoce.cli.keyholder:init"
    ),
    "keyholder serve": Command(
        "Take your part in sealed campaigns until they are opened.", "sottovoce.cli.keyholder:serve"
    ),
    "keyholder status": Command(
        "List the campaigns you take part in, and what you have done in each; verifies every log.",
        "sottovoce.cli.keyholder:status",
    ),
    "sealed": Command("Sums that are sealed, by keyholders or by workers who are online."),
    "sealed attack": Command(
        "Compute the workers' labels from TRANSCRIPT, with no key: what its mode gives away.",
        "sottovoce.live.commands.attack:attack",
    ),
    "sealed worker": Command(
        "Take part in the live session behind LINK: your answers stay here, sums leave, sealed.",
        "sottovoce.live.commands.member:worker",
    ),
    "sealed deal": Command(
        "Deal the key of a live session: make it, seal everybody's share, send that, forget it.",
        "sottovoce.live.commands.member:deal",
    ),
    "sealed simulate": Command(
        "Seal ANSWERS, sum, open and infer, on this machine, and say what came of it.",
        "sottovoce.cli.sealed_simulation:simulate",
    ),
    "sealed session": Command(
        "Run a live session on a server: workers who are all online add up sums, "
        "and keep the parts.",
        "sottovoce.live.commands.session:session",
    ),
    "sealed session create": Command(
        "Make a session about TASKS, and a link for each worker. It begins when all have joined.",
        "sottovoce.live.commands.session:create",
    ),
    "sealed session list": Command(
        "List the server's live sessions, the newest first.",
        "sottovoce.live.commands.session:list_sessions",
    ),
    "sealed session show": Command(
        "Say how a session gets on: who has joined, who is waited for, what was opened.",
        "sottovoce.live.commands.session:show",
    ),
    "sealed session start": Command(
        "Begin with the workers who have joined: nobody can join any more.",
        "sottovoce.live.commands.session:start",
    ),
    "sealed session stop": Command(
        "End a session, for good. What was opened stays, and workers are told.",
        "sottovoce.live.commands.session:stop",
    ),
    "sealed session delete": Command(
        "Delete a session with all that was opened in it, for good.",
        "sottovoce.live.commands.session:delete",
    ),
    "sealed session results": Command(
        "Print the truth of every task of a session that is done.",
        "sottovoce.live.commands.session:results",
    ),
    "sealed session transcript": Command(
        "Write what the server has seen of a session: every opened total, and no key or answer.",
        "sottovoce.live.commands.session:transcript",
    ),
    "db": Command("The service's database: upgrade it, check it, export it."),
    "db upgrade": Command(
        "Bring the database to this release: check, back up, then change it in one transaction.",
        "sottovoce.cli.server.database:upgrade",
    ),
    "db check": Command(
        "Read the whole database, and say what is not as the service wrote it; 1 if there is any.",
        "sottovoce.cli.server.database:check",
    ),
    "db export-reports": Command(
        "Write all reports of CAMPAIGN to FOLDER as Parquet files, "
        "while the server may go on running.",
        "sottovoce.cli.server.database:export_reports",
    ),
    "datasets": Command("Real datasets in a cache folder (SOTTOVOCE_DATA), and simulated crowds."),
    "datasets list": Command("List the datasets of the cache.", "sottovoce.cli.datasets:list_all"),
    "datasets show": Command(
        "Say what a dataset holds, where it comes from and what is odd about it.",
        "sottovoce.cli.datasets:show",
    ),
    "datasets add": Command(
        "Check datasets and copy them into the cache, all of them or none.",
        "sottovoce.cli.datasets:add",
    ),
    "datasets generate": Command(
        "Simulate a crowd and stream its answers to a Parquet file, 10^8 of them if you like.",
        "sottovoce.cli.datasets:generate",
    ),
}
"""Every command by the words that are typed for it, in the order of the help."""

NEEDS: Mapping[str, tuple[Library, ...]] = {
    "serve": (SERVER,),
    "answer": (CLIENT,),
    "weigh": (CLIENT,),
    "verify-page": (CLIENT,),
    "backup": (DATABASE,),
    "restore": (DATABASE,),
    "demo": (CLIENT,),
    "campaign": (CLIENT,),
    "campaign webhook verify": (),
    "keyholder": (SECURE,),
    "keyholder serve": (CLIENT, SECURE),
    "sealed worker": (CLIENT, SECURE),
    "sealed deal": (CLIENT, SECURE),
    "sealed session": (CLIENT,),
    "db": (DATABASE,),
}
"""What a command, or all commands of a group, cannot do without; the longest words count."""


class CommandGroup(TyperGroup):
    """Commands of the table: listed by their summaries, and loaded when one of them is called."""

    path = ""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.hold(self.path)

    def hold(self, path: str) -> None:
        """Be the group with this path in the table."""
        self.path = path
        self.commands = {
            words.rpartition(" ")[2]: TyperCommand(
                words.rpartition(" ")[2], help=entry.summary, rich_markup_mode="markdown"
            )
            for words, entry in COMMANDS.items()
            if words.rpartition(" ")[0] == path
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command = load_command(f"{self.path} {name}".strip())
        return name, command, rest


def load_command(path: str) -> Any:
    """The command or group that these words call, as Click has it.

    Where a library that it needs, or the distribution that brings it, is missing, calling it raises
    `NotInstalled`. Its help is still there, as far as its module can be imported.
    """
    entry, name = COMMANDS[path], path.rpartition(" ")[2]
    made = typer.Typer(
        name=name,
        cls=CommandGroup,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="markdown",
    )
    if any(words.startswith(f"{path} ") for words in COMMANDS):
        described = made.callback() if entry.function else made.callback(help=entry.summary)
        described(_function(path))
        group: Any = typer.main.get_group(made)
        group.hold(path)
        return group
    try:
        made.command(name, cls=entry.cls)(_function(path))
    except ImportError as error:
        refused = _missing(path, error)
        if refused is None:
            raise
        anything = {"ignore_unknown_options": True, "allow_extra_args": True}
        made.command(name, help=entry.summary, context_settings=anything)(lambda: None)
    else:
        refused = _missing(path)
    command: Any = typer.main.get_command(made)
    if refused is not None:
        command.callback = _raising(refused)
    return command


def _missing(path: str, error: ImportError | None = None) -> NotInstalled | None:
    if COMMANDS[path].distribution is not None and isinstance(error, NotInstalled):
        return error
    known = [words for words in NEEDS if f"{path} ".startswith(f"{words} ")]
    needs = NEEDS[max(known, key=len)] if known else ()
    return next((lacks for each in needs if (lacks := each.missing(error))), None)


def _function(path: str) -> Callable[..., Any]:
    entry = COMMANDS[path]
    if entry.distribution is not None:
        return _function_of(entry.distribution, path)
    if entry.function is None:
        return lambda: None
    module, _, name = entry.function.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _function_of(distribution: str, path: str) -> Callable[..., Any]:
    """The function of a command that another distribution brings."""
    from importlib.metadata import entry_points  # slow to load, and `--help` needs none

    for point in entry_points(group="sottovoce.commands", name=path):
        function: Callable[..., Any] = point.load()
        return function
    raise NotInstalled(distribution, purpose=f"`sottovoce {path}`")


def _raising(error: NotInstalled) -> Callable[..., NoReturn]:
    def refuse(**_: object) -> NoReturn:
        raise error

    return refuse


app = typer.Typer(
    cls=CommandGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="A crowd answers privately, and the truth is still heard.",
    epilog="Data goes to standard output, everything else to standard error. "
    "Exit codes: 0 done, 1 bad data or refused by a server, 2 bad usage.",
)


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
        typer.echo(f"sottovoce: {with_options(str(error))}", err=True)
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
