"""The result of a live session: truths, privacy loss of the opened sums, and transcript."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.errors import Reason, Refused
from sottovoce.model import Unit
from sottovoce.model.sum_rounds import OpenedSum
from sottovoce.securesum.em.noise_calibration import guarantee
from sottovoce.securesum.em.planner import PrivatePlanner
from sottovoce.securesum.em.terms import EMTerms, Mode
from sottovoce.securesum.em.transcript import Transcript
from sottovoce.securesum.star.terms import StarTerms
from sottovoce.server.campaigns.results import Sort
from sottovoce.server.database.live_sessions import LiveState, rounds_of, the_session
from sottovoce.server.service import Service

SUMMARY = ("method", "rounds", "converged", "workers", "version")

WORDS = {
    Mode.AS_PUBLISHED: "No guarantee: a server that knows who had which tasks can compute labels "
    "of single workers from what this mode opens, however well the sums are sealed.",
    Mode.LOG_ODDS: "No guarantee: this mode opens half of what the published one does, and often "
    "that is enough to compute labels of single workers.",
    Mode.NOISED: "Every opened sum has noise in it, of which no single party knows the whole.",
}
"""The guarantee of each mode, in words."""


def guarantee_of(terms: EMTerms) -> dict[str, Any] | None:
    """The guarantee for one answer, and for a worker who answers all tasks; None if none holds."""
    if terms.noise is None:
        return None
    answers = len(terms.tasks)
    answer, worker = (guarantee(terms, answers, unit) for unit in (Unit.ANSWER, Unit.WORKER))
    return {
        "per_answer": answer.epsilon,
        "per_worker": worker.epsilon if math.isfinite(worker.epsilon) else None,
        "delta": answer.delta,
        "answers": answers,
        "assumptions": list(answer.assumptions),
    }


def result_document(planner: PrivatePlanner, opened: Sequence[OpenedSum]) -> dict[str, Any]:
    """A result to store: truths as codes of labels, in task order."""
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
) -> dict[str, Any]:
    """Truths in task order, or the least certain first; refused until there are some.

    With their total number and the summary of the result.
    """
    terms, result = _stored_result(service, id)
    places = np.arange(len(terms.tasks))
    if sort is Sort.CONFIDENCE and result["confidence"] is not None:
        places = np.argsort(result["confidence"], kind="stable")
    return {
        "summary": {
            **{name: result[name] for name in SUMMARY},
            "tasks": len(terms.tasks),
            "guarantee": guarantee_of(terms),
            "words": WORDS[terms.mode],
        },
        "truths": [_row(terms, result, i) for i in places[offset : offset + limit].tolist()],
        "total": len(terms.tasks),
    }


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
    """The opened totals so far, as an attacker would see them; refused before the first round."""
    with service.database.reading() as connection:
        stored = the_session(connection, id)
        rounds = rounds_of(connection, stored.number)
    if stored.terms is None:
        raise Refused(Reason.NOT_FOUND, "the session has not started, so nothing was opened")
    terms = StarTerms.of_json(stored.terms)
    opened = tuple(OpenedSum(each.totals, len(each.contributors)) for each in rounds)
    return Transcript(EMTerms.of_json(terms.purpose), terms.size, opened)
