"""Affordability: how many of its tasks a worker's device answers within its budget.

Exact from the policy's guarantee for k answers, as the ledger of a device books it. A device whose
worker has spent nothing is meant; one that has spent something affords less.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from sottovoce.mechanisms.policies import release_of
from sottovoce.model import Guarantee, Policy, Unit
from sottovoce.model.budget import DEFAULT_BUDGET, Budget
from sottovoce.model.guarantee import rounded_down, rounded_up


@dataclass(frozen=True, slots=True)
class Affordability:
    """The number of its `tasks` that a worker's device answers.

    It answers `answered` of them: all; some, if answers may be sent in parts; or none. If the
    worker got `most` tasks under the same promise, it would answer all; 0 if no number is sure to
    help. `warning` says to a requester why not all are answered, and what to change.
    """

    tasks: int
    answered: int
    most: int
    warning: str | None = None

    def workers_for(self, workers: int) -> int | None:
        """How many workers with `most` tasks each send the reports of this number with all."""
        return math.ceil(workers * self.tasks / self.most) if self.most else None


def affordability(policy: Policy, tasks: int, budget: Budget = DEFAULT_BUDGET) -> Affordability:
    """How many of `tasks` tasks of a worker a device answers under a policy with a promise.

    >>> from sottovoce.mechanisms.policies import Target, make_policy
    >>> from sottovoce.model import Domain
    >>> target = Target(2.0, answers=100)
    >>> policy = make_policy(Domain.categorical(["no", "yes"]), "randomized-response", target)
    >>> affordability(policy, 100).answered, affordability(policy, 100).workers_for(10)
    (25, 40)
    """
    release, promise = release_of(policy), policy.promise
    assert promise is not None  # noqa: S101 - campaigns have no others

    def over(answers: int) -> list[Guarantee]:
        held = (release.guarantee(answers, unit, promise.delta) for unit in reversed(Unit))
        return [one for one in held if not budget.allows(one)]

    refused = over(tasks)
    if not refused:
        return Affordability(tasks, tasks, tasks)
    held, limit = refused[0], budget.limit(refused[0].unit)
    named = "default budget" if budget == DEFAULT_BUDGET else "budget"
    if not held.is_finite or held.delta > limit.delta:
        return Affordability(
            tasks, 0, 0,
            f"Workers' devices refuse this campaign: it costs {held}, and their {named} allows "
            f"epsilon {limit.epsilon:g} with delta {limit.delta:g}. Choose a guarantee without "
            "delta.",
        )  # fmt: skip
    # k answers together cost at most k times the loss of one (group privacy).
    shares = promise.unit is Unit.ANSWER and held.unit is Unit.WORKER
    answered = _largest(lambda count: not over(count), tasks) if release.is_separable else 0
    # Other releases may have less noise if they are calibrated for fewer answers.
    most = (answered or math.floor(limit.epsilon / promise.epsilon)) if shares else 0
    allowed = f"{named} of epsilon {limit.epsilon:g} per {held.unit}"
    cost = f"all {tasks:,} cost epsilon {rounded_up(held.epsilon, 4)}"
    does = (
        f"Each worker's device stops after {answered:,} of its {tasks:,} tasks, at its {allowed}: "
        f"{cost}."
        if answered
        else "Workers' devices refuse this campaign: its tasks are answered together or not at "
        f"all, and {cost}, above the {allowed}."
    )
    fewer = f"give each worker at most {most:,} task{'s'[: most > 1]}, or " if most else ""
    least = rounded_down(limit.epsilon / (tasks if shares else 1), 3)
    change = f"{fewer}choose epsilon {least} or less per {promise.unit}."
    return Affordability(tasks, answered, most, f"{does} {change[0].upper()}{change[1:]}")


def _largest(fits: Callable[[int], bool], above: int) -> int:
    """The largest number that fits, below one that does not; 0 if there is none."""
    low = 0
    while above - low > 1:
        middle = (low + above) // 2
        low, above = (middle, above) if fits(middle) else (low, middle)
    return low
