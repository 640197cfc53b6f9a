"""`sottovoce plan`: a forecast from options or a pilot, as table, chart, sentences and page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.cli.command_classes import epsilons, epsilons_option
from sottovoce.cli.policy_options import parsed_domain
from sottovoce.errors import DataError, UsageError
from sottovoce.figures import (
    Block,
    Figure,
    Heading,
    Paragraph,
    Table,
    check_page,
    text_chart,
    write_page,
)
from sottovoce.figures.charts import plan_chart
from sottovoce.model import Domain, Kind, Reports, Unit
from sottovoce.model.budget import DEFAULT_BUDGET, Budget
from sottovoce.planning.forecast import Forecast, score_name, score_words
from sottovoce.planning.pilot import Pilot, read_pilot
from sottovoce.planning.plan import Plan, plan_columns, plan_rows, plan_title
from sottovoce.planning.recommendation import Recommendation
from sottovoce.planning.requirements import MARGIN, Needed
from sottovoce.planning.trial_runner import default_jobs

MOST_LABELS = 1 << 20

DEFAULT_EPSILON = DEFAULT_BUDGET.limit(Unit.WORKER).epsilon

USUAL = (0.5, 1.0, 2.0)
"""The default epsilons."""


class Ability(StrEnum):
    """The assumed ability of workers."""

    mixed = "mixed"
    able = "able"
    expert = "expert"


def plan(
    tasks: Annotated[int, typer.Option(help="Number of tasks.")] = 200,
    workers: Annotated[int, typer.Option(help="Number of workers.")] = 50,
    answers_per_worker: Annotated[int, typer.Option(help="Number of answers per worker.")] = 20,
    label_count: Annotated[
        int | None,
        typer.Option(help="Answers are labels: the number of labels.", show_default=False),
    ] = None,
    span: Annotated[
        tuple[float, float] | None,
        typer.Option("--range", metavar="LOW HIGH", help="Answers are numbers from LOW to HIGH."),
    ] = None,
    domain: Annotated[str | None, options.domain_option("Default with --pilot: detected.")] = None,
    epsilon: Annotated[list[str] | None, epsilons_option(USUAL)] = None,
    unit: options.UnitOption = options.Unit.answer,
    delta: options.DeltaOption = 0.0,
    hide_participation: options.HideOption = False,
    ways: options.WaysOption = options.Ways.any,
    budget: Annotated[
        float,
        typer.Option(
            "--device-budget",
            help="Epsilon that a worker's device allows in total; inf for no limit.",
        ),
    ] = DEFAULT_EPSILON,
    ability: Annotated[
        Ability | None, typer.Option(help="Assumed ability of workers. Default: mixed.")
    ] = None,
    pilot: Annotated[
        str | None,
        typer.Option(metavar="TABLE", help="Replay the tasks and raw answers of this table."),
    ] = None,
    gold: Annotated[
        str | None, options.gold_option("Known truths of the pilot: columns task and truth.")
    ] = None,
    target_accuracy: Annotated[
        float | None, typer.Option(help="Find what reaches this accuracy (labels).")
    ] = None,
    target_error: Annotated[
        float | None, typer.Option(help="Find what reaches this mean error (numbers).")
    ] = None,
    trials: Annotated[int, typer.Option(help="Number of simulated campaigns per result.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the simulation.")] = 0,
    jobs: options.JobsOption = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Ignore cached results and recompute.")
    ] = False,
    columns: options.ColumnsOption = None,
    gold_columns: options.GoldColumnsOption = None,
    html: options.HtmlOption = None,
    json: options.JsonOption = False,
    force: options.ForceOption = False,
) -> None:
    """Forecast the accuracy of a campaign at each epsilon, before collecting answers.

    One of --label-count, --range and --domain is required, unless there is a --pilot.

    Simulates every mechanism that satisfies the guarantee and recommends the best, with a band that
    contains 9 of 10 campaigns. Workers' devices answer no more tasks than their budget allows. With
    a target, also prints what reaches it: an epsilon, and workers with their tasks.
    """
    wanted = epsilons(epsilon, USUAL)
    if jobs < 0:
        raise UsageError(f"--jobs must be 0 or more, not {jobs}")
    if not budget > 0:
        raise UsageError(f"--device-budget must be above 0, not {budget:g}")
    sizes = {"tasks": tasks, "workers": workers, "answers-per-worker": answers_per_worker}
    for option, size in sizes.items():
        if size < 1:
            raise UsageError(f"--{option} must be at least 1, not {size:,}")
    if html is not None:
        check_page(html, force=force)
    meant, seen = domain_of(label_count, span, domain), None
    if pilot is not None:
        if ability is not None:
            raise UsageError("--pilot determines the ability of workers: drop --ability")
        seen = pilot_of(pilot, gold, meant, columns, gold_columns, counted=label_count is not None)
        meant = seen.domain
    elif gold or columns or gold_columns:
        raise UsageError("--gold, --columns and --gold-columns need --pilot")
    if meant is None:
        raise UsageError("give --label-count N, --range LOW HIGH or --domain")
    scenario = sottovoce.Scenario(
        meant,
        tasks,
        workers,
        answers_per_worker,
        seen or (ability or Ability.mixed).value,
        hide_participation,
    )
    goal = _goal(meant, target_accuracy, target_error)
    with console.progress_bar("trials") as progress:
        made = sottovoce.plan(
            scenario,
            wanted,
            unit=sottovoce.Unit(unit.value),
            delta=delta,
            goal=goal,
            ways=ways.value,
            budget=None if budget == math.inf else Budget(worker_epsilon=budget),
            trials=trials,
            seed=seed,
            jobs=jobs or default_jobs(),
            cache=not fresh,
            progress=progress,
        )
    notes = made.notes()
    if html is not None:
        write_page(plan_title(made), blocks(made, notes), html, force=force)
    if json:
        console.print_json({**made.as_dict(), "notes": notes})
    else:
        _print(made, notes)
    if html is not None:
        console.note(f"wrote {html}")


def _goal(domain: Domain, accuracy: float | None, error: float | None) -> float | None:
    if accuracy is not None and domain.is_numeric:
        raise UsageError("--target-accuracy is for labels: use --target-error for numbers")
    if error is not None and not domain.is_numeric:
        raise UsageError("--target-error is for numbers: use --target-accuracy for labels")
    return error if domain.is_numeric else accuracy


def domain_of(
    labels: int | None, span: tuple[float, float] | None, domain: str | None
) -> Domain | None:
    """The domain of answers, from at most one of three options."""
    stated = {"--label-count": labels, "--range": span, "--domain": domain}
    given = [name for name, value in stated.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"give only one of {' and '.join(given)}")
    if labels is not None:
        if not 2 <= labels <= MOST_LABELS:
            raise UsageError(f"--label-count must be from 2 to {MOST_LABELS:,}, not {labels:,}")
        return Domain.categorical(range(labels))
    if span is not None:
        return Domain.numeric(*span)
    return None if domain is None else parsed_domain(domain)


def pilot_of(
    source: str,
    gold: str | None,
    stated: Domain | None,
    columns: str | None,
    gold_columns: str | None,
    *,
    counted: bool,
) -> Pilot:
    """The pilot from a table; with `counted` only the number of labels is known."""
    known = gold or (source if source.startswith("dataset:") else None)
    with console.reading(source):
        table = _read(source, Kind.CATEGORICAL if counted else stated, columns)
    console.notes_of(table.reading)
    if stated is None and table.domain.is_numeric:
        raise UsageError("a pilot of numbers needs their public range: pass --range LOW HIGH")
    if counted and stated is not None:
        table = _with_labels(table, stated.size)
    truths = known and sottovoce.gold(
        known, table.domain, columns=options.pairs(gold_columns, "--gold-columns")
    )
    return read_pilot(table, truths or None)


def _read(source: str, stated: Domain | Kind | None, columns: str | None) -> Reports:
    """The answers; a cached dataset has labels, but no public range."""
    named = options.pairs(columns, "--columns")
    if not source.startswith("dataset:"):
        return sottovoce.read(source, columns=named, domain=stated)
    table = sottovoce.read(source, columns=named)
    if not isinstance(stated, Domain):
        return table
    if not stated.is_numeric:
        raise UsageError("a cached dataset has its own labels: drop --domain")
    return replace(table.as_numbers(), domain=stated)  # refuses numbers outside the range


def _with_labels(table: Reports, labels: int) -> Reports:
    """The table with this number of labels, some of which may not occur."""
    if table.domain.is_numeric:
        raise DataError("the pilot's answers are numbers: use --range LOW HIGH or --domain")
    found = table.domain.labels
    if len(found) > labels:
        raise DataError(
            f"the pilot has {len(found):,} labels, but --label-count is {labels:,}: "
            "drop --label-count, or clean the table"
        )
    others = (f"label {number}" for number in range(len(found) + 1, labels + 1))
    return replace(table, domain=Domain(table.domain.kind, (*found, *others)))


def _print(made: Plan, notes: list[str]) -> None:
    console.print_table(plan_columns(made), plan_rows(made))
    console.say(text_chart(plan_chart(made), console.chart_width()))
    console.say("")
    for sentence in [*reasons(made), *answers(made)]:
        console.say(sentence)
    for sentence in notes:
        console.note(f"note: {sentence}")


def reasons(made: Plan) -> list[str]:
    """Why each mechanism was chosen."""
    return [
        f"Epsilon {target.epsilon:g}: {one.reason}"
        for target, one in zip(made.targets, made.recommendations, strict=True)
    ]


def answers(made: Plan) -> list[str]:
    """The epsilons and crowds that reach the goal, in sentences."""
    if made.goal is None:
        return []
    domain = made.scenario.domain
    goal = f"{score_name(domain)} {score_words(domain, made.goal)}"
    sentences = [f"A target counts as reached if the mean is better by {MARGIN:g} standard errors."]
    if made.clean.error > made.goal:
        sentences.append(
            f"Without any privacy this crowd reaches {score_words(domain, made.clean.error)}, "
            f"which does not reach {goal}."
        )
    return [*sentences, *(_answer(made, one, goal) for one in made.needed)]


def blocks(made: Plan, notes: Sequence[str]) -> list[Block]:
    """The page: forecast, figure, what reaches the target, assumptions."""
    told: list[Block] = [Paragraph(sentence) for sentence in answers(made)]
    return [
        Table(tuple(plan_columns(made)), tuple(map(tuple, plan_rows(made)))),
        Figure(plan_chart(made)),
        *([Heading("Reaching the target"), *told] if told else []),
        Heading("Reasons"),
        *map(Paragraph, reasons(made)),
        *(_tried(made, one) for one in made.recommendations if len(one.table) > 1),
        Heading("Assumptions"),
        *(Paragraph(f"{note[:1].upper()}{note[1:]}.") for note in notes),
    ]


def _answer(made: Plan, one: Needed, goal: str) -> str:
    found = score_words(made.scenario.domain, one.forecast.error)
    name, epsilon = _named(one.forecast)
    if one.question == "epsilon":
        start = f"With {made.scenario.workers:,} workers x {one.each:,} tasks each"
        what = "epsilon {:g}"
    else:
        start, what = f"At epsilon {epsilon:g}", f"{{:,.0f}} workers x {one.each:,} tasks each"
    if one.value is not None:
        return (
            f"{start} and {name}, {goal} is reached with {what.format(one.value)}: {found} in "
            "simulation."
        )
    return (
        f"{start} and {name}, {goal} is not reached up to {what.format(one.searched[1])}: the "
        f"best result was {found}, with {what.format(one.at)}."
    )


def _named(forecast: Forecast) -> tuple[str, float]:
    """The name and epsilon of the pair; clean answers have neither."""
    if forecast.pair is None or forecast.target is None:
        return "clean answers", float("inf")
    return forecast.pair.name, forecast.target.epsilon


def _tried(made: Plan, one: Recommendation) -> Table:
    domain = made.scenario.domain
    rows = tuple(
        (
            _named(each)[0],
            score_words(domain, each.error),
            f"{each.standard_error:.2g}",
            each.trials,
        )
        for each in one.table
    )
    heads = ("mechanism", score_name(domain), "standard error", "trials")
    return Table(heads, rows, f"Tried at epsilon {_named(one.forecast)[1]:g}")
