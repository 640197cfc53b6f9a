"""The worker's client for one campaign: answers in, randomised reports out."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Self

from sottovoce.errors import PolicyChanged, Reason, Refused, SpendRefused, Unreachable, UsageError
from sottovoce.files.private_files import private_folder
from sottovoce.files.user_folders import home_folder
from sottovoce.http_client.connection import Connection
from sottovoce.model import Cells, Label, Policy, State, Unit
from sottovoce.model.budget import DEFAULT_BUDGET, Amount, Budget
from sottovoce.randomness import SystemRandomness
from sottovoce.worker.answers import Answer, checked_cells, draw, spending_for
from sottovoce.worker.delivery import Receipt, booked, delivered
from sottovoce.worker.enrolment import Enrolment, WorkerLink, held
from sottovoce.worker.ledger import Ledger, Spending
from sottovoce.worker.offer import Offer
from sottovoce.worker.outbox import Outbox, Parcel, Stage
from sottovoce.worker.sealed_answers import sealed_parcel
from sottovoce.worker.submission_preview import Preview, previewed

if TYPE_CHECKING:
    from sottovoce.api.infer_opened import OwnWeight


LEDGER = "ledger.jsonl"
_HASH = re.compile(r"[0-9a-f]{64}", re.ASCII)
_REPORT = re.compile(r"[0-9a-f]{32}", re.ASCII)

Given = Mapping[str, Label | None] | Sequence[Answer]
"""Answers as a mapping by task, or as `Answer` objects."""


@dataclass(frozen=True, slots=True)
class OwnReports:
    """One submission as stored on the server; sealed answers are shown as sealed."""

    report_id: str
    received_on: date
    reports: Mapping[str, Label]


class Client:
    """The worker's client for one campaign: answers in, randomised reports out, nothing twice.

        with Client("https://answers.example/c/leaf0#svi_…") as client:
            print(client.offer.question, client.offer.per_worker)
            receipt = client.send({"t1": "oak", "t2": "birch"})

    `link` is the whole link, or the part before the # with a separate `invite`. On first contact
    the policy is fetched, checked and pinned. If the server later offers another one, or one other
    than `policy_hash`, `PolicyChanged` is raised and nothing is sent. The spend of every campaign
    is booked in one ledger, whose budget is `DEFAULT_BUDGET` (epsilon 50 per worker) unless a first
    `budget` is given; `client.ledger.raise_budget` raises it.

    Everything is stored in `folder` (default: SOTTOVOCE_HOME, or the user's data folder). Reports
    are on disk before they are booked, booked before they are sent, and resent byte for byte until
    the server has them. Answers are never written to disk. An interrupted client continues where it
    was. With `contact=False` the server is contacted only when a call needs it.
    """

    def __init__(
        self,
        link: str,
        invite: str | None = None,
        *,
        folder: str | os.PathLike[str] | None = None,
        budget: Budget | None = None,
        policy_hash: str | None = None,
        allow_http: bool = False,
        contact: bool = True,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        if policy_hash is not None and not _HASH.fullmatch(str(policy_hash)):
            raise UsageError("a policy's hash has 64 hexadecimal digits")
        self._link = WorkerLink.parse(link, invite, allow_http=allow_http)
        self._wanted = policy_hash
        self._home = private_folder(Path(folder).absolute() if folder else home_folder())
        self.ledger: Ledger = Ledger(
            self._home / LEDGER, budget or DEFAULT_BUDGET, adopt=budget is None
        )
        with held(self._home, self._link):
            self._enrolment = Enrolment.at(self._home, self._link)
        self._outbox = Outbox(self._enrolment.folder)
        self._offer: Offer | None = None
        self._connection = Connection(
            self._link.server, timeout=timeout, retries=retries, allow_http=allow_http
        )
        if contact:
            try:
                self._meet()
            except BaseException:
                self.close()
                raise

    def __repr__(self) -> str:
        return f"Client({self._link.requester!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Waiting reports stay on disk."""
        self._connection.close()

    @property
    def campaign(self) -> str:
        """The campaign's identifier."""
        return self._link.campaign

    @property
    def worker(self) -> str:
        """The worker's pseudonym, used in this campaign only."""
        return self._enrolment.worker

    @property
    def receipt(self) -> str:
        """The worker's secret for this campaign, needed to see and delete its reports."""
        return self._enrolment.receipt

    @property
    def policy_hash(self) -> str | None:
        """The hash of the pinned policy; None before the first contact."""
        policy = self._enrolment.policy
        return None if policy is None else policy.hash

    @property
    def spent(self) -> dict[Unit, Amount]:
        """The privacy loss of all reports to this campaign, as booked."""
        policy = self._enrolment.policy
        entry = policy and self.ledger.earlier(self._spending((), policy))
        return dict(entry.spent) if entry else {unit: Amount(0.0, 0.0) for unit in Unit}

    @property
    def offer(self) -> Offer:
        """The campaign's current offer; raises `PolicyChanged` if its policy has changed."""
        if self._offer is None:
            self._offer = self._fetched()
        return self._offer

    @property
    def remaining(self) -> tuple[str, ...]:
        """The tasks that this worker is asked and that have no report yet, in an order of its own.

        Settled tasks are not asked: see `Offer.asked`.
        """
        offer = self.offer
        return self.ledger.unreported(self._spending(offer.asked, offer.policy))

    def affordable(self, tasks: Iterable[str] | None = None) -> tuple[str, ...]:
        """The tasks, of these or of all that remain, that the budget covers.

        If it does not cover all, the most needed are taken, by what the server lists; the worker's
        own order decides between equals, and alone if the server lists nothing. The choice does not
        depend on answers. There are none if the answers must go out together and cost too much.
        """
        remaining = self.remaining
        wanted = set(remaining if tasks is None else tasks).intersection(remaining)
        return self.offer.needed(wanted, self._most(len(wanted)))

    def _most(self, count: int) -> int:
        """How many of this many remaining answers the budget covers."""
        if count == 0 or self.preview(count).fits:
            return count
        low, high = 0, count if self.offer.takes_more else 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.preview(middle).fits else (low, middle)
        return low

    def preview(self, answers: int | Given) -> Preview:
        """The privacy loss and size of a number of answers, or of these. Spends nothing."""
        offer = self.offer
        if isinstance(answers, int):
            remaining = offer.names if offer.hides_participation else self.remaining
            if not 1 <= answers <= len(remaining):
                raise UsageError(f"{len(remaining):,} tasks are left to answer, not {answers:,}")
            tasks = remaining if offer.hides_participation else tuple(sorted(remaining[:answers]))
        else:
            cells = checked_cells(
                _listed(answers), offer.policy, worker=self.worker, tasks=offer.names
            )
            tasks = tuple(cells.tasks.tolist())
        return previewed(self._spending(tasks, offer.policy), offer.policy, self.ledger)

    def send(self, answers: Given) -> Receipt:
        """Randomise or seal the answers here and send them; returns once the server has them.

        Under a sealed policy they are shared among the keyholders instead, in one contribution.

        The order is the safety argument: errors are found before anything is drawn, and reports are
        stored before they are booked, and booked before they are sent. After `Unreachable` the
        reports wait, and `resume` sends the same bytes. After `Refused` they are kept with the
        reason.
        """
        offer = self._offer = self._current()
        if offer.state is not State.OPEN:
            raise Refused(Reason.NOT_OPEN, "the campaign is closed; nothing is sent or spent")
        cells = checked_cells(_listed(answers), offer.policy, worker=self.worker, tasks=offer.names)
        with held(self._home, self._link):
            self._pin(offer.policy)
            self._book_all()
            self.ledger.check(self._spending(tuple(cells.tasks.tolist()), offer.policy))
            parcel = replace(self._drawn(cells, offer.policy), cut_short=self._is_cut_short())
            self._outbox.put(parcel)
            parcel = booked(parcel, self._enrolment, self._outbox, self.ledger)
            return self._deliver(parcel)

    @property
    def pending(self) -> tuple[Parcel, ...]:
        """Reports that were drawn but not acknowledged, with the server's reason if it gave one."""
        return tuple(parcel for parcel in self._outbox.parcels() if parcel.is_waiting)

    @property
    def sent(self) -> tuple[Parcel, ...]:
        """The reports that the server has acknowledged, by identifier."""
        return tuple(parcel for parcel in self._outbox.parcels() if not parcel.is_waiting)

    def resume(self) -> list[Receipt]:
        """Send waiting reports byte for byte as drawn, including refused ones."""
        receipts, refused = [], None
        with held(self._home, self._link):
            self._book_all()
            for parcel in self.pending:
                try:
                    receipts.append(self._deliver(parcel))
                except Refused as error:
                    refused = refused or error
        if refused is not None:
            raise refused
        return receipts

    def reports(self) -> list[OwnReports]:
        """The reports of this worker on the server."""
        reply = self._connection.get(self._path("/reports"), credential=self.receipt)
        try:
            return [
                OwnReports(
                    str(each["report_id"]),
                    date.fromisoformat(each["received_on"]),
                    {str(one["task"]): one["report"] for one in each["reports"]},
                )
                for each in reply["submissions"]
            ]
        except (KeyError, TypeError, ValueError):
            raise Unreachable(self._link.server, reason="its reply is invalid") from None

    def weigh(self, answers: Given) -> OwnWeight:
        """Compute how well these answers agree with the published truths, on this device.

        In a sealed campaign nobody else can compute this. It fetches the truths and sends nothing.
        """
        from sottovoce.api.infer_opened import own_weight  # loads all of inference

        reply = self._connection.get(self._path("/truths"), credential=self._link.invite)
        try:
            truths = {str(each["task"]): each["truth"] for each in reply["truths"]}
        except (KeyError, TypeError):
            raise Unreachable(self._link.server, reason="its reply is invalid") from None
        given = {answer.task: answer.value for answer in _listed(answers)}
        return own_weight(given, truths, self.offer.policy.domain)

    def erase(self, report_id: str) -> None:
        """Delete a submission. Its spend stays booked: someone may have seen it."""
        if not isinstance(report_id, str) or not _REPORT.fullmatch(report_id):
            raise UsageError("a report's identifier has 32 hexadecimal digits")
        with held(self._home, self._link):
            parcel = self._outbox.find(report_id)
            try:
                self._connection.delete(
                    self._path(f"/reports/{report_id}"), credential=self.receipt
                )
            except Refused as refused:
                # A submission that the server never received is simply not sent.
                never = refused.reason is Reason.NOT_FOUND and parcel and parcel.is_waiting
                if not never:
                    raise
            self._outbox.discard(report_id)

    def _meet(self) -> None:
        """Fetch and pin the offer, and send reports that an interrupted client has left.

        After a first contact, an unreachable server does not prevent calls that do not need it.
        """
        is_known = self._enrolment.policy is not None
        try:
            self._offer = self._fetched()
        except (Refused, Unreachable):
            if not is_known:
                raise
            return
        with suppress(Refused, Unreachable, SpendRefused), held(self._home, self._link):
            self._book_all()
            for parcel in self.pending:
                if parcel.stage is Stage.BOOKED:
                    self._deliver(parcel)

    def _fetched(self) -> Offer:
        document = self._connection.get(self._path("/offer"), credential=self._link.invite)
        offer = Offer.parse(self._link, document)
        with held(self._home, self._link):
            self._pin(offer.policy)
        if offer.state is not State.OPEN:
            return offer
        if self._offer is not None and self._offer.tasks:
            return replace(offer, tasks=self._offer.tasks)  # tasks do not change while it is open
        after = len(self._outbox.parcels())
        if kept := self._enrolment.block(after):
            with suppress(Unreachable):  # a damaged copy is fetched again
                return offer.with_tasks(document, kept, self.worker)
        block = self._connection.get(
            self._path("/block"),
            credential=self._link.invite,
            headers={"Sottovoce-Receipt": self.receipt},
        )
        offer = offer.with_tasks(document, block, self.worker)
        self._enrolment.keep_block(after, block)
        return offer

    def _current(self) -> Offer:
        """The current offer; without a connection, the last known one."""
        try:
            return self._fetched()
        except Unreachable:
            if self._offer is None:
                raise
            return self._offer

    def _pin(self, offered: Policy) -> None:
        """Pin the policy, or refuse a different one, also if another process pinned it."""
        if self._wanted is not None and offered.hash != self._wanted:
            raise PolicyChanged(self.campaign, pinned=self._wanted, offered=offered.hash)
        self._enrolment = Enrolment.at(self._home, self._link).pinned(offered)

    def _book_all(self) -> None:
        """Book reports that an interrupted client has drawn; discard those over budget."""
        self._outbox.tidy()
        for parcel in self.pending:
            with suppress(SpendRefused, UsageError):
                booked(parcel, self._enrolment, self._outbox, self.ledger)

    def _drawn(self, cells: Cells, policy: Policy) -> Parcel:
        """Draw the reports or, under a sealed policy, one contribution."""
        if policy.sealed:
            return sealed_parcel(cells, policy, self.campaign)
        drawn = draw(cells, policy, SystemRandomness(), requester=self._link.requester)
        content = drawn.submission.text().encode("ascii")
        return Parcel(
            secrets.token_hex(16), Stage.DRAWN, len(drawn.submission), content, drawn.spending.tasks
        )

    def _is_cut_short(self) -> bool:
        """Whether to say that the budget does not cover all tasks: at most once in a campaign.

        It depends on the ledger and the offer, not on answers. It is not said if answers go out
        together: whether some are missing would then be participation, which a policy may hide.
        """
        said = any(parcel.cut_short for parcel in self._outbox.parcels())
        counted = self.offer.assignment is not None and self.offer.takes_more
        return counted and not said and len(self.affordable()) < len(self.remaining)

    def _deliver(self, parcel: Parcel) -> Receipt:
        return delivered(parcel, self._enrolment, self._outbox, self._connection, self._link.invite)

    def _spending(self, tasks: tuple[str, ...], policy: Policy) -> Spending:
        return spending_for(tasks, policy, self._link.requester, self.worker)

    def _path(self, rest: str) -> str:
        return f"/campaigns/{self._link.campaign}{rest}"


def _listed(answers: Given) -> Sequence[Answer]:
    """The answers as a list; a text is refused, because it would be split into letters."""
    if isinstance(answers, Mapping):
        return [Answer(task, value) for task, value in answers.items()]
    return answers
