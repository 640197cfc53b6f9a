"""Preview of a submission: content and privacy loss, before anything is drawn or spent."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from sottovoce.errors import BudgetExceeded
from sottovoce.mechanisms.codes import report_domain
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.mechanisms.sampling import sent_by
from sottovoce.model import Alphabet, Domain, Guarantee, Policy, Submission, Unit
from sottovoce.model.budget import Amount
from sottovoce.worker.ledger import Ledger, Spending
from sottovoce.worker.sealed_answers import contribution_bytes, sealed_sum_of

LONGEST_NUMBER, LONGEST_SUBSET = 25, 184
"""Bytes of a report that is a number, or a subset of 64."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect of sending. It contains no answers.

    `guarantee` covers everything reported to this campaign, including earlier reports; `left` is
    the worker's remaining budget before sending. Up to `reports` reports, on some or all of
    `tasks`, are sent in at most `most_bytes` bytes; under a sealed policy they are sealed answers.
    """

    answers: int
    reports: int
    tasks: tuple[str, ...] = field(repr=False)
    guarantee: dict[Unit, Guarantee]
    left: dict[Unit, Amount]
    most_bytes: int
    refused: BudgetExceeded | None
    sealed: bool = False

    @property
    def fits(self) -> bool:
        """Whether the budget allows it."""
        return self.refused is None

    def __str__(self) -> str:
        held = " and ".join(str(self.guarantee[unit]) for unit in Unit)
        fits = "" if self.fits else "; this exceeds the budget"
        leaves = "sealed answer" if self.sealed else "report"
        return (
            f"{_many(self.answers, 'answer')}: {_many(self.reports, leaves)}, at most "
            f"{self.most_bytes:,} bytes, {held} for all reports to this campaign; epsilon "
            f"{self.left[Unit.WORKER].epsilon:g} per worker is left of the budget{fits}"
        )


def previewed(spending: Spending, policy: Policy, ledger: Ledger) -> Preview:
    """Preview a submission; refuses what `Ledger.spend` would refuse, except for the budget."""
    refused = None
    try:
        answers = ledger.check(spending).answers
    except BudgetExceeded as error:
        earlier = ledger.earlier(spending)
        refused, answers = error, (earlier.answers if earlier else 0) + len(spending.tasks)
    count, reports, most_bytes = len(spending.tasks), *_leaving(spending, policy)
    return Preview(
        count,
        reports,
        spending.tasks,
        {unit: spending.guarantee(answers, unit) for unit in Unit},
        {unit: ledger.left(unit) for unit in Unit},
        most_bytes,
        refused,
        policy.sealed,
    )


def _leaving(spending: Spending, policy: Policy) -> tuple[int, int]:
    """The number of reports sent, and the most bytes."""
    count = len(spending.tasks)
    if sealed := sealed_sum_of(policy):
        campaign = spending.requester.rpartition("/")[2]
        names = (campaign, policy.hash, spending.worker)
        return count, contribution_bytes(sealed, spending.tasks, *names)
    mechanism = mechanism_of(policy)
    reports = sent_by(mechanism, count)
    return reports, _most_bytes(spending, policy, mechanism.alphabet, reports)


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'s'[: count != 1]}"


def _most_bytes(spending: Spending, policy: Policy, alphabet: Alphabet, reports: int) -> int:
    empty = len(Submission(policy.hash, spending.worker, (), ()).text())
    tasks = sorted((len(json.dumps(task)) + 1 for task in spending.tasks), reverse=True)
    return empty + sum(tasks[:reports]) + reports * (_longest_report(alphabet, policy.domain) + 1)


def _longest_report(alphabet: Alphabet, domain: Domain) -> int:
    if alphabet is Alphabet.SUBSETS:
        return LONGEST_SUBSET
    written = report_domain(alphabet, domain)
    if not isinstance(written, Domain) or written.is_numeric:
        return LONGEST_NUMBER
    return max(len(json.dumps(label)) for label in written.labels)
