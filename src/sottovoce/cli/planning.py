"""`sottovoce plan`."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

import sottovoce
from sottovoce.cli import planning_views as views
from sottovoce.cli import screen
from sottovoce.cli.epsilons import EpsilonsOption, epsilons
from sottovoce.cli.options import (
    ColumnsOption,
    DeltaOption,
    DomainOption,
    ForceOption,
    GoldColumnsOption,
    HideOption,
    HtmlOption,
    JobsOption,
    JsonOption,
    Unit,
    UnitOption,
    Ways,
    WaysOption,
)
from sottovoce.cli.planning_pilot import domain_of, pilot_of
from sottovoce.errors import UsageError
from sottovoce.figures import check_page, text_chart, write_page
from sottovoce.planning.trial_runner import default_jobs

if TYPE_CHECKING:
    from sottovoce.model import Domain
    from sottovoce.planning.plan import Plan

__all__ = ["plan"]

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
    domain: DomainOption = None,
    epsilon: EpsilonsOption = None,
    unit: UnitOption = Unit.answer,
    delta: DeltaOption = 0.0,
    hide_participation: HideOption = False,
    ways: WaysOption = Ways.any,
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
    jobs: JobsOption = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Simulate anew what an earlier plan has simulated.")
    ] = False,
    columns: ColumnsOption = None,
    gold_columns: GoldColumnsOption = None,
    html: HtmlOption = None,
    json: JsonOption = False,
    force: ForceOption = False,
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
        meant, tasks, workers, answers_per_worker,
        seen.ability if seen else (ability or Ability.mixed).value, hide_participation,
        seen.truths if seen else (),
    )  # fmt: skip
    goal = _goal(meant, target_accuracy, target_error)
    with screen.counted("trials") as progress:
        made = sottovoce.plan(
            scenario, wanted, unit=sottovoce.Unit(unit.value), delta=delta, goal=goal,
            ways=ways.value, trials=trials, seed=seed, jobs=jobs or default_jobs(), cache=not fresh,
            progress=progress,
        )  # fmt: skip
    notes = [*([seen.note] if seen else []), *made.notes()]
    if html is not None:
        write_page(views.title(made), views.blocks(made, notes), html, force=force)
    if json:
        screen.print_json({**made.as_dict(), "notes": notes})
    else:
        _print(made, notes)
    if html is not None:
        screen.note(f"wrote {html}")


def _print(made: Plan, notes: list[str]) -> None:
    screen.print_table(views.columns(made), views.rows(made))
    width = shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else 100
    screen.say(text_chart(views.chart(made), min(width, 120)))
    screen.say("")
    for sentence in [*views.reasons(made), *views.answers(made)]:
        screen.say(sentence)
    for sentence in notes:
        screen.note(f"note: {sentence}")


def _goal(domain: Domain, accuracy: float | None, error: float | None) -> float | None:
    if accuracy is not None and domain.is_numeric:
        raise UsageError("numbers have an error, not an accuracy: say --target-error")
    if error is not None and not domain.is_numeric:
        raise UsageError("labels have an accuracy: say --target-accuracy")
    return error if domain.is_numeric else accuracy
