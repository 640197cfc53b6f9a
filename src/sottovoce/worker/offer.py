"""A campaign's offer, as checked by the worker's client."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from sottovoce.errors import Unreachable, UsageError
from sottovoce.mechanisms.odds import weakness_warnings
from sottovoce.mechanisms.policies import mechanism_of, release_of, weakest_guarantee
from sottovoce.mechanisms.sampling import sent_by
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Calibration, Guarantee, Odds, Policy, State, Task, Unit
from sottovoce.model.campaign import Assignment, check_tasks, own_order
from sottovoce.seams import Release
from sottovoce.worker.enrolment import WorkerLink
from sottovoce.worker.sealed_answers import check_sealing, sealed_sum_of


@dataclass(frozen=True, slots=True)
class Offer:
    """A campaign's offer, with the guarantee computed here from the policy alone.

    `title`, `question` and the tasks' texts come from the requester, `state`, `workers_wanted` and
    the tasks' needs from the server: privacy does not depend on them. `tasks` are those of this
    worker, in an order of its own. `assignment` is None if the server is too old to say.
    """

    server: str
    campaign: str
    state: State
    title: str
    question: str
    unit: str | None
    policy: Policy = field(repr=False)
    tasks: tuple[Task, ...] = field(default=(), repr=False)
    workers_wanted: int | None = None
    assignment: Assignment | None = None

    @classmethod
    def parse(cls, link: WorkerLink, document: Any) -> Self:
        """Parse the offer that a server sent, if it is valid; its tasks come in another reply."""
        try:
            policy = Policy.of_json(document["policy"])
            wanted, said = document.get("quota_left"), document.get("assignment")
            offer = cls(
                link.server,
                link.campaign,
                State(document["state"]),
                _text(document["title"]),
                _text(document["question"]),
                None if document.get("unit") is None else _text(document["unit"]),
                policy,
                workers_wanted=wanted if type(wanted) is int else None,
                assignment=None if said is None else Assignment(said),
            )
            if document["id"] != link.campaign:
                raise ValueError
            simulated = document.get("simulated", False)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unreachable(link.server, reason="its offer is invalid") from None
        if simulated:  # it would refuse reports after they are drawn and booked
            raise UsageError("the campaign is simulated; it accepts no real reports")
        offer._check_promise()
        return offer

    def with_tasks(self, document: Any, block: Any, worker: str) -> Self:
        """The offer with the tasks in a server's replies, if their number is right.

        A worker must get as many tasks as the policy covers, or all tasks if there are fewer. With
        fewer the server could single out workers by their tasks.
        """
        try:
            given = tuple(
                Task(each["task"], each["text"], each.get("image"), need=each.get("need"))
                for each in block["tasks"]
            )
            check_tasks(given)
            if block["worker"] != worker or len(given) != min(document["tasks"], self.answers):
                raise ValueError
        except (KeyError, TypeError, ValueError, AttributeError, UsageError):
            raise Unreachable(self.server, reason="its tasks are invalid") from None
        named = {task.name: task for task in given}
        order = own_order(self.campaign, worker, named)
        return replace(self, tasks=tuple(named[name] for name in order))

    @property
    def release(self) -> Release:
        """How answers are released under the policy: a mechanism, or a sealed sum."""
        return release_of(self.policy)

    @property
    def sealed(self) -> SealedSum | None:
        """The sealed sum with its keyholders; None if answers are randomised instead."""
        return sealed_sum_of(self.policy)

    @property
    def answers(self) -> int:
        """The number of answers of a worker that the policy covers."""
        return self.policy.promise.answers if self.policy.promise else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of this worker's tasks."""
        return tuple(task.name for task in self.tasks)

    @property
    def asked(self) -> tuple[str, ...]:
        """The names of the tasks that are asked: all but settled ones."""
        return tuple(task.name for task in self.tasks if task.need != 0)

    def needed(self, names: Collection[str], count: int) -> tuple[str, ...]:
        """The `count` most needed of these tasks, in the worker's own order.

        That order decides between equals, and alone if the server lists no needs.
        """
        given = [task for task in self.tasks if task.name in names]
        chosen = {task.name for task in sorted(given, key=lambda task: -(task.need or 0))[:count]}
        return tuple(task.name for task in given if task.name in chosen)

    @property
    def sends(self) -> int:
        """The most reports of a worker: all of its tasks, or a sample of them."""
        return sent_by(self.release, len(self.tasks) or self.answers)

    @property
    def hides_participation(self) -> bool:
        """Whether skipping is hidden: every task then has a report, answered or not."""
        return self.release.hides_participation

    @property
    def takes_more(self) -> bool:
        """Whether a worker may answer some tasks now and others later."""
        return self.release.is_separable

    @property
    def per_answer(self) -> Guarantee:
        """The largest privacy loss of all reports about one answer."""
        return self._guarantee(Unit.ANSWER)

    @property
    def per_worker(self) -> Guarantee:
        """The largest privacy loss of all reports about all answers."""
        return self._guarantee(Unit.WORKER)

    @property
    def odds(self) -> Odds | None:
        """The odds for 100 answers; None if no report is for one answer only."""
        return None if self.policy.sealed else mechanism_of(self.policy).odds()

    @property
    def warnings(self) -> Sequence[str]:
        """Warnings if little is hidden."""
        return weakness_warnings(
            self.per_answer, self.per_worker, sealed=self.policy.sealed, whom="you"
        )

    def _guarantee(self, unit: Unit) -> Guarantee:
        promise = self.policy.promise
        count = len(self.tasks) or self.answers
        return weakest_guarantee(self.release, count, unit, promise.delta if promise else 0.0)

    def _check_promise(self) -> None:
        """Refuse a policy without a promise, or whose mechanism does not keep it."""
        if self.policy.calibration is not Calibration.SOUND or self.policy.promise is None:
            raise UsageError(
                "the campaign's policy is calibrated as published and promises nothing, so "
                "nothing is sent"
            )
        if sealed := self.sealed:
            check_sealing(sealed)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value
