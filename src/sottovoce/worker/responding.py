"""Answers in, reports out: the one way off the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sottovoce.errors import DataError, UsageError
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.mechanisms.tables import answer_codes, names_of, written_reports
from sottovoce.model import NULL, Calibration, Cells, Guarantee, Policy, Unit
from sottovoce.model.policy import check_target
from sottovoce.seams import Mechanism
from sottovoce.worker.answer import Answer
from sottovoce.worker.book import Spending
from sottovoce.worker.ledger import Ledger
from sottovoce.worker.randomness import SystemRandomness
from sottovoce.worker.submission import Submission

__all__ = ["preview", "respond"]


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
    """Check everything, book the spend, then turn answers into the reports that may leave.

    `tasks` are all tasks the worker was given. A mechanism that hides participation reports on each
    of them; None, or no answer, is then an answer like any other. `worker` is the name under which
    the requester knows the worker, and under which its thresholds are drawn. A policy calibrated as
    a paper says, which promises nothing, needs `allow_unsound`.

    Whatever is wrong is found before anything is spent. A crash between the booking and the return
    loses the reports, never the record of them.

    >>> import tempfile
    >>> from sottovoce.mechanisms.targets import Target, make_policy
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
    if type(randomness) is not SystemRandomness:
        raise UsageError(
            "reports are drawn with SystemRandomness and nothing else: seeds are for simulations"
        )
    if not isinstance(policy, Policy) or not isinstance(ledger, Ledger):
        raise UsageError("respond needs a Policy and a Ledger")
    check_name("requester", requester)
    check_name("worker", worker)
    mechanism = mechanism_of(policy)
    if policy.calibration is Calibration.AS_PUBLISHED and not allow_unsound:
        raise UsageError(
            "the policy is calibrated as published and promises nothing: preview(policy, "
            f"{len(answers):,}) says what it keeps; allow_unsound=True takes it as it is"
        )
    cells = _cells(answers, tasks, policy, mechanism, worker)
    # A rehearsal, thrown away: what a mechanism refuses is refused before anything is spent.
    _submission(cells, policy, mechanism, randomness)
    ledger.spend(_spending(cells, policy, mechanism, randomness, requester))
    return _submission(cells, policy, mechanism, randomness)


def preview(policy: Policy, answers: int) -> dict[Unit, Guarantee]:
    """What so many answers under a policy would betray, in both units; nothing is spent."""
    check_target(1.0, 0.0, answers)
    mechanism = mechanism_of(policy)
    return {unit: mechanism.guarantee(answers, unit, _delta(policy)) for unit in Unit}


def check_name(field: str, name: Any) -> None:
    """Refuse what names nobody."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"{field} must be a text that is not empty")


def _cells(
    answers: Sequence[Answer],
    tasks: Sequence[str] | None,
    policy: Policy,
    mechanism: Mechanism,
    worker: str,
) -> Cells:
    """The answers in the order of the tasks' names: the order of answering is nobody's business."""
    if not all(isinstance(answer, Answer) for answer in answers):
        raise UsageError("answers must be a sequence of Answer")
    given = [answer.task for answer in answers]
    _check_distinct(given, "is answered twice: choose which answer counts")
    try:
        codes = answer_codes([answer.value for answer in answers], policy.domain)
    except (ValueError, OverflowError):
        raise DataError("an answer is too large a number to be in the policy's domain") from None
    if tasks is not None:
        _check_tasks(tasks, given)
    if mechanism.hides_participation:
        if tasks is None:
            raise UsageError(
                "the policy hides who answered what: give all tasks of the worker as tasks"
            )
        skipped = sorted(set(tasks) - set(given))
        given = given + skipped
        codes = np.concatenate([codes, np.full(len(skipped), NULL, np.int32)])
    elif (codes == NULL).any():
        task = given[int(np.flatnonzero(codes == NULL)[0])]
        raise DataError(
            f"task {task!r} is skipped, and the policy does not hide that: leave it out instead"
        )
    if not given:
        raise UsageError("there is nothing to report: give at least one answer")
    order = sorted(range(len(given)), key=given.__getitem__)
    return Cells(
        np.zeros(len(order), np.int32),
        np.arange(len(order), dtype=np.int32),
        codes[order],
        names_of([worker]),
        names_of([given[i] for i in order]),
    )


def _check_tasks(tasks: Sequence[str], given: list[str]) -> None:
    if isinstance(tasks, str):
        raise UsageError("tasks must be a sequence of names")
    for task in tasks:
        check_name("each of the tasks", task)
    _check_distinct(tasks, "is listed twice among tasks")
    unknown = sorted(set(given) - set(tasks))
    if unknown:
        raise UsageError(f"task {unknown[0]!r} is answered and is not among tasks")


def _check_distinct(tasks: Sequence[str], fault: str) -> None:
    seen: set[str] = set()
    for task in tasks:
        if task in seen:
            raise UsageError(f"task {task!r} {fault}")
        seen.add(task)


def _spending(
    cells: Cells,
    policy: Policy,
    mechanism: Mechanism,
    randomness: SystemRandomness,
    requester: str,
) -> Spending:
    return Spending(
        worker=str(cells.workers[0]),
        requester=requester,
        policy=policy.hash,
        mechanism=mechanism.name,
        tasks=tuple(cells.tasks.tolist()),
        guarantee=lambda answers, unit: mechanism.guarantee(answers, unit, _delta(policy)),
        whole=not _is_separable(mechanism, randomness),
        most=policy.promise.answers if policy.promise else None,
    )


def _is_separable(mechanism: Mechanism, randomness: SystemRandomness) -> bool:
    """Whether each report has noise of its own, so that answers may go out bit by bit.

    What a worker draws once would be drawn again, a dense submission has every task already, and a
    sample of the answers would be taken twice.
    """
    return (
        hasattr(mechanism, "channel")
        and not mechanism.hides_participation
        and mechanism.draw(1, randomness) is None
    )


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
