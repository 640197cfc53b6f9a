"""The root of the command line: the table of commands, error output and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from sottovoce.cli.command_classes import (
    EpsilonsCommand,
    PlainCommand,
    RegistryCommand,
    flags_as_flags,
)
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
    """A library that a command requires, its purpose, and the extra that installs it."""

    name: str
    purpose: str
    extra: str

    def missing(self, error: ImportError | None = None) -> NotInstalled | None:
        """The error to raise if the library, or the one whose import failed, is not installed."""
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


TABLES, PRIVACY, CAMPAIGNS = "Tables", "Privacy", "Campaigns"
SEALED, OPERATIONS, RESEARCH = "Sealed", "Operations", "Research"


class Command(NamedTuple):
    """A command: the first line of its help, and the function, which is loaded when it runs.

    The function is written like an entry point, module:name. A command of another distribution
    names that distribution instead; its function is the entry point with the command's words,
    joined by hyphens, in the group `sottovoce.commands`. A command without either only holds
    subcommands. `group` is the heading in the root's help, `renamed` maps old spellings of options
    to the current ones.
    """

    summary: str
    function: str | None = None
    cls: type[PlainCommand] = PlainCommand
    distribution: str | None = None
    group: str | None = None
    renamed: Mapping[str, str] = {}


COMMANDS: Mapping[str, Command] = {
    "infer": Command(
        "Infer the truth of every task in ANSWERS, a table of worker, task and answer.",
        "sottovoce.cli.inference:infer",
        cls=RegistryCommand,
        group=TABLES,
        renamed={"--workers": "--weights"},
    ),
    "compare": Command(
        "Score every suitable method on ANSWERS against GOLD, best first.",
        "sottovoce.cli.comparison:compare",
        group=TABLES,
        renamed={"--methods": "--method"},
    ),
    "inspect": Command(
        "Describe ANSWERS: size, sparsity, agreement, repeated pairs, suspicious workers.",
        "sottovoce.cli.tables:inspect",
        group=TABLES,
    ),
    "pack": Command(
        "Write a packed copy of ANSWERS that loads several times faster.",
        "sottovoce.cli.tables:pack",
        group=TABLES,
    ),
    "simulate": Command(
        "Simulate a campaign with spammers, infer its truths with several methods, plot the "
        "result.",
        "sottovoce.cli.simulation:simulate",
        group=TABLES,
    ),
    "datasets": Command(
        "List, find and add real datasets (cached in SOTTOVOCE_DATA); generate crowds.",
        group=TABLES,
    ),
    "datasets list": Command("List the cached datasets.", "sottovoce.cli.datasets:list_all"),
    "datasets show": Command(
        "Describe a dataset: contents, source, licence and oddities.",
        "sottovoce.cli.datasets:show",
    ),
    "datasets find": Command(
        "Search the cached datasets by their sizes, such as those that a paper prints.",
        distribution="sottovoce-studies",
    ),
    "datasets add": Command(
        "Check datasets and copy them into the cache, all or none.",
        "sottovoce.cli.datasets:add",
    ),
    "datasets generate": Command(
        "Simulate a crowd and stream its answers to a Parquet file (10^8 answers are feasible).",
        "sottovoce.cli.datasets:generate",
        renamed={
            "--labels": "--label-count",
            "--gold": "--write-gold",
            "--ability": "--population",
        },
    ),
    "perturb": Command(
        "Randomise ANSWERS, a table of worker, task and answer, into private reports.",
        "sottovoce.cli.perturbation:perturb",
        cls=RegistryCommand,
        group=PRIVACY,
    ),
    "guarantee": Command(
        "Print the privacy guarantee of POLICY, or of a mechanism and a target.",
        "sottovoce.cli.guarantee:guarantee",
        cls=RegistryCommand,
        group=PRIVACY,
        renamed={"--labels": "--label-count", "--answers": "--answers-per-worker"},
    ),
    "audit": Command(
        "Test empirically whether the mechanism of POLICY exceeds its stated privacy loss.",
        "sottovoce.cli.audit:audit",
        group=PRIVACY,
        renamed={"--answers": "--answers-per-worker"},
    ),
    "plan": Command(
        "Forecast the accuracy of a campaign at each epsilon, before collecting answers.",
        "sottovoce.cli.plan:plan",
        cls=EpsilonsCommand,
        group=PRIVACY,
        renamed={"--labels": "--label-count"},
    ),
    "tradeoff": Command(
        "Measure the accuracy cost of privacy on ANSWERS, scored against GOLD.",
        "sottovoce.cli.tradeoff:tradeoff",
        cls=EpsilonsCommand,
        group=PRIVACY,
    ),
    "demo": Command(
        "Run a complete private campaign on this machine: server, workers and results.",
        "sottovoce.cli.demo:demo",
        group=CAMPAIGNS,
    ),
    "campaign": Command(
        "Create and manage campaigns on a server.",
        "sottovoce.cli.campaign:campaign",
        group=CAMPAIGNS,
    ),
    "campaign login": Command(
        "Log in to a server; the token is saved in a file that only you can read.",
        "sottovoce.cli.campaign.tokens:login",
    ),
    "campaign logout": Command(
        "Delete the saved token of the current server, or of --server.",
        "sottovoce.cli.campaign.tokens:logout",
    ),
    "campaign create": Command(
        "Create a campaign from TASKS: its question, possible answers and guarantee.",
        "sottovoce.cli.campaign.creation:create",
        cls=RegistryCommand,
        renamed={"--privacy-unit": "--unit", "--degree": "--colluding"},
    ),
    "campaign sample": Command(
        "Create a sample campaign with simulated workers, to explore before asking people.",
        "sottovoce.cli.campaign.creation:sample",
    ),
    "campaign list": Command(
        "List the server's campaigns, newest first.",
        "sottovoce.cli.campaign.lifecycle:list_campaigns",
    ),
    "campaign open": Command(
        "Open a campaign for reports; its tasks and guarantee can no longer change.",
        "sottovoce.cli.campaign.lifecycle:open_campaign",
    ),
    "campaign invite": Command(
        "Create invitation links for workers, one per line.",
        "sottovoce.cli.campaign.invitations:invite",
    ),
    "campaign status": Command(
        "Show a campaign's progress: workers, reports, guarantee and results so far.",
        "sottovoce.cli.campaign.lifecycle:status",
    ),
    "campaign results": Command(
        "Print the inferred truth of every task, from the reports received so far.",
        "sottovoce.cli.campaign.results:results",
        renamed={"--workers": "--weights"},
    ),
    "campaign export": Command(
        "Download a campaign's reports, truths, weights, tasks or policy.",
        "sottovoce.cli.campaign.results:export",
    ),
    "campaign keyholders": Command(
        "Create a link for each keyholder of a sealed campaign; earlier links stop working.",
        "sottovoce.cli.campaign.keyholders:keyholders",
    ),
    "campaign rounds": Command(
        "Show the progress of a sealed campaign: keyholders, checks and problems.",
        "sottovoce.cli.campaign.keyholders:rounds",
    ),
    "campaign publish": Command(
        "Publish the truths of a closed campaign to its workers, permanently.",
        "sottovoce.cli.campaign.keyholders:publish",
    ),
    "campaign close": Command(
        "Close a campaign permanently: it takes no more reports. Its results remain.",
        "sottovoce.cli.campaign.lifecycle:close_campaign",
    ),
    "campaign delete": Command(
        "Delete a campaign with its tasks, reports and results, permanently.",
        "sottovoce.cli.campaign.lifecycle:delete_campaign",
    ),
    "campaign webhook": Command("Notify other programs when a campaign closes or converges."),
    "campaign webhook add": Command(
        "Send a campaign's events to ADDRESS; print the secret that signs them.",
        "sottovoce.cli.campaign.webhooks:add",
    ),
    "campaign webhook list": Command(
        "List a campaign's webhooks.", "sottovoce.cli.campaign.webhooks:list_webhooks"
    ),
    "campaign webhook remove": Command(
        "Remove a webhook.", "sottovoce.cli.campaign.webhooks:remove"
    ),
    "campaign webhook verify": Command(
        "Check that a webhook message was signed recently with the webhook's secret.",
        "sottovoce.cli.campaign.webhooks:verify",
    ),
    "campaign token": Command("Create, list and revoke requesters' tokens."),
    "campaign token make": Command(
        "Create another token and print it; it has the same rights as yours.",
        "sottovoce.cli.campaign.tokens:make",
    ),
    "campaign token list": Command(
        "List all tokens by name; the tokens themselves are not shown.",
        "sottovoce.cli.campaign.tokens:list_tokens",
    ),
    "campaign token revoke": Command(
        "Revoke a token immediately.", "sottovoce.cli.campaign.tokens:revoke"
    ),
    "answer": Command(
        "Answer a campaign privately: answers are randomised or sealed on this machine.",
        "sottovoce.cli.worker.answer:answer",
        group=CAMPAIGNS,
    ),
    "weigh": Command(
        "Compare your answers with the published truths on this machine; nothing is sent.",
        "sottovoce.cli.worker.weight:weigh",
        group=CAMPAIGNS,
    ),
    "verify-page": Command(
        "Compare a server's worker page, and every file it loads, with this release.",
        "sottovoce.cli.worker.page_verification:verify_page",
        group=CAMPAIGNS,
    ),
    "sealed": Command(
        "Compute with sealed sums: simulate, run live sessions, take part, test attacks.",
        group=SEALED,
    ),
    "sealed simulate": Command(
        "Seal, sum, open and infer ANSWERS on this machine, and print the outcome.",
        "sottovoce.cli.sealed_simulation:simulate",
        renamed={"--processes": "--separate-processes", "--scale": "--sum-scale"},
    ),
    "sealed session": Command(
        "Run live sessions on a server: online workers add up sums and keep their parts secret.",
        "sottovoce.live.commands.session:session",
    ),
    "sealed session create": Command(
        "Create a session about TASKS, with a link per worker; it starts when all have joined.",
        "sottovoce.live.commands.session:create",
        renamed={"--scale": "--sum-scale", "--patience": "--phase-patience"},
    ),
    "sealed session list": Command(
        "List the server's live sessions, newest first.",
        "sottovoce.live.commands.session:list_sessions",
    ),
    "sealed session show": Command(
        "Show a session's progress: who has joined, who is awaited, what was opened.",
        "sottovoce.live.commands.session:show",
    ),
    "sealed session start": Command(
        "Start a session with the workers who have joined; nobody else can join.",
        "sottovoce.live.commands.session:start",
    ),
    "sealed session stop": Command(
        "End a session permanently. Opened totals remain, and workers are notified.",
        "sottovoce.live.commands.session:stop",
    ),
    "sealed session delete": Command(
        "Delete a session and everything opened in it, permanently.",
        "sottovoce.live.commands.session:delete",
    ),
    "sealed session results": Command(
        "Print the truth of every task of a finished session.",
        "sottovoce.live.commands.session:results",
    ),
    "sealed session transcript": Command(
        "Write the server's view of a session: every opened total, no keys or answers.",
        "sottovoce.live.commands.session:transcript",
    ),
    "sealed worker": Command(
        "Take part in a live session: your answers stay here, sealed sums leave.",
        "sottovoce.live.commands.member:worker",
    ),
    "sealed deal": Command(
        "Deal the key of a live session: generate it, send sealed shares, discard it.",
        "sottovoce.live.commands.member:deal",
    ),
    "sealed attack": Command(
        "Recover workers' labels from TRANSCRIPT without a key, to show what its mode leaks.",
        distribution="sottovoce-studies",
    ),
    "keyholder": Command(
        "Hold a share of the key that opens a sealed campaign's totals.", group=SEALED
    ),
    "keyholder init": Command(
        "Generate keys and a public card, once.", "sottovoce.cli.keyholder:init"
    ),
    "keyholder serve": Command(
        "Take part in sealed campaigns until their totals are opened.",
        "sottovoce.cli.keyholder:serve",
    ),
    "keyholder status": Command(
        "List your campaigns and what you did in each; verify every log.",
        "sottovoce.cli.keyholder:status",
    ),
    "serve": Command(
        "Run the server: campaigns, reports and results on one port.",
        "sottovoce.cli.server.service:serve",
        group=OPERATIONS,
    ),
    "doctor": Command(
        "Check the machine, the database and the site for problems; print how to fix them.",
        "sottovoce.cli.server.doctor:doctor",
        group=OPERATIONS,
    ),
    "backup": Command(
        "Back up the whole service to FILE; the server can keep running.",
        "sottovoce.cli.server.backup:backup",
        group=OPERATIONS,
    ),
    "restore": Command(
        "Restore the backup in FILE into an empty database (SQLite or PostgreSQL).",
        "sottovoce.cli.server.backup:restore",
        group=OPERATIONS,
    ),
    "db": Command("Upgrade, check and export the service's database.", group=OPERATIONS),
    "db upgrade": Command(
        "Upgrade the database to this release: check, back up, migrate in one transaction.",
        "sottovoce.cli.server.database:upgrade",
    ),
    "db check": Command(
        "Check the whole database for inconsistencies; exit code 1 if there are any.",
        "sottovoce.cli.server.database:check",
    ),
    "db export-reports": Command(
        "Export all reports of CAMPAIGN to FOLDER as Parquet; the server can keep running.",
        "sottovoce.cli.server.database:export_reports",
    ),
    "theorem": Command(
        "Evaluate a theorem or equation of the papers: the printed figure, and what holds.",
        distribution="sottovoce-studies",
        group=RESEARCH,
    ),
    "reproduce": Command(
        "Reproduce the papers' tables, figures and claims, with a verdict on each.",
        distribution="sottovoce-studies",
        group=RESEARCH,
        renamed={"--anew": "--fresh"},
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
"""Libraries that a command, or every command of a group, requires; the longest match counts."""


class CommandGroup(TyperGroup):
    """Commands of the table: listed by summary, and loaded only when called."""

    path = ""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.hold(self.path)

    def hold(self, path: str) -> None:
        """Become the group with this path in the table."""
        self.path = path
        self.commands = {
            words.rpartition(" ")[2]: TyperCommand(
                words.rpartition(" ")[2],
                help=entry.summary,
                rich_markup_mode="markdown",
                rich_help_panel=entry.group,
            )
            for words, entry in COMMANDS.items()
            if words.rpartition(" ")[0] == path
        }

    def get_params(self, ctx: Any) -> list[Any]:
        return flags_as_flags(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            command = load_command(f"{self.path} {name}".strip())
        return name, command, rest


def load_command(path: str) -> Any:
    """The Click command or group for these words.

    If a required library or distribution is not installed, calling the command raises
    `NotInstalled`. Its help still works as far as its module can be imported.
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
        made.command(name, cls=PlainCommand, help=entry.summary, context_settings=anything)(
            lambda: None
        )
    else:
        refused = _missing(path)
    command: Any = typer.main.get_command(made)
    command.renamed = entry.renamed
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
    """The function of a command from another distribution."""
    from importlib.metadata import entry_points  # slow to load, and not needed for `--help`

    for point in entry_points(group="sottovoce.commands", name=path.replace(" ", "-")):
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
    help="Truth inference from crowd answers, raw or randomised.",
    epilog="Data goes to standard output, everything else to standard error. "
    "Exit codes: 0 success, 1 bad data or refused by a server, 2 bad usage.",
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
    """Truth inference from crowd answers, raw or randomised."""


def main() -> None:
    """Run the command line; print an error as one line on standard error, without a traceback."""
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
        # The reader closed the pipe. Python flushes again on exit, so standard output goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # a full disk, a folder that cannot be made
        place = f"{error.filename}: " if error.filename else ""
        typer.echo(f"sottovoce: {place}{error.strerror or error}", err=True)
        sys.exit(DATA)
    except MemoryError:
        typer.echo("sottovoce: the machine ran out of memory; nothing was written", err=True)
        sys.exit(DATA)


def _code(error: SottovoceError) -> int:
    """Bad usage, unless the same command could work on another table, campaign or server."""
    if isinstance(error, Stopped):
        return INTERRUPTED
    if isinstance(error, Refused) and error.reason is Reason.MALFORMED and error.row is None:
        return USAGE
    wrong = DataError | PolicyChanged | Refused | SealedRefused | Unreachable
    return DATA if isinstance(error, wrong) else USAGE
