"""The process in which the service infers: it reads the database and changes nothing."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sottovoce.campaign.inference.remembering import Memory
from sottovoce.campaign.processes.answering import Answer, answer_all
from sottovoce.server.database import Database

__all__ = ["main"]


def main() -> None:
    """Infer what the parent asks for, until it goes."""
    answer_all(_inferring)


def _inferring(settings: dict[str, Any]) -> Answer:
    memory = Memory(Database.at(settings["database"]))

    def answer(asked: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        fresh = memory.infer(asked["campaign"])
        if fresh is None:
            return {}, b""
        found = fresh.found
        header = {
            "sequence": found.sequence,
            "erasures": found.erasures,
            "summary": asdict(found.summary),
        }
        return header, fresh.content

    return answer
