"""How a session ended: what its members are told last, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sottovoce.campaign.live.replicas import Replica
from sottovoce.campaign.live.results import result_document
from sottovoce.server.database.live_sessions import LiveState

__all__ = ["End", "end_of", "stopped_early"]


@dataclass(frozen=True, slots=True)
class End:
    """The state, the last turns (`turns` are of the excluded), how it came, and the truths."""

    state: LiveState
    outcome: Mapping[str, Any]
    turn: bytes | None = field(default=None, repr=False)
    turns: Mapping[int, bytes] = field(default_factory=dict, repr=False)
    result: Mapping[str, Any] | None = field(default=None, repr=False)


def end_of(replica: Replica) -> End | None:
    """The end of a session; None while it goes on."""
    session = replica.session
    if session.state == "running":
        return None
    excluded = session.excluded
    turns = {member: session.turn(member) for member in excluded}
    alive = sorted(session.alive)
    result = None
    if session.state == "done":
        opened = [record.opened for record in session.records]
        result = result_document(replica.planner, opened)
    return End(
        LiveState(session.state),
        _outcome(session.reason, session.culprits, excluded, alive),
        session.turn(alive[0]) if alive else None,
        {member: turn for member, turn in turns.items() if turn is not None},
        result,
    )


def stopped_early(reason: str) -> Mapping[str, Any]:
    """What is kept of a session that ended before its first round."""
    return _outcome(reason, (), {}, [])


def _outcome(
    reason: str, culprits: tuple[str, ...], excluded: Mapping[int, str], alive: list[int]
) -> dict[str, Any]:
    return {
        "reason": reason,
        "culprits": list(culprits),
        "excluded": {str(member): why for member, why in excluded.items()},
        "alive": alive,
    }
