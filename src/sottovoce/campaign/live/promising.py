"""What the opened sums of a session betray of an answer: a guarantee, or that there is none."""

from __future__ import annotations

import math
from typing import Any

from sottovoce.model import Unit
from sottovoce.securesum.em.noise_calibration import guarantee
from sottovoce.securesum.em.terms import EMTerms, Mode

__all__ = ["guarantee_of", "words_of"]

WORDS = {
    Mode.AS_PUBLISHED: "No guarantee: labels of single workers can be computed from what this mode "
    "opens, however well the sums are sealed.",
    Mode.LOG_ODDS: "No guarantee: this mode opens half of what the published one does, and labels "
    "of single workers can nearly always be computed from it.",
    Mode.NOISED: "Every opened sum has noise in it, of which no single party knows the whole.",
}


def words_of(terms: EMTerms) -> str:
    """What is opened, in words."""
    return WORDS[terms.mode]


def guarantee_of(terms: EMTerms) -> dict[str, Any] | None:
    """What holds for one answer, and for a worker who answers all tasks; None if nothing does."""
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
