"""The server's side of the process that infers."""

from __future__ import annotations

from sottovoce.campaign.inference.fitting import Fresh
from sottovoce.campaign.processes.asking import Ended, Process
from sottovoce.server.database import Database
from sottovoce.server.database.results import Found, Summary

__all__ = ["Child", "Ended"]


class Child(Process):
    """A process that infers."""

    def __init__(self, database: Database) -> None:
        url = database.url.render_as_string(hide_password=False)
        super().__init__("sottovoce.campaign.inference.child", {"database": url})

    def infer(self, id: str) -> Fresh | None:
        """A campaign's truths as of now; None when there is no such campaign."""
        header, content = self.ask({"campaign": id})
        if not header:
            return None
        found = Found(header["sequence"], header["erasures"], Summary(**header["summary"]))
        return Fresh(found, content)

    def forget(self, id: str) -> None:
        """Have a deleted campaign's reports forgotten, if any are remembered."""
        if self.pid is not None:
            self.infer(id)  # which is not there, and is so noticed
