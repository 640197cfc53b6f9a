"""`sottovoce plan`: a plan from options and a pilot, as a table, a chart, sentences and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.cli.command_classes import EpsilonsOption, epsilons
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
from sottovoce.model import Domain, Kind, Reports
from sottovoce.planning.forecast import Forecast, score_name, score_words
from sottovoce.planning.pilot import Pilot, read_pilot
from sottovoce.planning.plan import Plan, plan_columns, plan_rows, plan_title
from sottovoce.planning.recommendation import Recommendation
from sottovoce.planning.requirements import MARGIN, Needed
from sottovoce.planning.trial_runner import default_jobs

MOST_LABELS = 1 << 20

USUAL = (0.5, 1.0, 2.0)
"""Epsilons if none are given."""


class Ability(StrEnum):
    """How able workers are assumed to be."""

    mixed = "mixed"
    able = "able"
    expert = "expert"


def plan(
    tasks: Annotated[int, typer.Option(help="How many tasks there are.")] = 200,
    workers: Annotated[int, typer.Option(help="How many workers take part.")] = 50,
    answers_per_worker: Annotated[
        int, typer.Option(help="How many of the tasks each of them answers.")
    ] = 20,
    labels: Annotated[
        int | None, typer.Option(help="Answers are one of so many labels.", show_default=False)
    ] = None,
    span: Annotated[
        tuple[float, float] | None,
        typer.Option(
            "--range", metavar="LOW HIGH", help="Answers are numbers in this public range."
        ),
    ] = None,
    domain: options.DomainOption = None,
    epsilon: EpsilonsOption = None,
    unit: options.UnitOption = options.Unit.answer,
    delta: options.DeltaOption = 0.0,
    hide_participation: options.HideOption = False,
    ways: options.WaysOption = options.Ways.any,
    ability: Annotated[
        Ability | None, typer.Option(help="How able workers are assumed to be; mixed if not given.")
    ] = None,
    pilot: Annotated[
        str | None,
        typer.Option(metavar="ANSWERS", help="Take ability from this table of raw answers."),
    ] = None,
    gold: Annotated[
        str | None, typer.Option(help="Known truths of the pilot's tasks: columns task and truth.")
    ] = None,
    target_accuracy: Annotated[
        float | None, typer.Option(help="Say what it takes to reach this accuracy (labels).")
    ] = None,
    target_error: Annotated[
        float | None, typer.Option(help="Say what it takes to reach this mean error (numbers).")
    ] = None,
    trials: Annotated[int, typer.Option(help="Simulated campaigns for each figure.")] = 20,
    seed: Annotated[int, typer.Option(help="The same seed gives the same plan.")] = 0,
    jobs: options.JobsOption = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Simulate anew what an earlier plan has simulated.")
    ] = False,
    columns: options.ColumnsOption = None,
    gold_columns: options.GoldColumnsOption = None,
    html: options.HtmlOption = None,
    json: options.JsonOption = False,
    force: options.ForceOption = False,
) -> None:
    """Say what accuracy to expect of a campaign at each epsilon, before anyone answers.

    Every mechanism that keeps the guarantee is simulated, and the best is recommended, with the
    band that one campaign lands in 9 times of 10. With a target, say what reaches it.
    """
    wanted = epsilons(epsilon, USUAL)
    if jobs < 0:
        raise UsageError(f"--jobs must be 0 or more, not {jobs}")
    if html is not None:
        check_page(html, force=force)
    meant, seen = domain_of(labels, span, domain), None
    if pilot is not None:
        if ability is not None:
            raise UsageError("the pilot says how able workers are: drop --ability")
        seen = pilot_of(pilot, gold, meant, columns, gold_columns, counted=labels is not None)
        meant = seen.domain
    elif gold or columns or gold_columns:
        raise UsageError("--gold, --columns and --gold-columns describe a pilot: give --pilot too")
    if meant is None:
        raise UsageError("say what answers are: --labels S, --range LOW HIGH or --domain")
    scenario = sottovoce.Scenario(
        meant,
        tasks,
        workers,
        answers_per_worker,
        seen.ability if seen else (ability or Ability.mixed).value,
        hide_participation,
        seen.truths if seen else (),
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
            trials=trials,
            seed=seed,
            jobs=jobs or default_jobs(),
            cache=not fresh,
            progress=progress,
        )
    notes = [*([seen.note] if seen else []), *made.notes()]
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
        raise UsageError("numbers have an error, not an accuracy: say --target-error")
    if error is not None and not domain.is_numeric:
        raise UsageError("labels have an accuracy: say --target-accuracy")
    return error if domain.is_numeric else accuracy


def domain_of(
    labels: int | None, span: tuple[float, float] | None, domain: str | None
) -> Domain | None:
    """What answers are, as at most one of three options says."""
    stated = {"--labels": labels, "--range": span, "--domain": domain}
    given = [name for name, value in stated.items() if value is not None]
    if len(given) > 1:
        raise UsageError(f"say once what answers are: drop one of {' and '.join(given)}")
    if labels is not None:
        if not 2 <= labels <= MOST_LABELS:
            raise UsageError(f"--labels must be from 2 to {MOST_LABELS:,}, not {labels:,}")
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
    """What a pilot's table shows; with `counted` only the number of labels was stated."""
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
    """The answers; a dataset of the cache knows its labels, but not the range that is public."""
    named = options.pairs(columns, "--columns")
    if not source.startswith("dataset:"):
        return sottovoce.read(source, columns=named, domain=stated)
    table = sottovoce.read(source, columns=named)
    if not isinstance(stated, Domain):
        return table
    if not stated.is_numeric:
        raise UsageError("a dataset of the cache says itself what its labels are: drop --domain")
    return replace(table.as_numbers(), domain=stated)  # refuses numbers outside the range


