"""`sottovoce answer`."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from sottovoce.cli import console
from sottovoce.cli.options import (
    AllowHttpOption,
    BudgetOption,
    JsonOption,
    answers_option,
    folder_option,
    link_argument,
    yes_option,
)
from sottovoce.cli.prompts import Ended, Questions, agreed, read_line
from sottovoce.cli.worker.consent import (
    amount_words,
    consent_lines,
    parsed_limits,
    raise_budget,
    summary_lines,
)
from sottovoce.errors import SottovoceError, Unreachable, UsageError
from sottovoce.files.user_folders import home_folder
from sottovoce.http_client.replies import printable
from sottovoce.model import Label, State, Unit
from sottovoce.model.budget import Budget
from sottovoce.worker.answer_table import read_answers
from sottovoce.worker.client import LEDGER, Client
from sottovoce.worker.delivery import Receipt
from sottovoce.worker.offer import Offer
from sottovoce.worker.submission_preview import Preview

INTERRUPTED = 130
NOTHING = "Nothing was sent, and nothing was spent."

LinkArgument = Annotated[
    str,
    link_argument(
        "Your invitation link, in quotes: https://host/c/ID#svi_…; - reads it from the first "
        "line of standard input, which hides it from the process list."
    ),
]


def answer(
    link: LinkArgument,
    answers: Annotated[
        Path | None,
        answers_option("Send these answers instead of asking: columns task and answer."),
    ] = None,
    yes: Annotated[
        bool, yes_option("With --answers: agree and send without confirmation.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Send reports that were drawn but did not arrive.")
    ] = False,
    status: Annotated[
        bool,
        typer.Option(
            "--status", help="Show your reports on the server, and those still to be sent."
        ),
    ] = False,
    erase: Annotated[
        str | None,
        typer.Option(
            metavar="REPORT_ID",
            help="Withdraw these reports; possible while the campaign is open.",
        ),
    ] = None,
    budget: BudgetOption = None,
    policy_hash: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="Send only under the policy with this hash."),
    ] = None,
    folder: Annotated[
        Path | None,
        folder_option(
            "Folder of your ledger, receipts and reports. Default: SOTTOVOCE_HOME or your data "
            "folder."
        ),
    ] = None,
    allow_http: AllowHttpOption = False,
    json: JsonOption = False,
) -> None:
    """Answer a campaign privately: answers are randomised or sealed on this machine.

    Before you agree, you see who asks, what is sent and the privacy loss. Reports are drawn once,
    recorded in your ledger, and sent until the server confirms them. Your answers are never stored.
    """
    if [resume, status, erase is not None, answers is not None].count(True) > 1:
        raise UsageError("give only one of --answers, --resume, --status and --erase")
    if yes and answers is None:
        raise UsageError("--yes needs --answers: questions must be answered by a person")
    say = console.note if json else console.say
    with _unsent():
        address = read_line("Link: ") if link == "-" else link
        known = resume or status or erase is not None
        limits = parsed_limits(budget)
        client = _client(
            address, folder, limits, policy_hash, allow_http=allow_http, contact=not known
        )
    with client:
        if resume:
            _resume(client, json=json)
        elif status:
            _status(client, json=json)
        elif erase is not None:
            client.erase(erase)
            _tell_erased(client, erase, json=json)
        else:
            _answer(client, answers, say, yes=yes, json=json)


def _client(
    link: str,
    folder: Path | None,
    limits: tuple[float, float] | None,
    policy_hash: str | None,
    *,
    allow_http: bool,
    contact: bool,
) -> Client:
    """The client; --budget sets the limit of a new ledger, or raises that of an existing one."""
    is_new = not ((folder or home_folder()) / LEDGER).exists()
    first = Budget(*limits) if limits is not None and is_new else None
    client = Client(
        link,
        folder=folder,
        budget=first,
        policy_hash=policy_hash,
        allow_http=allow_http,
        contact=contact,
    )
    if limits is not None and not is_new:
        raise_budget(client.ledger, limits)
    return client


@contextmanager
def _unsent() -> Iterator[None]:
    """Report that nothing was sent if the block is interrupted."""
    try:
        yield
    except (Ended, KeyboardInterrupt):
        console.note(NOTHING)
        raise typer.Exit(INTERRUPTED) from None


def _answer(
    client: Client, file: Path | None, say: Callable[[str], None], *, yes: bool, json: bool
) -> None:
    with _unsent():
        offer, remaining = client.offer, client.remaining
        _check_open(client, offer, remaining)
        asked = client.affordable()
        preview = client.preview(len(remaining))
        if not asked and preview.refused is not None:
            raise preview.refused
        if not yes:
            if file is not None and not sys.stdin.isatty():
                raise UsageError(
                    "no terminal to ask for confirmation: add --yes to send these answers"
                )
            for line in consent_lines(offer, preview):
                say(line)
            if len(asked) < len(remaining):
                say(
                    f"Your budget covers {len(asked):,} of {len(remaining):,} answers; you are "
                    "asked only these. The server learns that your budget stopped you, not what "
                    "is left of it."
                )
            if not agreed("Do you agree?"):
                say(NOTHING)
                return
        given = (
            _covered(client, read_answers(file, offer.policy.domain, offer.names), say)
            if file is not None
            else _questioned(offer, asked, say)
        )
        if given is None or not (given or offer.hides_participation):
            say(NOTHING)
            return
        preview = client.preview(given)
        for line in summary_lines(preview):
            say(line)
        if preview.refused is not None:
            raise preview.refused
        if not yes and not agreed(_last_question(preview)):
            say(NOTHING)
            return
    receipt = _sent(client, given)
    if json:
        console.print_json(_receipt_json(client, receipt))
        return
    # Answers from a file are printed on a terminal only, never into a file or pipe.
    _tell_sent(offer, given, receipt, side_by_side=file is None or sys.stdout.isatty())


def _last_question(preview: Preview) -> str:
    if preview.sealed:
        return f"Seal and send {preview.reports:,} answers? You can send once."
    drawn = "They are drawn now, only once."
    return f"Send {preview.reports:,} randomised reports? {drawn}"


def _check_open(client: Client, offer: Offer, remaining: tuple[str, ...]) -> None:
    if offer.state is not State.OPEN:
        raise UsageError("the campaign is closed; --status shows your reports")
    if not remaining:
        waiting = "--resume sends the rest" if client.pending else "--status shows your reports"
        enough = ", or they have enough answers" if len(offer.asked) < len(offer.tasks) else ""
        raise UsageError(
            f"you have already answered all your tasks in this campaign{enough}; {waiting}"
        )


def _covered(
    client: Client, given: Mapping[str, Label], say: Callable[[str], None]
) -> Mapping[str, Label]:
    """The answers of a file to tasks that are asked and that the budget covers."""
    offer = client.offer
    asked = {task: value for task, value in given.items() if task in set(offer.asked)}
    if len(asked) < len(given):
        say(f"{len(given) - len(asked):,} tasks are settled; your answers to them are not sent.")
    if offer.takes_more and asked and not client.preview(asked).fits:
        chosen = client.affordable(asked)
        say(f"Your budget covers {len(chosen):,} of {len(asked):,} answers, the most needed ones.")
        asked = {task: asked[task] for task in chosen} or asked
    return asked


def _questioned(
    offer: Offer, asked: tuple[str, ...], say: Callable[[str], None]
) -> dict[str, Label] | None:
    tasks = [task for task in offer.tasks if task.name in set(asked)]
    return Questions(tasks, offer.policy.domain, offer.unit, say).asked()


def _sent(client: Client, given: Mapping[str, Label]) -> Receipt:
    """Send the reports; if interrupted, explain how to resume."""
    try:
        return client.send(given)
    except (Unreachable, KeyboardInterrupt) as error:
        if not client.pending:
            raise
        console.note(
            "Your reports are drawn and saved: `sottovoce answer LINK --resume` sends them."
        )
        if isinstance(error, Unreachable):
            raise
        raise SottovoceError("stopped; the drawn reports are saved") from None


def _tell_sent(
    offer: Offer, given: Mapping[str, Label], receipt: Receipt, *, side_by_side: bool
) -> None:
    tasks = [task for task in offer.names if task in given or task in receipt.reports]
    if offer.sealed is not None:
        console.say(f"Your answers to {len(receipt):,} questions are sealed and sent.")
        console.say("After the truths are published: sottovoce weigh LINK --answers FILE")
    elif side_by_side:
        console.print_table(
            ["task", "your answer (stays here)", "sent"],
            [
                [_cell(task), _cell(given.get(task, "skipped")), _cell(receipt.reports.get(task))]
                for task in tasks
            ],
        )
        console.say("Differences between the two columns are the noise that protects you.")
    else:
        console.print_table(
            ["task", "sent"],
            [[_cell(task), _cell(receipt.reports.get(task))] for task in tasks],
        )
    console.say(f"The server has your {len(receipt):,} reports. Report {receipt.report_id}")
    console.say("Only this machine has your receipt for it:")
    console.say("  sottovoce answer LINK --status              shows your reports on the server")
    console.say(f"  sottovoce answer LINK --erase {receipt.report_id}")
    until = "while the campaign is open" if offer.sealed is None else "until it is counted"
    console.say(f"                                              withdraws it {until}")


def _cell(value: Any) -> str:
    """A value for a table, escaped: the requester's labels and names may contain anything."""
    return escape(printable("not sent" if value is None else str(value), longest=60))


