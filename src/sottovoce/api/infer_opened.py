"""Sealed answers: totals in, truths out; and how well a worker's own answers agree with them."""

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
"""A worker's squared distances count beside so many of a worker that guesses."""


def infer_opened(opened: Opened, method: str = "auto") -> Result:
    """The truth of every task from opened totals, with how sure it is; no worker has a weight.

    "auto" is sealed-votes for labels, sealed-mean for sums and sealed-histogram for histograms
    (`sottovoce.SEALED_METHODS`). `answers` of the result are counts; where they are hidden, noisy
    ones.
    """
    result = sealed_method(method, opened.layout).fit(opened)
    return replace(result, provenance=replace(result.provenance, version=__version__))


@spelled_out(ReadingOptions)
def sum_answers(
    source: Any, policy: Policy, randomness: Randomness, **reading: Unpack[ReadingOptions]
) -> Opened:
    """What keyholders would open under a sealed policy: the totals with all of their noise.

    One process sees every answer here, so this is for simulations and for tables one holds anyway;
    a campaign never does it. Other keywords say how to read `source` (see `read`).

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
    """Totals that were opened under a sealed policy, with the law of the noise in each slot.

    How many answered each task is left out where the policy hides it.
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
    """How far a worker's own answers agree with published truths, and what they would weigh.

    `agreement` is the share of right labels, or for numbers 1 less the mean distance as a share
    of the range. `answers` is how many of its answers have a published truth.
    """

    agreement: float
    weight: float
    answers: int


def own_weight(
    answers: Mapping[str, Label | None], truths: Mapping[str, Label], domain: Domain
) -> OwnWeight:
    """The weight of a worker's own answers, by task, given the truths; nothing leaves the device.

    Labels: ln(p (s - 1)/(1 - p)) for s labels, where p is the share of right answers, as if there
    had been one more answer of each kind: 0 for a guesser. Numbers: 1 over the mean squared
    distance as a share of the range, as if four more answers had been guesses; 12 for a guesser
    whose answers lie around the truth as the range around its middle.

    >>> domain = Domain.categorical(["no", "yes"])
    >>> own_weight({"q1": "yes", "q2": "no"}, {"q1": "yes", "q2": "no"}, domain).agreement
    1.0
    """
    shared = [task for task, answer in answers.items() if answer is not None and task in truths]
    if not shared:
        raise UsageError("none of these answers is to a task whose truth is published")
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
    """What all keyholders deal, added up: tasks by slots."""
    draws = [deal.sample(sealed.seats * tasks, randomness) for deal in sealed.deals]
    return np.stack([each.reshape(sealed.seats, tasks).sum(axis=0) for each in draws], axis=1)
