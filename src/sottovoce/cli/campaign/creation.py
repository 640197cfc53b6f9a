"""`sottovoce campaign create` and `sample`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.cli.campaign.connection import OverBudgetOption, asked_day, connected
from sottovoce.cli.campaign.description import devices_lines, guarantee_lines
from sottovoce.cli.campaign.keyholders import (
    ColludingOption,
    KeyholderOption,
    LayoutOption,
    MinimumOption,
    SealedOption,
    sealing_from,
)
from sottovoce.cli.console import plural
from sottovoce.cli.guarantee import limit_lines
from sottovoce.cli.policy_options import sample_from
from sottovoce.errors import UsageError
from sottovoce.model import Domain, Kind
from sottovoce.model.campaign import Assignment
from sottovoce.requester.terms import AskedTerms
from sottovoce.requester.views import CampaignView, guarantees_of
from sottovoce.tables.task_table import read_task_table


def create(
    context: typer.Context,
    tasks: Annotated[
        Path,
        typer.Argument(
            metavar="TASKS",
            help="Table with the column task and, optionally, text, image and known (the known "
            "truth): CSV, TSV, JSONL or JSON.",
            show_default=False,
        ),
    ],
    question: Annotated[str, typer.Option(help="The question about every task.")],
    title: Annotated[
        str | None, typer.Option(help="Title shown to workers. Default: the question.")
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(metavar="LABEL,LABEL,…", help="Answers are one of these labels."),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL,LABEL,…", help="Answers are one of these ordered labels: 1,2,3,4,5."
        ),
    ] = None,
    range: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="Answers are numbers from LOW to HIGH."),
    ] = None,
    step: Annotated[
        float | None, typer.Option(help="With --range: answers are multiples of this above LOW.")
    ] = None,
    number_unit: Annotated[
        str | None, typer.Option(help="Unit of the numbers, such as kg, shown to workers.")
    ] = None,
    epsilon: options.EpsilonOption = None,
    unit: options.UnitOption = options.Unit.answer,
    delta: options.DeltaOption = 0.0,
    answers_per_worker: Annotated[
        int | None,
        typer.Option(help="Largest number of tasks per worker. Default: all tasks."),
    ] = None,
    hide_participation: options.HideOption = False,
    mechanism: options.MechanismOption = None,
    sample: options.SampleOption = None,
    setting: options.SettingOption = None,
    show_draw: Annotated[
        options.ShowDraw,
        typer.Option(
            help="When the worker page shows the randomised reports: before or after sending. "
            "`sottovoce answer` always shows them after sending."
        ),
    ] = options.ShowDraw.before_send,
    policy: Annotated[
        Path | None, options.file_option("Use this policy instead of making one.")
    ] = None,
    sealed: SealedOption = False,
    keyholder: KeyholderOption = None,
    colluding: ColludingOption = None,
    minimum: MinimumOption = None,
    layout: LayoutOption = None,
    quota: Annotated[int | None, typer.Option(help="Largest number of workers.")] = None,
    closes_on: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="First day (UTC) on which no report is accepted."),
    ] = None,
    assignment: Annotated[
        Assignment | None,
        typer.Option(
            help="How a worker's tasks are chosen: those with too few reports and undecided ones "
            "first, or by a hash of the pseudonym. Default: need, if the policy allows answers to "
            "go out in parts.",
            show_default=False,
        ),
    ] = None,
    open_now: Annotated[
        bool, typer.Option("--open", help="Open it immediately; this cannot be undone.")
    ] = False,
    over_budget: OverBudgetOption = False,
    json: options.JsonOption = False,
) -> None:
    """Create a campaign from TASKS: its question, possible answers and guarantee.

    --epsilon and one of --labels, --scale and --range are required, unless there is a --policy. The
    default mechanism is randomized-response for labels (subset-selection for 10 to 63), and
    piecewise for numbers. With --hide-participation it is null-randomized-response (for 10 to 63
    labels and for numbers subset-selection).

    Prints the campaign's ID. The campaign is a draft until you open it; then its tasks and its
    guarantee are fixed.
    """
    sealing = sealing_from(sealed, keyholder, colluding, minimum, layout)
    listed, ignored = read_task_table(tasks)
    terms: AskedTerms = {
        "title": title,
        "unit": number_unit,
        "quota": quota,
        "closes_on": asked_day(closes_on, "--closes-on"),
        "assignment": assignment,
    }
    if policy is not None:
        options.refuse_beside_policy(
            {
                "--labels": labels,
                "--scale": scale,
                "--range": range,
                "--step": step is not None,
                "--epsilon": epsilon is not None,
                "--unit": unit is not options.Unit.answer,
                "--delta": delta,
                "--answers-per-worker": answers_per_worker is not None,
                "--hide-participation": hide_participation,
                "--mechanism": mechanism,
                "--sample": sample,
                "--set": setting,
                "--sealed": sealed,
                "--show-draw": show_draw is not options.ShowDraw.before_send,
            }
        )
        terms["policy"] = sottovoce.read_policy(policy)
    else:
        if epsilon is None:
            raise UsageError("give --epsilon, the privacy loss of the reports, or --policy")
        answers = len(listed) if answers_per_worker is None else answers_per_worker
        terms["domain"] = _domain(labels, scale, range, step)
        protected, draw = sottovoce.Unit(unit.value), sottovoce.ShowDraw(show_draw.value)
        sent = sample_from(sample, answers)
        terms["target"] = sottovoce.Target(
            epsilon, protected, delta, answers, hide_participation, sent, draw
        )
        terms["mechanism"], terms["parameters"] = mechanism, options.parameters(setting)
        terms["sealed"] = sealing
    with connected(context) as requester:
        made = requester.create(question, listed, **terms)
        if not json:
            console.say(made["id"])  # before opening, which may fail: the campaign exists
            for line in devices_lines(made):
                console.note(line)
        if open_now:
            made = requester.open(made["id"], over_budget=over_budget)
    if json:
        console.print_json(made)
        return
    if ignored:
        console.note(f"note: ignored columns: {', '.join(map(repr, ignored))}")
    _say(made)
    if epsilon is not None and not made["sealed"]:
        held = guarantees_of(made["guarantee"])[unit is options.Unit.worker]
        for line in limit_lines(epsilon, held.epsilon):
            console.note(line)


def _domain(
    labels: str | None, scale: str | None, range: tuple[float, float] | None, step: float | None
) -> Domain:
    given = [option for option in (labels, scale, range) if option is not None]
    if len(given) != 1:
        only = "only one of " if given else "one of "
        raise UsageError(f"give {only}--labels a,b,c, --scale 1,2,3 and --range LOW HIGH")
    if range is not None:
        return Domain.numeric(*range, step)
    if step is not None:
        raise UsageError("--step is for numbers: drop it, or use --range LOW HIGH")
    if labels is not None:
        return Domain(Kind.CATEGORICAL, _listed("--labels", labels))
    return Domain(Kind.ORDINAL, _listed("--scale", scale or ""))


def _listed(option: str, text: str) -> tuple[str, ...]:
    labels = tuple(label.strip() for label in text.split(","))
    if len(labels) < 2 or not all(labels):
        raise UsageError(f"{option} takes at least two labels separated by commas, such as no,yes")
    return labels


def _say(made: CampaignView) -> None:
    tasks, block = plural(made["tasks"], "task"), made["block"]
    how = "chosen at random" if made["assignment"] == "hash" else "the most needed first"
    each = "all of them" if block == made["tasks"] else f"{block:,} of them, {how}"
    console.note(f"campaign {made['id']}: {tasks}; a worker gets {each}")
    for line in guarantee_lines(made):
        console.note(line)
    console.note(f"policy {made['policy_hash']}")
    if made["sealed"]:
        console.note("answers are sealed: keyholders open only noised totals, once")
    following = "invite" if made["state"] == "open" else "open"
    links = f"; sottovoce campaign keyholders {made['id']}" if made["sealed"] else ""
    console.note(f"next: sottovoce campaign {following} {made['id']}{links}")


def sample(context: typer.Context, json: options.JsonOption = False) -> None:
    """Create a sample campaign with simulated workers, to explore before asking people.

    Prints the campaign's ID. The campaign is open, and its workers report within seconds. It
    accepts no reports from people, and its exports are marked as simulated.
    """
    with connected(context) as requester:
        made = requester.sample()
    if json:
        console.print_json(made)
        return
    console.say(made["id"])
    tasks = plural(made["tasks"], "task")
    console.note(f"campaign {made['id']}, SIMULATED: {tasks}; its workers report now")
    for line in guarantee_lines(made):
        console.note(line)
    console.note(f"next: sottovoce campaign status {made['id']} --watch")
