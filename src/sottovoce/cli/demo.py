"""`sottovoce demo`: a complete private campaign on this machine, in half a minute."""

from __future__ import annotations

import csv
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

import sottovoce
from sottovoce.cli import console
from sottovoce.cli.guarantee import guarantee_words
from sottovoce.cli.options import folder_option
from sottovoce.cli.worker_processes import (
    LABELS,
    PROCESSES,
    SimulatedCrowd,
    SimulatedWorker,
    WorkerOutcome,
    run_workers,
)
from sottovoce.errors import SottovoceError, UsageError
from sottovoce.mechanisms.policies import Target
from sottovoce.model import Domain, Policy, Result
from sottovoce.requester.client import Requester
from sottovoce.testing.server_process import ServerProcess, settled_result

WORKERS, TASKS, ANSWERS, EPSILON, SEED = 60, 100, 20, 2.0, 7
PATIENCE = 180.0
"""Seconds for the server to infer; it takes a few unless the machine is busy."""

TITLE, QUESTION = "Leaves", "Which tree has this leaf?"


def demo(
    port: Annotated[
        int | None,
        typer.Option(
            help="Port of the server. Default: any free port.",
            min=1,
            max=65535,
            show_default=False,
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        folder_option(
            "Keep all files in this new folder. By default they are deleted at the end.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        bool | None,
        typer.Option(
            "--keep/--no-keep",
            help="Keep the server running until Ctrl-C. Default: only on a terminal.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run a complete private campaign on this machine: server, workers and results.

    Starts the server on SQLite and opens a campaign. 60 workers in other processes randomise their
    answers and send them over HTTP. Prints the accuracy of the truths, the guarantee, and links to
    the pages. The answers are simulated; the randomisation is real.
    """
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"--folder {folder} is not empty: choose another folder")
    with _ended_by_signals(), ExitStack() as stack:
        place = folder or Path(stack.enter_context(TemporaryDirectory(prefix="sottovoce-demo-")))
        _run(place, port, stack, keep=sys.stdout.isatty() if keep is None else keep)
    console.say(
        "All files are deleted. To run again and keep the server:  sottovoce demo --keep"
        if folder is None
        else f"All files are in {folder}. To restart:  sottovoce serve --data {folder / 'data'}"
    )


def _run(place: Path, port: int | None, stack: ExitStack, *, keep: bool) -> None:
    server = stack.enter_context(ServerProcess(place, port=port))
    requester = stack.enter_context(server.requester())
    crowd = SimulatedCrowd(workers=WORKERS, tasks=TASKS, seed=SEED)
    campaign, policy = _open(requester, crowd)
    _introduce(server.url, place)
    sent = _let_answer(requester, campaign, crowd, place / "workers")
    result = _infer(requester, campaign)
    _compare(crowd, sent, result)
    _say_promise(policy)
    _check_export(requester, campaign, place, result)
    _say_where(requester, campaign, keep=keep)
    if keep:
        _stay()


def _stay() -> None:
    """Keep the server running until Ctrl-C, which may come at any moment."""
    with suppress(KeyboardInterrupt):
        console.say("\nThe server runs until Ctrl-C.")
        while True:
            time.sleep(3600)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End the child processes however this process is asked to end."""

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), end) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _open(requester: Requester, crowd: SimulatedCrowd) -> tuple[str, Policy]:
    made = requester.create(
        QUESTION,
        [{"task": task, "text": f"Photograph {task[-3:]}"} for task in crowd.tasks],
        title=TITLE,
        domain=Domain.categorical(LABELS),
        target=Target(EPSILON, answers=ANSWERS),
    )
    requester.open(made["id"])
    return made["id"], Policy.of_json(made["policy"])


def _introduce(url: str, place: Path) -> None:
    console.say(f"Server    {url}, with SQLite in {place / 'data'}")
    console.say(f"Campaign  {QUESTION} {TASKS} tasks; {', '.join(LABELS)}")
    console.say(f"Workers   {WORKERS} in {PROCESSES} other processes, {ANSWERS} tasks each")
    console.say(
        "\nThe answers are simulated, so gold is known; 1 worker in 10 guesses. The rest is real: "
        "the\nworkers' software pins the policy, randomises with the system's randomness, keeps a "
        "ledger\nand sends over HTTP.\n"
    )


def _let_answer(
    requester: Requester, campaign: str, crowd: SimulatedCrowd, folder: Path
) -> list[WorkerOutcome]:
    links = requester.invite(campaign, "single", WORKERS)
    workers = [SimulatedWorker(i, link, crowd.answers(i)) for i, link in enumerate(links)]
    start, sent = time.monotonic(), []
    with _counting("workers have sent", len(workers)) as counted:
        for one in run_workers(workers, folder):
            sent.append(one)
            counted()
    seconds = time.monotonic() - start
    refused = [one.refused for one in sent if one.refused is not None]
    reports = sum(len(one.tasks) for one in sent)
    console.say(
        f"{len(sent) - len(refused)} workers sent {reports:,} reports in {seconds:.1f} s; "
        f"{len(refused)} refused, {sum(one.replayed for one in sent)} received twice."
    )
    for words in sorted(set(refused)):
        console.note(f"refused: {words}")
    return sent


@contextmanager
def _counting(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on standard error, if it is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn(what))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(what, total=total)
        yield lambda: progress.advance(bar)


def _infer(requester: Requester, campaign: str) -> Result:
    with console.passes("the server infers", visible=True):
        return settled_result(requester, campaign, PATIENCE)


def _compare(crowd: SimulatedCrowd, sent: Sequence[WorkerOutcome], result: Result) -> None:
    raw = sottovoce.infer(crowd.raw(sent))
    rows = [
        [name, f"{score.accuracy:.3f}", console.interval_words(score), words]
        for name, score, words in (
            (
                "private",
                sottovoce.score(result, crowd.gold),
                "from the reports that the server received",
            ),
            (
                "not private",
                sottovoce.score(raw, crowd.gold),
                "from the same answers without randomisation",
            ),
        )
    ]
    console.print_table(["truths", "accuracy", "95 % interval", ""], rows)


def _say_promise(policy: Policy) -> None:
    console.say(f"Guarantee, computed by each worker's software from policy {policy.hash[:12]}:")
    for sentence in guarantee_words(policy, ANSWERS):
        console.say(f"  {sentence}")
    console.say("  To hide more, ask each worker for fewer answers, or choose a smaller epsilon.")


def _check_export(requester: Requester, campaign: str, place: Path, result: Result) -> None:
    """Infer again from the exported file, and compare the truths."""
    for name in ("reports.csv", "policy.json"):
        requester.export(campaign, name, place / name)
    arguments = ["infer", "reports.csv", "--policy", "policy.json", "-o", "truths.csv"]
    done = subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "sottovoce", *arguments],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SottovoceError(done.stderr.strip())
    with (place / "truths.csv").open(encoding="utf-8", newline="") as file:
        here = {row["task"]: row["truth"] for row in csv.DictReader(file)}
    equal = sum(
        here[task] == truth for task, truth in zip(result.tasks, result.values, strict=True)
    )
    console.say(
        f"\nThe exported file gives the same truth for {equal} of {len(result)} tasks:\n"
        f"  sottovoce {' '.join(arguments)}"
    )


def _say_where(requester: Requester, campaign: str, *, keep: bool) -> None:
    pages = {
        f"/campaigns/{campaign}": "the requester's dashboard",
        f"/c/{campaign}": "the workers' page",
        "/api": "the API reference",
    }
    console.say("\nPages:" if keep else "\nPages of the server, now stopped:")
    for path, words in pages.items():
        console.say(f"  {requester.address + path:<52}  {words}")
    if keep:
        token = requester.make_token("the demo's visitor")["token"]
        [link] = requester.invite(campaign)
        console.say(f"Token for the dashboard:\n  {token}")
        console.say(f"Take part in a browser; your answers stay there:\n  {link}")
        console.say(f"or in a terminal:\n  sottovoce answer '{link}'")
