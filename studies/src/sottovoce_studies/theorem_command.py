"""`sottovoce theorem`."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from sottovoce.cli import console, options
from sottovoce.errors import UsageError
from sottovoce_studies.theorems import THEOREMS, Assessment, assess, theorem_named


def theorem(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="A name from the list, such as p4-theorem-3.", show_default=False
        ),
    ] = None,
    list_all: Annotated[
        bool, typer.Option("--list", help="List all names with their claims and verdicts.")
    ] = False,
    accuracies: Annotated[
        str | None,
        typer.Option(metavar="P,P,…", help="P1: each worker's probability of a right answer."),
    ] = None,
    vote_weights: Annotated[
        str | None,
        typer.Option(metavar="W,W,…", help="P1: each worker's weight, or one for all."),
    ] = None,
    flip: Annotated[
        float | None, typer.Option(help="P1: probability of flipping an answer.")
    ] = None,
    lowest_flip: Annotated[
        float | None, typer.Option(help="P1: a of the hyper distribution U(a, b).")
    ] = None,
    highest_flip: Annotated[
        float | None, typer.Option(help="P1: b of the hyper distribution U(a, b).")
    ] = None,
    label_count: Annotated[int | None, typer.Option(help="P1: number of labels.")] = None,
    answers_per_worker: Annotated[
        int | None, typer.Option(help="P1, P3: number of answers per worker.")
    ] = None,
    important_workers: Annotated[
        int | None, typer.Option(help="P1: number n of important workers.")
    ] = None,
    importance_share: Annotated[
        float | None, typer.Option(help="P1: important from this share c of the greatest Im.")
    ] = None,
    error_change: Annotated[
        float | None, typer.Option(help="P1: the Delta at which its density is computed.")
    ] = None,
    lambda1: Annotated[
        float | None, typer.Option(help="P3: rate of the workers' error variances, Exp(lambda1).")
    ] = None,
    noise_level: Annotated[
        float | None, typer.Option(help="P3: noise level c = lambda1 / lambda2.")
    ] = None,
    alpha: Annotated[float | None, typer.Option(help="P3: mean change of a truth.")] = None,
    beta: Annotated[
        float | None, typer.Option(help="P3: probability of a change of at least alpha.")
    ] = None,
    eta: Annotated[float | None, typer.Option(help="P3: eta of Lemma 4.7.")] = None,
    b: Annotated[float | None, typer.Option("--b", help="P3: b of Lemma 4.7.")] = None,
    width: Annotated[float | None, typer.Option(help="P3: width of the public range.")] = None,
    values: Annotated[
        str | None, typer.Option(metavar="V,V,…", help="P4: the possible answers, Gamma.")
    ] = None,
    truth: Annotated[float | None, typer.Option(help="P4: the truth of every task.")] = None,
    density: Annotated[
        float | None, typer.Option(help="P4: share of pairs with an answer.")
    ] = None,
    sigma: Annotated[
        float | None, typer.Option(help="P4: standard deviation of a worker's error.")
    ] = None,
    tasks: Annotated[int | None, typer.Option(help="P4: number of tasks.")] = None,
    dimensions: Annotated[
        int | None, typer.Option(help="P4: dimensions of the factorisation.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="P3, P4: number of workers.")] = None,
    epsilon: options.EpsilonOption = None,
    delta: Annotated[
        float | None, typer.Option(metavar="DELTA", help="P3: failure probability delta.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="P3: seed of a simulated variance.")] = None,
    json: options.JsonOption = False,
) -> None:
    """Evaluate a theorem or equation of the papers: the printed figure, and what holds.

    Without NAME, or with --list, all names are listed. Parameters start at the paper's example
    where it has one. The output names those that matter.
    """
    given = dict(locals())
    parameters = {
        key: _numbers(value, _option(key)) if isinstance(value, str) else value
        for key, value in given.items()
        if key not in ("name", "list_all", "json") and value is not None
    }
    if name is None or list_all:
        if parameters:
            raise UsageError(f"{_option(next(iter(parameters)))} needs the NAME of a theorem")
        _list(json=json)
        return
    known = theorem_named(name).defaults
    if unused := next((key for key in parameters if key not in known), None):
        depends = ", ".join(map(_option, known))
        raise UsageError(f"{name} does not depend on {_option(unused)}; it takes {depends}")
    try:
        found = assess(name, **parameters)
    except UsageError as error:
        raise UsageError(_with_option(str(error))) from None
    if json:
        console.print_json(_as_json(found))
        return
    _print(found)


def _list(*, json: bool) -> None:
    if json:
        listed = [
            {
                "name": each.name,
                "source": each.source,
                "claim": each.claim,
                "verdict": each.verdict,
                "parameters": dict(each.defaults),
            }
            for each in THEOREMS.values()
        ]
        console.print_json({"theorems": listed})
        return
    rows = [[each.name, each.source, each.claim, each.verdict] for each in THEOREMS.values()]
    console.print_table(["name", "in the paper", "claim", "verdict"], rows)


def _print(found: Assessment) -> None:
    chosen = " ".join(f"{_option(key)} {_text(value)}" for key, value in found.parameters.items())
    console.say(f"{found.theorem.source}: {found.theorem.claim}.")
    console.say(f"Verdict: {found.theorem.verdict}.")
    console.say(f"Here: {chosen}")
    rows = [
        [figure, f"{each.value:.6g}", f"{each.sound:.6g}", "yes" if each.holds else "no"]
        for figure, each in found.figures.items()
    ]
    console.print_table(["figure", "printed", "sound", "holds here"], rows)
    for what, value in found.more.items():
        console.say(f"{what}: {_text(value)}")
    if found.example is not None:
        console.say(f"The paper prints {found.example:g} for this example.")
    for note in found.notes:
        console.say(note)


def _as_json(found: Assessment) -> dict[str, Any]:
    return {
        "name": found.theorem.name,
        "source": found.theorem.source,
        "claim": found.theorem.claim,
        "verdict": found.theorem.verdict,
        "parameters": dict(found.parameters),
        "figures": [
            {
                "figure": figure,
                "printed": _finite(each.value),
                "sound": _finite(each.sound),
                "holds": each.holds,
                "note": each.note,
            }
            for figure, each in found.figures.items()
        ],
        "more": dict(found.more),
        "example": found.example,
    }


def _numbers(text: str, option: str) -> tuple[float, ...]:
    try:
        return tuple(float(word) for word in text.split(","))
    except ValueError:
        raise UsageError(f"{option} takes numbers such as 0.9,0.8,0.7, not {text!r}") from None


ARGUMENTS = {
    "accuracy": "accuracies",
    "answers": "answers_per_worker",
    "labels": "label_count",
    "share": "importance_share",
}
"""Names in errors of the calculators that differ from those of the options."""


def _with_option(error: str) -> str:
    """An error that begins with the name of a parameter, with its option instead."""
    parameter, _, rest = error.partition(" ")
    if not rest.startswith("must "):
        return error
    return f"{_option(ARGUMENTS.get(parameter, parameter))} {rest}"


def _option(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ",".join(f"{each:g}" for each in value)
    return f"{value:.6g}"


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
