"""Receives submissions: check everything, store once, acknowledge only what is durable.

Refused reports are counted in memory until the counts are stored.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias

import numpy as np
from cachetools import LRUCache

from sottovoce.errors import Reason, Refused, UsageError
from sottovoce.mechanisms.codes import admitted_codes, code_type, longest_report
from sottovoce.mechanisms.policies import mechanism_of
from sottovoce.mechanisms.sampling import sent_by
from sottovoce.model import (
    Campaign,
    Credential,
    State,
    Submission,
    assigned,
    check_credential,
    digest,
    pseudonym,
)
from sottovoce.model.campaign import MOST_TASKS, Assignment
from sottovoce.seams import Mechanism
from sottovoce.server.database import Database, Intake, Writer
from sottovoce.server.database.campaigns import find_campaign, task_names
from sottovoce.server.sealed.contributions import SealedAdmission

MOST_ADMISSIONS = 256
"""The most campaigns whose tasks are cached, within the task limit of one campaign."""

LONG = 1 << 16
"""Submissions of this many bytes are checked in another thread, so that others do not wait."""

MOST_COUNTED = 10_000
"""The most pairs of campaign and reason that are counted between two writes."""

WORDS_OF = {
    Reason.NOT_FOUND: "the campaign does not exist",
    Reason.NOT_OPEN: "the campaign accepts no reports: it is a draft or closed",
    Reason.BAD_CREDENTIAL: "this invite is not for this campaign, or was revoked",
    Reason.INVITE_EXPIRED: "this invite has expired; ask the requester for a new one",
    Reason.INVITE_USED: "another worker has used this invite, which is for one worker; ask for a "
    "new one",
    Reason.QUOTA_REACHED: "the campaign has reached its maximum number of workers",
    Reason.ALREADY_REPORTED: "this worker has already reported on this task; a second report "
    "would weaken the noise of "
    "the first",
    Reason.CONFLICT: "another report has this identifier; nothing was changed",
    Reason.ERASED: "this report was deleted and is not stored again",
}
"""The text of each refusal for the sender."""


@dataclass(frozen=True, slots=True)
class ReportAdmission:
    """The checks of submissions to an open campaign. They do not change once it is open."""

    number: int
    campaign: Campaign
    policy_hash: str
    mechanism: Mechanism
    whole: bool
    names: tuple[str, ...]
    places: dict[str, int]
    largest: int

    def intake(
        self, report_id: str, invite: str, receipt: str, content: bytes, today: date
    ) -> Intake:
        """The submission in these bytes, checked against everything that does not change."""
        if len(content) > self.largest:
            raise Refused(Reason.OVERSIZE, f"a submission may have up to {self.largest:,} bytes")
        try:
            submission = Submission.parse(content)
        except UsageError as error:
            raise Refused(Reason.MALFORMED, str(error)) from None
        self._check(submission, receipt)
        tasks = self._tasks(submission)
        try:
            codes = admitted_codes(
                submission.reports, self.mechanism, self.campaign.terms.policy.domain
            )
        except UsageError as error:
            raise Refused(Reason.NOT_ADMITTED, str(error), field="reports") from None
        return Intake(
            self.number,
            bytes.fromhex(report_id),
            bytes.fromhex(submission.worker),
            digest(invite),
            today.toordinal(),
            hashlib.sha256(content).digest(),
            np.array(tasks, "<u4").tobytes(),
            codes.astype(code_type(self.mechanism.alphabet)).tobytes(),
            self.campaign.terms.answers,
            self.whole,
        )

    def _check(self, submission: Submission, receipt: str) -> None:
        if submission.simulated is not self.campaign.simulated:
            words = (
                "these reports are simulated; this campaign accepts real reports only"
                if submission.simulated
                else "this campaign is simulated; it accepts no real reports"
            )
            raise Refused(Reason.SIMULATED, words)
        if submission.policy_hash != self.policy_hash:
            raise Refused(
                Reason.FOREIGN_POLICY,
                "these reports were made under a different policy than the campaign's",
                field="policy",
            )
        if submission.worker != pseudonym(self.campaign.id, receipt):
            raise Refused(
                Reason.BAD_CREDENTIAL, "the receipt is not the reporting worker's", field="worker"
            )

    def _tasks(self, submission: Submission) -> list[int]:
        """The places of the tasks, which must all be assigned to the worker.

        Needs change between the moment a worker gets its tasks and the moment it reports, so with
        assignment by need any task is accepted.
        """
        self._check_count(len(submission))
        try:
            tasks = [self.places[task] for task in submission.tasks]
        except KeyError:
            raise _not_admitted("the submission has a task that is not in the campaign") from None
        campaign = self.campaign
        if campaign.terms.assignment is Assignment.HASH and campaign.block < campaign.tasks:
            given = assigned(campaign.id, submission.worker, campaign.tasks, campaign.block)
            if not set(tasks) <= set(given):
                raise _not_admitted("the submission has a task that this worker was not given")
        return tasks

    def _check_count(self, count: int) -> None:
        mechanism = self.mechanism
        most = sent_by(mechanism, self.campaign.block)
        if count > most or count == 0:
            raise _not_admitted(f"a submission must have 1 to {most:,} reports")
        if mechanism.hides_participation and count != most:
            raise _not_admitted(
                "this policy hides which tasks a worker answered, so a submission must have "
                f"{most:,} reports"
            )


AnyAdmission: TypeAlias = ReportAdmission | SealedAdmission
"""The checks of a campaign's submissions: of reports, or of sealed contributions."""


