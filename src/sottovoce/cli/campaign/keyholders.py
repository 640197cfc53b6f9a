"""`sottovoce campaign keyholders`, `rounds` and `publish`; keyholder options of `create`."""

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
        help="Seal answers for keyholders, who open only noised totals after the campaign closes.",
    ),
]
KeyholderOption = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="CARD.json",
        help="A keyholder's card, from `sottovoce keyholder init`. Repeat for each keyholder, at "
        "least three.",
        show_default=False,
    ),
]
ColludingOption = Annotated[
    int | None,
    typer.Option(
        help="How many keyholders may collude without learning anything. Default: 1.",
        show_default=False,
    ),
]
MinimumOption = Annotated[
    int | None,
    typer.Option(
        help="Smallest number of workers whose total is opened. Default: 10.",
        show_default=False,
    ),
]
LayoutOption = Annotated[
    Layout | None,
    typer.Option(
        help="Sums to compute: votes for labels; sum or histogram (robust) for numbers.",
        show_default=False,
    ),
]


def sealing_from(
    sealed: bool,
    cards: list[Path] | None,
    colluding: int | None,
    minimum: int | None,
    layout: Layout | None,
) -> Sealing | None:
    """The keyholders and sums of a sealed campaign, from options; None if it is not sealed."""
    if not sealed:
        given = {
            "--keyholder": cards,
            "--colluding": colluding,
            "--minimum": minimum,
            "--layout": layout,
        }
        for option, value in given.items():
            if value is not None:
                raise UsageError(f"{option} needs --sealed: add it, or drop {option}")
        return None
    if not cards:
        raise UsageError(
            "--sealed needs keyholders: give --keyholder CARD.json for each, at least three"
        )
    return Sealing(
        tuple(map(card_from, cards)),
        1 if colluding is None else colluding,
        10 if minimum is None else minimum,
        layout,
    )


def card_from(path: Path) -> Keyholder:
    """The keyholder from a card file."""
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST_CARD + 1)
        if len(content) > LONGEST_CARD:
            raise UsageError("not a keyholder's card: too long")
        return Keyholder.parse_card(content)
    except UnicodeDecodeError:
        raise DataError("not a keyholder's card: not UTF-8 text", file=str(path)) from None
    except UsageError as error:
        raise DataError(str(error), file=str(path)) from None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise DataError(f"cannot read the keyholder's card ({reason})", file=str(path)) from None


def keyholders(
    context: typer.Context, campaign: CampaignArgument, json: JsonOption = False
) -> None:
    """Create a link for each keyholder of a sealed campaign; earlier links stop working.

    Send each keyholder its own link. The keyholder runs `sottovoce keyholder serve LINK`.
    """
    with connected(context, campaign) as requester:
        links = requester.keyholder_links(campaign)
    if json:
        console.print_json({"links": links})
        return
    for each in links:
        console.say(f"{each['seat']}\t{printable_line(each['name'])}\t{each['link']}")
    console.note("each link is for one keyholder and is shown only once")


def rounds(
    context: typer.Context,
    campaign: CampaignArgument,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Show changes every two seconds until the totals are opened."),
    ] = False,
    open_without: Annotated[
        bool,
        typer.Option(
            "--open-without",
            help="Discard contributions that not all keyholders have checked, permanently, and "
            "open the rest.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Show the progress of a sealed campaign: keyholders, checks and problems.

    --watch prints it again after each change, until Ctrl-C.
    """
    with connected(context, campaign) as requester:
        found = requester.open_without(campaign) if open_without else requester.rounds(campaign)
        show = partial(_print, json=json)
        show(found)
        if watch:
            look = partial(requester.rounds, campaign)
            watch_changes(found, look, show, lambda rounds: rounds["phase"] in OVER)


def publish(context: typer.Context, campaign: CampaignArgument, json: JsonOption = False) -> None:
    """Publish the truths of a closed campaign to its workers, permanently."""
    with connected(context, campaign) as requester:
        published = requester.publish(campaign)
    if json:
        console.print_json(published)
        return
    console.note(f"the truths of campaign {campaign} are published; workers can read them")


def _print(found: RoundsView, *, json: bool) -> None:
    if json:
        console.print_json(found)
        return
    quorum = found["quorum"]
    console.say(
        f"{found['phase']}: {plural(found['uploads'], 'upload')}, {found['checked']:,} checked, "
        f"{found['waiting']:,} waiting, {len(found['dropped']):,} dropped; opening needs at least "
        f"{found['minimum']:,}"
    )
    console.say(f"  {quorum['opened']:,} keyholders have opened, {quorum['needed']:,} are needed")
    for seat in found["keyholders"]:
        console.say(f"  {_seat(seat)}")
    for dropped in found["dropped"]:
        console.say(f"  dropped {dropped['worker']}: {printable_line(dropped['words'])}")
    if found["problem"] is not None:
        console.note(f"problem: {printable_sentence(found['problem'])}")


def _seat(seat: SeatView) -> str:
    here = "online" if seat["is_here"] else f"last seen {seat['seen_on'] or 'never'}"
    dealt = "dealt" if seat["dealt"] else "has not dealt"
    confirmed = "" if seat["confirmed"] is None else f", confirmed batch {seat['confirmed']:,}"
    opened = ", opened" if seat["opened"] else ""
    return f"{seat['seat']} {printable_line(seat['name'])} ({here}): {dealt}{confirmed}{opened}"
