"""A plan as people see it: a table, a chart, sentences, a page."""

from __future__ import annotations

from collections.abc import Sequence

from sottovoce.figures import Block, Chart, Figure, Heading, Level, Paragraph, Series, Table
from sottovoce.planning.forecast import Forecast, band_words, score_name, score_of, score_words
from sottovoce.planning.plan import Plan
from sottovoce.planning.recommendation import Recommendation
from sottovoce.planning.requirements import MARGIN, Needed
from sottovoce.planning.trials import BAND

__all__ = ["answers", "blocks", "chart", "columns", "reasons", "rows", "title"]


def title(made: Plan) -> str:
    """What the page and the figure are about."""
    scenario = made.scenario
    return (
        f"What to expect of {scenario.workers:,} workers, {scenario.answers_per_worker:,} answers "
        f"each, on {scenario.tasks:,} tasks"
    )


def columns(made: Plan) -> list[str]:
    """The heads of the table."""
    return ["epsilon", "mechanism", score_name(made.scenario.domain), f"{100 * BAND:g} % band"]


def rows(made: Plan) -> list[list[str]]:
    """What is recommended at each epsilon, then what needs no noise and what needs no worker."""
    domain = made.scenario.domain
    shown = [
        [f"{target.epsilon:g}", one.pair.name, *_scores(made, one.forecast)]
        for target, one in zip(made.targets, made.recommendations, strict=True)
    ]
    shown.append(["-", "clean answers", *_scores(made, made.clean)])
    return [*shown, ["-", "best constant", score_words(domain, made.constant), "-"]]


def chart(made: Plan) -> Chart:
    """The score by epsilon with its band, between the best constant and clean answers."""
    domain = made.scenario.domain
    levels = [
        Level("clean answers", score_of(domain, made.clean.error)),
        Level("best constant", score_of(domain, made.constant)),
    ]
    if made.goal is not None:
        levels.append(Level("target", score_of(domain, made.goal)))
    return Chart(
        title(made),
        f"epsilon per {made.targets[0].unit}",
        score_name(domain),
        (_series(made),),
        tuple(levels),
        note=f"Simulated. A band is where one campaign lands in {100 * BAND:g} % of cases.",
        better="lower" if domain.is_numeric else "higher",
        x_scale="log" if len(made.targets) > 2 else "linear",
    )


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
        Table(tuple(columns(made)), tuple(map(tuple, rows(made)))),
        Figure(chart(made)),
        *([Heading("What the target takes"), *told] if told else []),
        Heading("Why these mechanisms"),
        *map(Paragraph, reasons(made)),
        *(_tried(made, one) for one in made.recommendations if len(one.table) > 1),
        Heading("What was assumed"),
        *(Paragraph(f"{note[:1].upper()}{note[1:]}.") for note in notes),
    ]


def _scores(made: Plan, forecast: Forecast) -> list[str]:
    domain = made.scenario.domain
    return [score_words(domain, forecast.error), band_words(domain, forecast)]


def _series(made: Plan) -> Series:
    domain = made.scenario.domain
    found = [one.forecast for one in made.recommendations]
    bands = [
        sorted(score_of(domain, error) for error in one.band or (one.error, one.error))
        for one in found
    ]
    return Series(
        "recommended",
        tuple(target.epsilon for target in made.targets),
        tuple(score_of(domain, one.error) for one in found),
        tuple(band[0] for band in bands),
        tuple(band[1] for band in bands),
        "ours",
    )


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