class Reception:
    """The checks of all campaigns that accept reports, and the writer."""

    def __init__(self, database: Database, writer: Writer, today: Callable[[], date]) -> None:
        self._database, self._writer, self._today = database, writer, today
        # Two limits apply, and there is always room for one campaign: see `admission`.
        self._admissions: LRUCache[str, AnyAdmission] = LRUCache(
            math.inf, lambda each: len(each.names)
        )
        self._lock = threading.Lock()

    def known_admission(self, id: str) -> AnyAdmission | None:
        """The checks of a campaign, if they are cached."""
        with self._lock:
            return self._admissions.get(id)

    def admission(self, id: str) -> AnyAdmission:
        """The checks of a campaign; reads its tasks if they are not cached."""
        admission = self.known_admission(id)
        if admission is None:
            admission = self._read(id)
            with self._lock:
                self._admissions[id] = admission
                while len(self._admissions) > 1 and self._are_too_many():
                    self._admissions.popitem()
        return admission

    def _are_too_many(self) -> bool:
        return len(self._admissions) > MOST_ADMISSIONS or self._admissions.currsize > MOST_TASKS

    def forget(self, id: str) -> None:
        """Drop the cached checks of a deleted campaign."""
        with self._lock:
            self._admissions.pop(id, None)

    async def receive(
        self,
        admission: AnyAdmission,
        report_id: str,
        invite: str,
        receipt: str,
        content: bytes,
        cut_short: bool = False,
    ) -> bool:
        """Check and store a submission; return whether it was stored before. Returns once durable.

        `cut_short` is the statement of a device whose budget does not cover all tasks. It is
        counted only if answers go out in parts, because other devices have no reason to send it.
        The order of the lines is the safety argument: it returns only after the commit.
        """
        for credential, kind in ((invite, Credential.INVITE), (receipt, Credential.RECEIPT)):
            try:
                check_credential(credential, kind)
            except UsageError as error:
                raise Refused(Reason.BAD_CREDENTIAL, str(error)) from None
        sent = (report_id, invite, receipt, content, self._today())
        if len(content) <= LONG:
            intake = admission.intake(*sent)
        else:
            intake = await asyncio.to_thread(admission.intake, *sent)
        if cut_short and not intake.whole:
            intake = replace(intake, cut_short=True)
        outcome = await self._writer.take(intake)
        if outcome.refused is not None:
            raise Refused(outcome.refused, WORDS_OF[outcome.refused])
        return outcome.replayed

    def _read(self, id: str) -> AnyAdmission:
        with self._database.reading() as connection:
            stored = find_campaign(connection, id)
            if stored is None:
                raise Refused(Reason.NOT_FOUND, WORDS_OF[Reason.NOT_FOUND])
            if stored.campaign.state is State.DRAFT:
                raise Refused(Reason.NOT_OPEN, WORDS_OF[Reason.NOT_OPEN])
            names = tuple(task_names(connection, stored.number))
        policy = stored.campaign.terms.policy
        if policy.sealed:
            return SealedAdmission.of(stored.number, stored.campaign, names)
        mechanism = mechanism_of(policy)
        return ReportAdmission(
            stored.number,
            stored.campaign,
            policy.hash,
            mechanism,
            not mechanism.is_separable,
            names,
            {name: place for place, name in enumerate(names)},
            _largest(stored.campaign, mechanism, names),
        )


def _not_admitted(words: str) -> Refused:
    return Refused(Reason.NOT_ADMITTED, words, field="tasks")


def _largest(campaign: Campaign, mechanism: Mechanism, names: tuple[str, ...]) -> int:
    """The most bytes of a submission: its longest tasks, each with its longest report."""
    longest = sorted((len(json.dumps(name)) for name in names), reverse=True)[: campaign.block]
    report = longest_report(mechanism, campaign.terms.policy.domain)
    # Room for the other fields, and for spaces and newlines around each.
    return 1000 + sum(longest) + campaign.block * (report + 16)


class Rejections:
    """How many reports were refused since the last write, by campaign and reason.

    Counting needs no transaction, so a flood of bad reports does not flood the database. Nothing
    else of a refused report is kept.
    """

    def __init__(self, most: int = MOST_COUNTED) -> None:
        self._most, self._lock = most, threading.Lock()
        self._counts: Counter[tuple[int, Reason]] = Counter()

    def count(self, campaign: int, reason: Reason) -> None:
        """Count a refusal."""
        self._add({(campaign, reason): 1})

    def taken(self) -> Mapping[tuple[int, Reason], int]:
        """Return the counts and reset them."""
        with self._lock:
            taken, self._counts = self._counts, Counter()
        return taken

    def give_back(self, counts: Mapping[tuple[int, Reason], int]) -> None:
        """Add counts back that could not be stored."""
        self._add(counts)

    def _add(self, counts: Mapping[tuple[int, Reason], int]) -> None:
        with self._lock:
            for key, count in counts.items():
                if key in self._counts or len(self._counts) < self._most:
                    self._counts[key] += count
