"""`sottovoce campaign keyholders`, `rounds` and `publish`; what `create` is told of keyholders."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sottovoce.cli import console
from sottovoce.cli.campaign.connection import CampaignArgument, connected
from sottovoce.cli.campaign.connection import watch as watch_changes
from sottovoce.cli.campaign.description import printable_line, printable_sentence
from sottovoce.cli.console import plural
from sottovoce.cli.options import JsonOption, Layout
from sottovoce.errors import DataError, UsageError
from sottovoce.model.keyholder import Keyholder
from sottovoce.requester.terms import Sealing
from sottovoce.requester.views import RoundsView, SeatView

LONGEST_CARD = 10_000
OVER = ("opened", "dead")


SealedOption = Annotated[
    bool,
    typer.Option(
        "--sealed",
        help="Seal answers for keyholders, who open nothing but noised totals, once it is closed.",
    ),
]
KeyholderOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="CARD.json",
        help="A keyholder's card, as `sottovoce keyholder init` writes it; once for each, three "
        "or more.",
        show_default=False,
    ),
]
DegreeOption = Annotated[
    int | None,
    typer.Option(
        help="How many keyholders may collude and learn nothing; 1 if not given.",
        show_default=False,
    ),
]
MinimumOption = Annotated[
    int | None,
    typer.Option(
        help="The fewest workers whose sealed answers are opened; 10 if not given.",
        show_default=False,
    ),
]
LayoutOption = Annotated[
    Layout | None,
    typer.Option(
        help="What is added up of sealed answers: votes for labels, for numbers their sum or a "
        "histogram.",
        show_default=False,
    ),
]


def sealing_from(
    sealed: bool,
    cards: list[Path] | None,
    degree: int | None,
    minimum: int | None,
    layout: Layout | None,
) -> Sealing | None:
    """Who opens the totals, from options; None for a campaign that is not sealed."""
    if not sealed:
        given = {"--keyholder": cards, "--degree": degree, "--minimum": minimum, "--layout": layout}
        for option, value in given.items():
            if value is not None:
                raise UsageError(f"{option} is for sealed answers: say --sealed too, or drop it")
        return None
    if not cards:
        raise UsageError(
            "sealed answers need keyholders: say --keyholder CARD.json for each, three or more"
        )
    return Sealing(
        tuple(map(card_from, cards)),
        1 if degree is None else degree,
        10 if minimum is None else minimum,
        None if layout is None else layout.value,
    )


def card_from(path: Path) -> Keyholder:
    """The keyholder whose card is in a file."""
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST_CARD + 1)
        if len(content) > LONGEST_CARD:
            raise UsageError("this is too long for a keyholder's card")
        return Keyholder.parse_card(content)
    except UnicodeDecodeError:
        raise DataError("this is no keyholder's card: it is not UTF-8", file=str(path)) from None
    except UsageError as error:
        raise DataError(str(error), file=str(path)) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"the keyholder's card cannot be read ({reason})", file=str(path)) from None


def keyholders(
    context: typer.Context, campaign: CampaignArgument, json: JsonOption = False
) -> None:
    """Make a link for each keyholder of a sealed campaign. Links that were made before end.

    Give each keyholder its own: it runs `sottovoce keyholder serve LINK`.
    """
    with connected(context, campaign) as requester:
        links = requester.keyholder_links(campaign)
    if json:
        console.print_json({"links": links})
        return
    for each in links:
        console.say(f"{each['seat']}\t{printable_line(each['name'])}\t{each['link']}")
    console.note("each link is for one keyholder, and is not shown again")


def rounds(
    context: typer.Context,
    campaign: CampaignArgument,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again every other second, until it is opened.")
    ] = False,
    open_without: Annotated[
        bool,
        typer.Option(
            "--open-without",
            help="Give up what is not checked by all keyholders, for good, and have the rest "
            "opened.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Say how a sealed campaign gets on: who is here, what is checked, what is in the way.

    With --watch it is said again at each change; Ctrl-C ends that.
    """
    with connected(context, campaign) as requester:
        found = requester.open_without(campaign) if open_without else requester.rounds(campaign)
        show = partial(_print, json=json)
        show(found)
        if watch:
            look = partial(requester.rounds, campaign)
            watch_changes(found, look, show, lambda rounds: rounds["phase"] in OVER)


def publish(context: typer.Context, campaign: CampaignArgument, json: JsonOption = False) -> None:
    """Show the truths of a closed campaign to its workers, for good."""
    with connected(context, campaign) as requester:
        published = requester.publish(campaign)
    if json:
        console.print_json(published)
        return
    console.note(f"the truths of campaign {campaign} are published: workers can read them")


def _print(found: RoundsView, *, json: bool) -> None:
    if json:
        console.print_json(found)
        return
    quorum = found["quorum"]
    console.say(
        f"{found['phase']}: {plural(found['uploads'], 'upload')}, {found['checked']:,} checked, "
        f"{found['waiting']:,} waiting, {len(found['dropped']):,} dropped; at least "
        f"{found['minimum']:,} are opened"
    )
    console.say(f"  {quorum['opened']:,} keyholders have opened, {quorum['needed']:,} are needed")
    for seat in found["keyholders"]:
        console.say(f"  {_seat(seat)}")
    for dropped in found["dropped"]:
        console.say(f"  dropped {dropped['worker']}: {printable_line(dropped['words'])}")
    if found["problem"] is not None:
        console.note(f"problem: {printable_sentence(found['problem'])}")


def _seat(seat: SeatView) -> str:
    here = "here" if seat["is_here"] else f"last here {seat['seen_on'] or 'never'}"
    dealt = "dealt" if seat["dealt"] else "has not dealt"
    confirmed = "" if seat["confirmed"] is None else f", confirmed batch {seat['confirmed']:,}"
    opened = ", opened" if seat["opened"] else ""
    return f"{seat['seat']} {printable_line(seat['name'])} ({here}): {dealt}{confirmed}{opened}"
