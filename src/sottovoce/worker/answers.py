"""From answers to reports: check, draw, book the spend, release."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, SupportsIndex

import numpy as np

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.codes import answer_codes, names_of, written_reports
from sottovoce.mechanisms.policies import mechanism_of, release_of
from sottovoce.model import (
    NULL,
    Calibration,
    Cells,
    Codes,
    Guarantee,
    Label,
    Policy,
    Submission,
    Unit,
)
from sottovoce.model.policy import check_target
from sottovoce.randomness import SystemRandomness
from sottovoce.seams import Mechanism, Release
from sottovoce.worker.ledger import Ledger, Spending
from sottovoce.worker.sealed_answers import sealed_codes, sealed_sum_of

FOREIGN = "is not one of your tasks in this campaign"
"""The text after the name of a task that a worker may not answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A worker's true answer to a task; None means skipped.

    The value is in no repr, log or error. An answer cannot be pickled, so that no copy ends up in a
    queue or a cache.

    >>> Answer("Is the museum open?", "yes")
    Answer(task='Is the museum open?')
    """

    task: str
    value: Label | None = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or not self.task:
            raise UsageError("an answer needs the name of its task, a non-empty text")
        if not isinstance(self.value, str | int | float | None):
            raise UsageError(
                f"the answer to task {self.task!r} must be a text, a number, true, false or None"
            )
        if isinstance(self.value, float) and math.isnan(self.value):
            raise UsageError(
                f"the answer to task {self.task!r} is not a number (NaN); use None to skip"
            )

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise UsageError(
            "an Answer cannot be copied or pickled, so that it stays on the worker's device"
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """Drawn reports that may not be sent until their spend is booked.

    If booking is refused, the reports are discarded unseen. Looking at them and redrawing would
    break the guarantee.
    """

    submission: Submission = field(repr=False)
    spending: Spending = field(repr=False)


def respond(
    answers: Sequence[Answer],
    policy: Policy,
    ledger: Ledger,
    randomness: SystemRandomness,
    *,
    requester: str,
    worker: str,
    tasks: Sequence[str] | None = None,
    allow_unsound: bool = False,
) -> Submission:
    """Check everything, draw reports, book the spend, and return the submission.

    `tasks` are all tasks of the worker. A mechanism that hides participation reports on each of
    them; None, or no answer, is then an answer like any other. `worker` is the worker's name at the
    requester, from which its thresholds are drawn. A policy calibrated as published, which promises
    nothing, needs `allow_unsound`.

    Errors are found before anything is spent. A crash between the booking and the return loses the
    reports, never their record.

    >>> import tempfile
    >>> from sottovoce.mechanisms.policies import Target, make_policy
    >>> from sottovoce.model import Domain
    >>> from sottovoce.worker import Budget
    >>> policy = make_policy(Domain.categorical(["no", "yes"]), "randomized-response", Target(1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.jsonl", Budget(worker_epsilon=8))
    ...     submission = respond([Answer("t1", "yes")], policy, ledger, SystemRandomness(),
    ...                          requester="museum", worker="ada")
    ...     round(ledger.left(Unit.WORKER).epsilon, 5)
    7.0
    >>> submission.reports[0] in ("no", "yes")
    True
    """
    if not isinstance(policy, Policy) or not isinstance(ledger, Ledger):
        raise UsageError("respond needs a Policy and a Ledger")
    cells = checked_cells(answers, policy, worker=worker, tasks=tasks, allow_unsound=allow_unsound)
    return book(draw(cells, policy, randomness, requester=requester), ledger)


def randomize(
    policy: Policy,
    answer: Label,
    *,
    ledger: Ledger,
    task: str = "answer",
    requester: str = "local",
    worker: str = "me",
) -> Label:
    """Randomise one answer with the operating system's generator, and return the report.

    Its privacy loss is booked in the ledger first. Name the `task` for each further answer: the
    ledger refuses a second report on the same task, which would add to the loss of the same fact.
    Answers to other tasks under the same policy for the same requester are counted together. A
    mechanism that needs all answers of a worker at once is refused: `respond` takes them.

    >>> import tempfile
    >>> from sottovoce.mechanisms.policies import Target, make_policy
    >>> from sottovoce.model import Domain
    >>> from sottovoce.worker import Budget
    >>> policy = make_policy(Domain.categorical(["cat", "dog"]), "randomized-response", Target(1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(f"{folder}/ledger.jsonl", Budget(worker_epsilon=8))
    ...     randomize(policy, "cat", ledger=ledger) in ("cat", "dog")
    True
    """
    release = release_of(policy)
    if policy.sealed or not release.is_separable:
        raise UsageError(
            f"{release.name} needs all answers of a worker together, so it cannot randomise one: "
            "use respond() for a submission, or another mechanism"
        )
    submission = respond(
        [Answer(task, answer)],
        policy,
        ledger,
        SystemRandomness(),
        requester=requester,
        worker=worker,
    )
    return submission.reports[0]


def checked_cells(
    answers: Sequence[Answer],
    policy: Policy,
    *,
    worker: str,
    tasks: Sequence[str] | None = None,
    allow_unsound: bool = False,
) -> Cells:
    """The answers in the mechanism's format, after all checks."""
    check_name("worker", worker)
    release = release_of(policy)
    if policy.calibration is Calibration.AS_PUBLISHED and not allow_unsound:
        raise UsageError(
            "the policy is calibrated as published and promises nothing: preview(policy, "
            f"{len(answers):,}) says what it keeps; allow_unsound=True takes it as it is"
        )
    return _cells(answers, tasks, policy, release, worker)


def draw(cells: Cells, policy: Policy, randomness: SystemRandomness, *, requester: str) -> Drawn:
    """Draw the reports of checked cells, with their spend. They may not be sent yet."""
    if type(randomness) is not SystemRandomness:
        raise UsageError("reports must be drawn with SystemRandomness; seeds are for simulations")
    check_name("requester", requester)
    submission = _submission(cells, policy, mechanism_of(policy), randomness)
    tasks = tuple(cells.tasks.tolist())
    return Drawn(submission, spending_for(tasks, policy, requester, str(cells.workers[0])))


def book(drawn: Drawn, ledger: Ledger) -> Submission:
    """Book the spend and return the submission, which may now be sent."""
    ledger.spend(drawn.spending)
    return drawn.submission


def spending_for(tasks: tuple[str, ...], policy: Policy, requester: str, worker: str) -> Spending:
    """The privacy loss of reports on these tasks, which does not depend on the answers."""
    release = release_of(policy)
    return Spending(
        worker=worker,
        requester=requester,
        policy=policy.hash,
        mechanism=release.name,
        tasks=tasks,
        guarantee=lambda answers, unit: release.guarantee(answers, unit, _delta(policy)),
        whole=not release.is_separable,
        most=policy.promise.answers if policy.promise else None,
    )


def preview(policy: Policy, answers: int) -> dict[Unit, Guarantee]:
    """The privacy loss of a number of answers under a policy, in both units; nothing is spent."""
    check_target(1.0, 0.0, answers)
    release = release_of(policy)
    return {unit: release.guarantee(answers, unit, _delta(policy)) for unit in Unit}


def check_name(field: str, name: Any) -> None:
    """Refuse an empty name."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"{field} must be a non-empty text")


def _cells(
    answers: Sequence[Answer],
    tasks: Sequence[str] | None,
    policy: Policy,
    release: Release,
    worker: str,
) -> Cells:
    """The answers sorted by task name, which hides the order of answering."""
    if not all(isinstance(answer, Answer) for answer in answers):
        raise UsageError("answers must be a sequence of Answer")
    given = [answer.task for answer in answers]
    _check_distinct(given, "is answered twice; keep one answer")
    try:
        codes = _codes([answer.value for answer in answers], policy)
    except (ValueError, OverflowError):
        raise DataError("an answer is too large a number to be in the policy's domain") from None
    if tasks is not None:
        _check_tasks(tasks, given)
    if release.hides_participation:
        if tasks is None:
            raise UsageError(
                "the policy hides which tasks a worker answered; pass all tasks of the worker as "
                "tasks="
            )
        skipped = sorted(set(tasks) - set(given))
        given = given + skipped
        codes = np.concatenate([codes, np.full(len(skipped), NULL, np.int32)])
    elif (codes == NULL).any():
        task = given[int(np.flatnonzero(codes == NULL)[0])]
        raise DataError(
            f"task {task!r} is skipped, and the policy does not hide that; leave it out"
        )
    if not given:
        raise UsageError("there is nothing to report; give at least one answer")
    order = sorted(range(len(given)), key=given.__getitem__)
    return Cells(
        np.zeros(len(order), np.int32),
        np.arange(len(order), dtype=np.int32),
        codes[order],
        names_of([worker]),
        names_of([given[i] for i in order]),
    )


def _codes(values: Sequence[Label | None], policy: Policy) -> Codes:
    if sealed := sealed_sum_of(policy):
        return sealed_codes(values, policy, sealed)
    return answer_codes(values, policy.domain)


def _check_tasks(tasks: Sequence[str], given: list[str]) -> None:
    if isinstance(tasks, str):
        raise UsageError("tasks must be a sequence of names")
    for task in tasks:
        check_name("each of the tasks", task)
    _check_distinct(tasks, "is listed twice in tasks=")
    unknown = sorted(set(given) - set(tasks))
    if unknown:
        raise UsageError(f"task {unknown[0]!r} {FOREIGN}")


def _check_distinct(tasks: Sequence[str], fault: str) -> None:
    seen: set[str] = set()
    for task in tasks:
        if task in seen:
            raise UsageError(f"task {task!r} {fault}")
        seen.add(task)


def _delta(policy: Policy) -> float:
    return policy.promise.delta if policy.promise else 0.0


def _submission(
    cells: Cells, policy: Policy, mechanism: Mechanism, randomness: SystemRandomness
) -> Submission:
    private = mechanism.draw(1, randomness)
    reports = mechanism.perturb(cells, private, randomness)
    order = np.argsort(reports.task)
    written = written_reports(reports.code[order], mechanism.alphabet, policy.domain)
    return Submission(
        policy.hash,
        str(cells.workers[0]),
        tuple(cells.tasks[reports.task[order]].tolist()),
        tuple(written),
    )
