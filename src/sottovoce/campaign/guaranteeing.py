"""What a campaign's policy promises: computed from the policy, per answer and per worker."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sottovoce.mechanisms.odds import frankly
from sottovoce.mechanisms.policies import mechanism_of, release_of, weakest_guarantee
from sottovoce.model import Guarantee, Policy, Terms, Unit

__all__ = ["Kept", "kept_by", "kept_under"]


@dataclass(frozen=True, slots=True)
class Kept:
    """What holds for a worker with as many answers as are allowed, in numbers and in words."""

    per_answer: Guarantee
    per_worker: Guarantee
    odds: str | None
    warning: str | None


def kept_by(terms: Terms) -> Kept:
    """What a campaign's policy keeps. Takes seconds for some mechanisms, once for each policy."""
    return kept_under(terms.policy)


def kept_under(policy: Policy) -> Kept:
    """The same for a policy that promises something."""
    return _kept(policy.text())


@lru_cache(maxsize=256)
def _kept(text: str) -> Kept:
    policy = Policy.parse(text)
    release, promise = release_of(policy), policy.promise
    assert promise is not None  # noqa: S101 - campaigns have no others
    per_answer, per_worker = (
        weakest_guarantee(release, promise.answers, unit, promise.delta)
        for unit in (Unit.ANSWER, Unit.WORKER)
    )
    warning = frankly(per_answer.epsilon, per_answer.delta)
    return Kept(per_answer, per_worker, _odds(policy), warning)


def _odds(policy: Policy) -> str | None:
    """What becomes of 100 answers; nothing becomes of those that are sealed."""
    odds = None if policy.sealed else mechanism_of(policy).odds()
    return odds.sentence if odds else None
