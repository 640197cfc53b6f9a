"""How sessions get on, as their requester sees it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from sottovoce.campaign.live.advancing import wish
from sottovoce.campaign.live.desks import Look, desks_of
from sottovoce.campaign.live.replicas import View
from sottovoce.campaign.service import Service
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.database.live_sessions import (
    LiveState,
    StoredSession,
    all_sessions,
    count_rounds,
    joined,
    the_session,
)

__all__ = ["Progress", "list_sessions", "progress"]

PATIENCE = 5.0
"""Seconds to wait for a session in which something is being done; then it is shown as it was."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A session: what was offered, who is in it, and how far it is.

    `round`, `phase` and `waiting` are of the round that is on, `opened` counts those that are over.
    """

    id: str
    state: LiveState
    offer: Mapping[str, Any]
    created_on: date
    joined: int
    opened: int
    terms: Mapping[str, Any] | None = None
    session: str | None = None
    round: int | None = None
    phase: str | None = None
    waiting: tuple[int, ...] = ()
    alive: tuple[int, ...] = ()
    excluded: Mapping[int, str] = field(default_factory=dict)
    reason: str | None = None
    culprits: tuple[str, ...] = ()


def list_sessions(service: Service) -> list[Progress]:
    """Every session, the newest first, as far as it is known without asking what it does now."""
    with service.database.reading() as connection:
        found = all_sessions(connection)
        numbers = [stored.number for stored in found]
        workers, rounds = joined(connection, numbers), count_rounds(connection, numbers)
    return [
        _shown(stored, workers.get(stored.number, 0), rounds.get(stored.number, 0), None)
        for stored in found
    ]


def progress(service: Service, id: str) -> Progress:
    """How a session gets on. What is due in it is done first."""
    view = _view(service, id)
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        numbers = [stored.number]
        workers, rounds = joined(connection, numbers), count_rounds(connection, numbers)
    return _shown(stored, workers.get(stored.number, 0), rounds.get(stored.number, 0), view)


def _view(service: Service, id: str) -> View | None:
    with service.database.reading() as connection:
        running = the_session(connection, id).state is LiveState.RUNNING
    if not running:
        return None
    desk = desks_of(service).desk(id)
    with suppress(TimeoutError):
        wish(service, desk, Look()).result(PATIENCE)
    return desk.view


def _shown(stored: StoredSession, workers: int, rounds: int, view: View | None) -> Progress:
    outcome, terms = stored.outcome or {}, stored.terms
    known: dict[str, Any] = {}
    if stored.state is LiveState.RUNNING and view is not None:
        known = {
            "round": view.round, "phase": view.phase, "waiting": view.waiting,
            "alive": view.alive, "excluded": view.excluded,
        }  # fmt: skip
    elif outcome:
        known = {
            "alive": tuple(outcome["alive"]),
            "excluded": {int(member): why for member, why in outcome["excluded"].items()},
            "reason": outcome["reason"] or None,
            "culprits": tuple(outcome["culprits"]),
        }
    return Progress(
        stored.id, stored.state, stored.offer, date.fromordinal(stored.created_on), workers,
        rounds, terms, None if terms is None else StarTerms.of_json(terms).id, **known,
    )  # fmt: skip