def _with_labels(table: Reports, labels: int) -> Reports:
    """The table with so many labels, of which some may not have occurred."""
    if table.domain.is_numeric:
        raise DataError("the pilot's answers are numbers: say --range LOW HIGH, or --domain")
    found = table.domain.labels
    if len(found) > labels:
        raise DataError(
            f"the pilot has {len(found):,} labels and --labels says {labels:,}: "
            "leave --labels out, or clean the table"
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
    """What it takes to reach the goal, in sentences."""
    if made.goal is None:
        return []
    domain = made.scenario.domain
    goal = f"{score_name(domain)} {score_words(domain, made.goal)}"
    sentences = [f"A target is reached where the mean is beyond it by {MARGIN:g} standard errors."]
    if made.clean.error > made.goal:
        sentences.append(
            f"Without any privacy this crowd reaches {score_words(domain, made.clean.error)}, "
            f"which is short of {goal}."
        )
    return [*sentences, *(_answer(made, one, goal) for one in made.needed)]


def blocks(made: Plan, notes: Sequence[str]) -> list[Block]:
    """The page: what to expect, the figure, what the target takes, what was assumed."""
    told: list[Block] = [Paragraph(sentence) for sentence in answers(made)]
    return [
        Table(tuple(plan_columns(made)), tuple(map(tuple, plan_rows(made)))),
        Figure(plan_chart(made)),
        *([Heading("What the target takes"), *told] if told else []),
        Heading("Why these mechanisms"),
        *map(Paragraph, reasons(made)),
        *(_tried(made, one) for one in made.recommendations if len(one.table) > 1),
        Heading("What was assumed"),
        *(Paragraph(f"{note[:1].upper()}{note[1:]}.") for note in notes),
    ]


def _answer(made: Plan, one: Needed, goal: str) -> str:
    found = score_words(made.scenario.domain, one.forecast.error)
    name, epsilon = _named(one.forecast)
    if one.question == "epsilon":
        start, what = f"With {made.scenario.workers:,} workers", "epsilon {:g}"
    else:
        start, what = f"At epsilon {epsilon:g}", "{:,.0f} workers"
    if one.value is not None:
        return f"{start} and {name}, {what.format(one.value)} will do for {goal}: {found} was seen."
    return (
        f"{start} and {name}, {goal} is not reached up to {what.format(one.searched[1])}: the "
        f"best seen was {found}, with {what.format(one.at)}."
    )


def _named(forecast: Forecast) -> tuple[str, float]:
    """The pair's name and its epsilon; clean answers have none."""
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
