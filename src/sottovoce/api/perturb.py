"""Answers in, reports out, and reports read again under their policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sottovoce.api.input_output import dataset_name, read
from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import answer_cells, recoded, report_domain, report_table
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.model import Domain, Evidence, Policy, Reports, occurs_twice
from sottovoce.seams import Randomness, Release

TWICE = (
    "a worker answers a task twice, and two reports on it would betray twice as much: choose which "
    "counts with --repeats first or last"
)
"""Why a table with repeated pairs is not perturbed."""


def perturb(source: Any, policy: Policy, randomness: Randomness, **reading: Any) -> Reports:
    """Reports in place of answers, as the policy has them made.

    `randomness` is `sottovoce.worker.SystemRandomness()` for reports that leave a device. A
    `sottovoce.datasets.SeededRandomness(seed)` is for simulations, and its reports are stamped.
    Where the policy hides participation, every worker reports on every task of the table.

    >>> from sottovoce import Target, make_policy
    >>> from sottovoce.datasets import SeededRandomness
    >>> policy = make_policy(Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0))
    >>> answers = {"worker": ["ann", "bob"], "task": ["q1", "q1"], "answer": ["yes", "no"]}
    >>> perturb(answers, policy, SeededRandomness(7)).simulated
    True
    """
    mechanism = mechanism_of(policy)
    if not callable(getattr(randomness, "words", None)):
        raise UsageError(
            "say where noise comes from: SystemRandomness() for reports that leave a device, "
            "SeededRandomness(seed) for simulations"
        )
    answers = read(source, **reading_under(policy.domain, source, reading))
    check_once(answers)
    cells = answer_cells(answers, policy.domain)
    if mechanism.hides_participation:
        cells = cells.dense()
    check_promised(int(cells.answered.max()), policy, mechanism)
    private = mechanism.draw(len(cells.workers), randomness)
    reports = mechanism.perturb(cells, private, randomness)
    # Noise does not make simulated answers real.
    simulated = randomness.simulated or answers.simulated
    return report_table(reports, mechanism.alphabet, policy.domain, simulated=simulated)


def read_under(source: Any, policy: Policy, **reading: Any) -> Reports:
    """A table of reports made under a policy; what such a report cannot be is refused."""
    expected = report_domain(mechanism_of(policy).alphabet, policy.domain)
    if reading.get("domain") is not None:
        raise UsageError("the policy says what reports are: drop --domain")
    if isinstance(source, Reports):
        return recoded(source, expected)
    return read(source, **{**reading, "domain": expected, "reported": True})


def read_plain(source: Any, policy: Policy, **reading: Any) -> Reports:
    """A table of reports as methods take it that know nothing of the noise."""
    reports = read_under(source, policy, **reading)
    return mechanism_of(policy).plain(reports, policy.domain)


def read_evidence(
    source: Any, policy: Policy, *, as_numbers: bool = False, **reading: Any
) -> Evidence | None:
    """A table of reports as symbols with their law; None where the mechanism gives none."""
    reports = read_under(source, policy, **reading)
    return mechanism_of(policy).evidence(reports, policy.domain, as_numbers=as_numbers)


def reading_under(domain: Domain, source: Any, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Reading options by which answers outside the policy's domain are refused with their row."""
    if reading.get("domain") is not None:
        raise UsageError("the policy says what answers are: drop --domain")
    if isinstance(source, Reports) or dataset_name(source):
        return dict(reading)
    return {**reading, "domain": domain, "private": True}


def check_promised(most: int, policy: Policy, release: Release) -> None:
    """Refuse more answers of a worker than the policy's promise holds for."""
    promise = policy.promise
    if promise is None or most <= promise.answers:
        return
    held = release.guarantee(most, promise.unit, promise.delta)
    if not held.within(promise.epsilon, promise.delta):
        raise UsageError(
            f"a worker has {most:,} answers and the policy keeps its promise for up to "
            f"{promise.answers:,}: make a policy for more answers"
        )


def check_once(answers: Reports) -> None:
    """Refuse a task that a worker answers twice: two reports on it betray twice as much."""
    reading = answers.reading
    if reading is not None and (reading.repeats != "keep" or not reading.repeated):
        return
    pairs = answers.worker.astype(np.int64) * len(answers.tasks) + answers.task
    if occurs_twice(pairs):
        raise UsageError(TWICE)
