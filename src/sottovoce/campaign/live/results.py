"""The truths of a session, and what its server has seen on the way to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sottovoce.campaign.live.promising import guarantee_of, words_of
from sottovoce.campaign.results import Sort
from sottovoce.campaign.service import Service
from sottovoce.errors import Reason, Refused
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce.securesum.em.planner import PrivatePlanner
from sottovoce.securesum.em.terms import EMTerms
from sottovoce.securesum.em.transcript import Transcript
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.database.live_sessions import LiveState, rounds_of, the_session

__all__ = ["Truths", "result_document", "transcript", "truths_page"]

SUMMARY = ("method", "rounds", "converged", "workers", "version")


@dataclass(frozen=True, slots=True)
class Truths:
    """Some truths, of how many there are, and what the result says about itself."""

    summary: Mapping[str, Any]
    rows: list[dict[str, Any]]
    total: int


def result_document(planner: PrivatePlanner, opened: Sequence[OpenedSum]) -> dict[str, Any]:
    """What is kept of a result: truths as codes of labels, in the order of the tasks."""
    result = planner.result(opened)
    confidence = result.confidence
    return {
        "method": result.provenance.method,
        "version": result.provenance.version,
        "rounds": result.rounds,
        "converged": result.converged,
        "workers": opened[-1].workers,
        "truths": result.truths.tolist(),
        "confidence": None if confidence is None else confidence.tolist(),
        "answers": result.answers.tolist(),
    }


def truths_page(
    service: Service, id: str, offset: int = 0, limit: int = 1000, sort: Sort = Sort.PLACE
) -> Truths:
    """Truths in the order of the tasks, or the least sure first; refused until there are some."""
    terms, result = _stored_result(service, id)
    places = np.arange(len(terms.tasks))
    if sort is Sort.CONFIDENCE and result["confidence"] is not None:
        places = np.argsort(result["confidence"], kind="stable")
    return Truths(
        {
            **{name: result[name] for name in SUMMARY},
            "tasks": len(terms.tasks),
            "guarantee": guarantee_of(terms),
            "words": words_of(terms),
        },
        [_row(terms, result, place) for place in places[offset : offset + limit].tolist()],
        len(terms.tasks),
    )


def _row(terms: EMTerms, result: Mapping[str, Any], place: int) -> dict[str, Any]:
    return {
        "task": terms.tasks[place],
        "truth": terms.labels[result["truths"][place]],
        "confidence": None if result["confidence"] is None else result["confidence"][place],
        "answers": result["answers"][place],
    }


def _stored_result(service: Service, id: str) -> tuple[EMTerms, Mapping[str, Any]]:
    with service.database.reading() as connection:
        stored = the_session(connection, id)
    if stored.result is None or stored.terms is None:
        why = "it was aborted" if stored.state is LiveState.ABORTED else f"it is {stored.state}"
        raise Refused(Reason.NOT_FOUND, f"the session has no results: {why}")
    return EMTerms.of_json(stored.terms["purpose"]), stored.result


def transcript(service: Service, id: str) -> Transcript:
    """What was opened so far, as whoever attacks it reads it; refused before the first round."""
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        rounds = rounds_of(connection, stored.number)
    if stored.terms is None:
        raise Refused(Reason.NOT_FOUND, "the session has not begun: nothing was opened")
    terms = StarTerms.of_json(stored.terms)
    opened = tuple(OpenedSum(each.totals, len(each.contributors)) for each in rounds)
    return Transcript(EMTerms.of_json(terms.purpose), terms.size, opened)
