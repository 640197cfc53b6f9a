"""`sottovoce campaign sample`."""

from __future__ import annotations

import typer

from sottovoce.cli import screen
from sottovoce.cli.campaigns.connecting import connected
from sottovoce.cli.campaigns.words import counted, guarantee_lines
from sottovoce.cli.options import JsonOption

__all__ = ["sample"]


def sample(context: typer.Context, json: JsonOption = False) -> None:
    """Make a sample campaign with simulated workers, to look around before asking anybody.

    Prints the campaign's ID. It is open, and its workers report in the next seconds. It takes no
    reports of people, and what leaves it is stamped as simulated.
    """
    with connected(context) as requester:
        made = requester.sample()
    if json:
        screen.print_json(made)
        return
    screen.say(made["id"])
    tasks = counted(made["tasks"], "task")
    screen.note(f"campaign {made['id']}, SIMULATED: {tasks}; its workers report now")
    for line in guarantee_lines(made):
        screen.note(line)
    screen.note(f"next: sottovoce campaign status {made['id']} --watch")
