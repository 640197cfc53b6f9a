"""perturb answers into reports, and read reports under their policy."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from sottovoce.api.input_output import dataset_name, read
from sottovoce.api.keywords import ReadingOptions, spelled_out
from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import answer_cells, recoded, report_domain, report_table
from sottovoce.mechanisms.policies import mechanism_of, release_of
from sottovoce.model import Domain, Evidence, Policy, Reports, Unit, UnitName, occurs_twice
from sottovoce.seams import Randomness, Release

TWICE = (
    "a worker answers a task twice, and two reports on it would double the privacy loss: pass "
    'repeats="first" or repeats="last"'
)
"""Why a table with repeated pairs is not perturbed."""


@spelled_out(ReadingOptions)
def perturb(
    source: Any, policy: Policy, randomness: Randomness, **reading: Unpack[ReadingOptions]
) -> Reports:
    """Turn a table of answers into reports under a policy.

    `randomness` is `sottovoce.SystemRandomness()` for reports that leave a device. A
    `sottovoce.SeededRandomness(seed)` is for simulations, and its reports are stamped. If the
    policy hides participation, every worker reports on every task of the table. Other keywords say
    how to read `source` (see `read`).

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
            "pass a source of randomness: SystemRandomness() for reports that leave a device, "
            "SeededRandomness(seed) for simulations"
        )
    answers = read_answers(source, policy.domain, reading)
    check_once(answers)
    cells = answer_cells(answers, policy.domain)
    if mechanism.hides_participation:
        cells = cells.dense()
    check_promised(int(cells.answered.max()), policy, mechanism)
    private = mechanism.draw(len(cells.workers), randomness)
    reports = mechanism.perturb(cells, private, randomness)
    # Simulated answers stay simulated.
    simulated = randomness.simulated or answers.simulated
    return report_table(reports, mechanism.alphabet, policy.domain, simulated=simulated)


def epsilon(policy: Policy, answers: int = 1, unit: UnitName = Unit.ANSWER) -> float:
    """Compute the privacy loss of a worker's reports on `answers` answers, at the policy's delta.

    It is infinite where no finite epsilon holds. `release_of(policy).guarantee` also says whether
    it is exact, and what it assumes.

    >>> from sottovoce import Target, make_policy
    >>> policy = make_policy(Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0))
    >>> round(epsilon(policy, answers=10, unit="worker"), 6)
    10.0
    """
    release, promise = release_of(policy), policy.promise
    return release.guarantee(answers, unit, promise.delta if promise else 0.0).epsilon


@spelled_out(ReadingOptions)
def read_under(source: Any, policy: Policy, **reading: Unpack[ReadingOptions]) -> Reports:
    """Read a table of reports made under a policy; refuse values that it cannot report.

    Keywords say how to read `source` (see `read`).
    """
    expected = report_domain(mechanism_of(policy).alphabet, policy.domain)
    check_no_domain(reading)
    if isinstance(source, Reports):
        return recoded(source, expected)
    reading["domain"] = expected
    return read(source, reported=True, **reading)


def read_evidence(
    source: Any, policy: Policy, *, as_numbers: bool = False, **reading: Unpack[ReadingOptions]
) -> Evidence | None:
    """Read a table of reports as symbols with their law; None if the mechanism has no such law."""
    reports = read_under(source, policy, **reading)
    return mechanism_of(policy).evidence(reports, policy.domain, as_numbers=as_numbers)


def read_answers(source: Any, domain: Domain, reading: ReadingOptions) -> Reports:
    """Read raw answers of a policy's domain; an answer outside it is refused with its row."""
    check_no_domain(reading)
    if isinstance(source, Reports) or dataset_name(source):
        return read(source, **reading)
    reading["domain"] = domain
    return read(source, private=True, **reading)


def check_no_domain(reading: ReadingOptions) -> None:
    """Refuse a domain next to a policy, which has one."""
    if reading.get("domain") is not None:
        raise UsageError("the policy has the domain of the answers: drop domain=")


def check_promised(most: int, policy: Policy, release: Release) -> None:
    """Refuse more answers of a worker than the policy's promise covers."""
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
    """Refuse a task that a worker answers twice: two reports on it double the privacy loss."""
    reading = answers.reading
    if reading is not None and (reading.repeats != "keep" or not reading.repeated):
        return
    pairs = answers.worker.astype(np.int64) * len(answers.tasks) + answers.task
    if occurs_twice(pairs):
        raise UsageError(TWICE)