def _receipt_json(client: Client, receipt: Receipt) -> dict[str, Any]:
    return {
        "campaign": receipt.campaign,
        "report_id": receipt.report_id,
        "reports": len(receipt),
        "replayed": receipt.replayed,
        "policy_hash": client.policy_hash,
        "guarantee": {
            f"per_{unit}": {"epsilon": spent.epsilon, "delta": spent.delta}
            for unit, spent in client.spent.items()
        },
        "budget_left": {f"per_{unit}": _left(client, unit) for unit in Unit},
    }


def _left(client: Client, unit: Any) -> dict[str, float] | None:
    left = client.ledger.left(unit)
    return {"epsilon": left.epsilon, "delta": left.delta} if math.isfinite(left.epsilon) else None


def _resume(client: Client, *, json: bool) -> None:
    try:
        receipts = client.resume()
    except KeyboardInterrupt:
        raise SottovoceError("stopped; --resume sends the rest") from None
    if json:
        console.print_json({"sent": [_receipt_json(client, receipt) for receipt in receipts]})
        return
    if not receipts:
        console.say("Nothing to send.")
    for receipt in receipts:
        console.say(f"The server has your {len(receipt):,} reports. Report {receipt.report_id}")


def _status(client: Client, *, json: bool) -> None:
    own = client.reports()
    if json:
        console.print_json(
            {
                "campaign": client.campaign,
                "worker": client.worker,
                "policy_hash": client.policy_hash,
                "submissions": [
                    {
                        "report_id": each.report_id,
                        "received_on": each.received_on.isoformat(),
                        "reports": dict(each.reports),
                    }
                    for each in own
                ],
                "pending": [
                    {
                        "report_id": each.report_id,
                        "stage": str(each.stage),
                        "reports": each.reports,
                        "refused": each.refused,
                    }
                    for each in client.pending
                ],
                "budget_left": {f"per_{unit}": _left(client, unit) for unit in Unit},
            }
        )
        return
    console.say(f"Your pseudonym in campaign {client.campaign} is {client.worker}.")
    for each in own:
        console.say(f"Report {each.report_id}, received on {each.received_on}:")
        rows = [[_cell(task), _cell(report)] for task, report in each.reports.items()]
        console.print_table(["task", "sent"], rows)
    if not own:
        console.say("The server has no reports from you.")
    for waiting in client.pending:
        why = f": {waiting.refused}" if waiting.refused else ""
        console.say(
            f"Report {waiting.report_id} is not sent yet ({waiting.stage}){why}; --resume sends it."
        )
    console.say(f"Remaining budget: {amount_words(client.ledger.left(Unit.WORKER))} per worker.")


def _tell_erased(client: Client, report_id: str, *, json: bool) -> None:
    if json:
        console.print_json({"campaign": client.campaign, "erased": report_id})
        return
    console.say(f"Report {report_id} is withdrawn.")
    console.say("Your budget stays spent: the report may have been seen.")
