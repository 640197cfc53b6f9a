"""Truths from opened totals of sealed answers, and a worker's agreement with published truths."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from sottovoce.api.keywords import ReadingOptions, spelled_out
from sottovoce.api.perturb import check_once, check_promised, read_answers
from sottovoce.errors import UsageError
from sottovoce.inference.sealed.registry import sealed_method
from sottovoce.mechanisms.codes import answer_cells
from sottovoce.mechanisms.policies import sealed_of
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Domain, Label, Names, Policy, Reports, Result, label_text
from sottovoce.model.opened_totals import NoiseLaw, Opened
from sottovoce.seams import Randomness
from sottovoce.securesum.ballot import Ballot, number_codes
from sottovoce.securesum.plain import PlainSum
from sottovoce.version import __version__

OTHERS = 4.0
"""Number of guesses that are added to a worker's squared distances."""


def infer_opened(opened: Opened, method: str = "auto") -> Result:
    """Infer the truth of every task from opened totals, with confidence but without weights.

    "auto" is sealed-votes for labels, sealed-mean for sums and sealed-histogram for histograms
    (`sottovoce.SEALED_METHODS`). `answers` of the result are counts; if participation is
    hidden, noisy counts.
    """
    result = sealed_method(method, opened.layout).fit(opened)
    return replace(result, provenance=replace(result.provenance, version=__version__))


@spelled_out(ReadingOptions)
def sum_answers(
    source: Any, policy: Policy, randomness: Randomness, **reading: Unpack[ReadingOptions]
) -> Opened:
    """Compute the totals that keyholders would open under a sealed policy, with their noise.

    This process sees every answer, so it is for simulations and for tables that you hold anyway; a
    campaign never does this. Other keywords say how to read `source` (see `read`).

    >>> from sottovoce import Target, make_policy
    >>> from sottovoce.datasets import SeededRandomness
    >>> policy = make_policy(Domain.categorical(["no", "yes"]), "sealed-sum", Target(1.0))
    >>> answers = {"worker": ["ann", "bob"], "task": ["q1", "q1"], "answer": ["yes", "no"]}
    >>> opened = sum_answers(answers, policy, SeededRandomness(7))
    >>> opened.answered.tolist(), opened.simulated
    ([2], True)
    """
    sealed = sealed_of(policy)
    answers = read_answers(source, policy.domain, reading)
    check_once(answers)
    tasks, counts = len(answers.tasks), np.bincount(answers.worker)
    check_promised(tasks if sealed.hidden else int(counts.max()), policy, sealed)
    ballot = Ballot.of(sealed)
    codes = _codes(answers, policy.domain, ballot)
    noise = _noise(sealed, tasks, randomness)
    totals = PlainSum(ballot, tasks).total(answers.task, codes, noise)
    answered = np.bincount(answers.task, minlength=tasks).astype(np.int64)
    simulated, workers = randomness.simulated or answers.simulated, len(answers.workers)
    return opened_under(policy, answers.tasks, totals, answered, workers, simulated=simulated)


def opened_under(
    policy: Policy,
    tasks: Names,
    totals: npt.NDArray[np.int64],
    answered: npt.NDArray[np.int64] | None,
    workers: int,
    *,
    simulated: bool = False,
) -> Opened:
    """Totals that were opened under a sealed policy, with the noise law of each slot.

    The number of answers to each task is left out if the policy hides participation.
    """
    sealed = sealed_of(policy)
    laws = tuple(NoiseLaw(pmf, reach) for pmf, reach in sealed.noise_laws())
    layout, size, hidden = str(sealed.layout), sealed.size, sealed.hidden
    shown = None if hidden else answered
    return Opened(
        tasks, policy.domain, layout, size, hidden, totals, shown, workers, laws, simulated
    )


@dataclass(frozen=True, slots=True)
class OwnWeight:
    """Agreement of a worker's own answers with published truths, and their weight.

    `agreement` is the share of right labels; for numbers, 1 minus the mean distance divided by the
    range. `answers` counts the answers that have a published truth.
    """

    agreement: float
    weight: float
    answers: int


def own_weight(
    answers: Mapping[str, Label | None], truths: Mapping[str, Label], domain: Domain
) -> OwnWeight:
    """Compute the weight of a worker's own answers by task, given truths; nothing is sent.

    Labels: ln(p (s - 1)/(1 - p)) for s labels, where p is the share of right answers after adding
    one answer of each kind: 0 for guessing. Numbers: 1 over the mean squared distance, in units of
    the range, after adding four guesses: 12 for guesses that are uniform around the truth.

    >>> domain = Domain.categorical(["no", "yes"])
    >>> own_weight({"q1": "yes", "q2": "no"}, {"q1": "yes", "q2": "no"}, domain).agreement
    1.0
    """
    shared = [task for task, answer in answers.items() if answer is not None and task in truths]
    if not shared:
        raise UsageError("no answer is to a task with a published truth")
    if domain.is_numeric:
        return _weight_of_numbers(
            np.array([float(answers[task] or 0) - float(truths[task]) for task in shared])
            / (domain.high - domain.low)
        )
    right = sum(label_text(answers[task] or 0) == label_text(truths[task]) for task in shared)
    chance = (right + 1) / (len(shared) + domain.size)
    weight = math.log(chance * (domain.size - 1) / (1 - chance))
    return OwnWeight(right / len(shared), weight, len(shared))


def _weight_of_numbers(distances: npt.NDArray[np.float64]) -> OwnWeight:
    squares = float(np.square(distances).sum()) + OTHERS / 12
    weight = (len(distances) + OTHERS) / squares
    return OwnWeight(float(1 - np.abs(distances).mean()), weight, len(distances))


def _codes(answers: Reports, domain: Domain, ballot: Ballot) -> npt.NDArray[np.integer]:
    if domain.is_numeric:
        return number_codes(answers.as_numbers().value.astype(np.float64), domain, ballot)
    return answer_cells(answers, domain).code.astype(np.int64)


def _noise(sealed: SealedSum, tasks: int, randomness: Randomness) -> npt.NDArray[np.int64]:
    """The noise of all keyholders, added up: tasks by slots."""
    draws = [deal.sample(sealed.seats * tasks, randomness) for deal in sealed.deals]
    return np.stack([each.reshape(sealed.seats, tasks).sum(axis=0) for each in draws], axis=1)
