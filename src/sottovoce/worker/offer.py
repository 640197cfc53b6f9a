"""What a campaign offers, as the worker's own software understands it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

from sottovoce.errors import Unreachable, UsageError
from sottovoce.mechanisms.odds import weakness_warning
from sottovoce.mechanisms.policies import mechanism_of, release_of, weakest_guarantee
from sottovoce.mechanisms.sampling import sent_by
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.model import Calibration, Guarantee, Odds, Policy, State, Task, Unit
from sottovoce.model.campaign import check_tasks
from sottovoce.seams import Release
from sottovoce.worker.enrolment import WorkerLink
from sottovoce.worker.sealed_answers import check_sealing, sealed_sum_of


@dataclass(frozen=True, slots=True)
class Offer:
    """What a requester asks, and what its policy keeps: computed here, from the policy alone.

    `title`, `question` and the tasks' texts are the requester's words, `state` and `workers_wanted`
    the server's: nothing private follows from them. `tasks` are those this worker is given.
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

    @classmethod
    def parse(cls, link: WorkerLink, document: Any) -> Self:
        """The offer that a server sent, if it makes sense; its tasks come in another reply."""
        try:
            policy = Policy.of_json(document["policy"])
            wanted = document.get("quota_left")
            offer = cls(
                link.server,
                link.campaign,
                State(document["state"]),
                _text(document["title"]),
                _text(document["question"]),
                None if document.get("unit") is None else _text(document["unit"]),
                policy,
                workers_wanted=wanted if type(wanted) is int else None,
            )
            if document["id"] != link.campaign:
                raise ValueError
            simulated = document.get("simulated", False)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Unreachable(link.server, reason="what it offers makes no sense") from None
        if simulated:  # it would refuse what was drawn and booked
            raise UsageError("the campaign is simulated: it takes no reports of people")
        offer._check_promise()
        return offer

    def with_tasks(self, document: Any, block: Any, worker: str) -> Self:
        """The same with the tasks in a server's replies, if they are as many as they must be.

        Nobody is given more tasks than the policy promises for, or fewer than all up to that: with
        fewer the server could single out who is asked what.
        """
        try:
            given = tuple(
                Task(each["task"], each["text"], each.get("image")) for each in block["tasks"]
            )
            check_tasks(given)
            if block["worker"] != worker or len(given) != min(document["tasks"], self.answers):
                raise ValueError
        except (KeyError, TypeError, ValueError, AttributeError, UsageError):
            raise Unreachable(self.server, reason="it gives tasks that make no sense") from None
        return replace(self, tasks=given)

    @property
    def release(self) -> Release:
        """How answers get out under the policy: a mechanism, or a sealed sum."""
        return release_of(self.policy)

    @property
    def sealed(self) -> SealedSum | None:
        """Who holds keys and what they open; None where answers are randomised instead."""
        return sealed_sum_of(self.policy)

    @property
    def answers(self) -> int:
        """For how many answers of a worker the policy promises."""
        return self.policy.promise.answers if self.policy.promise else 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tasks this worker is given."""
        return tuple(task.name for task in self.tasks)

    @property
    def sends(self) -> int:
        """The most reports of a worker: all of its tasks, or a sample of them."""
        return sent_by(self.release, len(self.tasks) or self.answers)

    @property
    def hides_participation(self) -> bool:
        """Whether skipping is hidden: then every task is reported on, answered or not."""
        return self.release.hides_participation

    @property
    def takes_more(self) -> bool:
        """Whether a worker may answer some tasks now and others later."""
        return self.release.is_separable

    @property
    def per_answer(self) -> Guarantee:
        """What all reports together betray about one answer, at most."""
        return self._guarantee(Unit.ANSWER)

    @property
    def per_worker(self) -> Guarantee:
        """What all reports together betray about all answers, at most."""
        return self._guarantee(Unit.WORKER)

    @property
    def odds(self) -> Odds | None:
        """The fate of 100 answers; None where no report stands for one answer."""
        return None if self.policy.sealed else mechanism_of(self.policy).odds()

    @property
    def warnings(self) -> Sequence[str]:
        """What has to be said where little is hidden."""
        held = self.per_answer
        return [said for said in (weakness_warning(held.epsilon, held.delta),) if said]

    def _guarantee(self, unit: Unit) -> Guarantee:
        promise = self.policy.promise
        count = len(self.tasks) or self.answers
        return weakest_guarantee(self.release, count, unit, promise.delta if promise else 0.0)

    def _check_promise(self) -> None:
        """Refuse a policy that promises nothing, or whose mechanism does not keep its promise."""
        if self.policy.calibration is not Calibration.SOUND or self.policy.promise is None:
            raise UsageError(
                "the campaign's policy is calibrated as published and promises nothing: nothing is "
                "sent under it"
            )
        if sealed := self.sealed:
            check_sealing(sealed)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value
