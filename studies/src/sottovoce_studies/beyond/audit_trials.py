"""Mechanisms under the audit: which ones, for which target, and what samples of them prove."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sottovoce.datasets import SeededRandomness
from sottovoce.mechanisms.audit import audit_mechanism
from sottovoce.mechanisms.policies import (
    Target,
    make_policy,
    mechanism_of,
    policy_of,
    release_of,
    sealed_of,
)
from sottovoce.mechanisms.registry import RELEASES
from sottovoce.mechanisms.sealed_sum import SealedSum
from sottovoce.mechanisms.two_layer import TwoLayer
from sottovoce.model import Calibration, Domain, Policy, Unit
from sottovoce.privacy.audit import Audit
from sottovoce.seams import Release
from sottovoce.securesum.collusion_audit import audit_opened

__all__ = ["Audited", "audited", "published_cases", "sound_cases"]

LABELS, NUMBERS = Domain.categorical(range(4)), Domain.numeric(0, 10, step=1)
COIN, TEN, WIDE = Domain.categorical("ab"), Domain.ordinal(range(10)), Domain.ordinal((0, 20))

ANSWERS, MANY = 5, 20
"""How many answers a worker sends; and where it is their number that betrays."""
DELTA = 0.1
"""For P3's mechanism, which keeps nothing at delta 0; P3 prints none."""
GAUSSIAN, FACTORIZATION = "random-variance-gaussian", "matrix-factorization"
HIDING = ("two-layer", "laplace", "subset-selection", "threshold", SealedSum.name)
"""Mechanisms that hide NULLs when asked to; two others always do."""
SAMPLED = ("randomized-response", "subset-selection")

Form = Literal["sound", "as published", "P4's"]


@dataclass(frozen=True, slots=True)
class Audited:
    """A mechanism for a target: calibrated to keep it, or as a paper has it.

    `form` "P4's" is P4's own two-layer baseline, with a budget of its own for each worker.
    """

    name: str
    mechanism: str
    domain: Domain
    target: Target
    form: Form = "sound"
    parameters: tuple[tuple[str, Any], ...] = ()

    def policy(self) -> Policy:
        """What is audited."""
        if self.form == "P4's":
            sparse = TwoLayer.as_published_sparse(self.domain, self.target.epsilon)
            return policy_of(sparse, self.domain, None)
        calibration = Calibration.SOUND if self.form == "sound" else Calibration.AS_PUBLISHED
        return make_policy(
            self.domain,
            self.mechanism,
            self.target,
            calibration=calibration,
            **dict(self.parameters),
        )

    def claimed(self, release: Release) -> float:
        """The epsilon that it is said to keep: the target's, or what the paper says of it."""
        claim = None if self.form == "sound" else release.claim(self.target.epsilon)
        return self.target.epsilon if claim is None else claim.epsilon


def sound_cases(mechanism: str, epsilon: float) -> Iterator[Audited]:
    """A mechanism per answer and per worker; and where it can, with hidden NULLs and on a sample.

    Per worker all answers are sent, unless the name says that they are sampled.
    """
    kind = RELEASES[mechanism]
    domain = LABELS if LABELS.kind in kind.takes else NUMBERS
    parameters = (("dimension", 2),) if mechanism == FACTORIZATION else ()
    shared: dict[str, Any] = {
        "epsilon": epsilon,
        "answers": ANSWERS,
        "delta": DELTA if mechanism == GAUSSIAN else 0.0,
        "hide_participation": mechanism in (FACTORIZATION, "null-randomized-response"),
    }

    def case(name: str, **target: Any) -> Audited:
        wanted = Target(**{**shared, **target})
        return Audited(name, mechanism, domain, wanted, parameters=parameters)

    yield case(mechanism)
    # A mechanism that needs all answers at once is not sampled anyway.
    whole = mechanism in (FACTORIZATION, SealedSum.name)
    yield case(mechanism, unit=Unit.WORKER, sample=None if whole else ANSWERS)
    if mechanism in HIDING:
        yield case(f"{mechanism}, NULLs hidden", hide_participation=True)
    if mechanism in SAMPLED:
        yield case(f"{mechanism}, sampled", unit=Unit.WORKER)


def published_cases(epsilon: float) -> Iterator[Audited]:
    """The papers' calibrations per answer, which is what they claim; RR and P4's are sound."""
    many, few = Target(epsilon, answers=MANY), Target(epsilon, answers=ANSWERS)
    gauss = Target(epsilon, answers=ANSWERS, delta=DELTA)
    eight = Target(epsilon, answers=8)
    yield Audited("P1 two-layer", "two-layer", COIN, many, "as published")
    yield Audited("P3 Gaussian", GAUSSIAN, NUMBERS, gauss, "as published")
    yield Audited("P4 LP, values 0 … 9", "laplace", TEN, few, "as published")
    yield Audited("P4 LP, values 0, 20", "laplace", WIDE, few, "as published")
    yield Audited("P4 MF", FACTORIZATION, TEN, eight, "as published", (("dimension", 3),))
    yield Audited("P4 two-layer", "two-layer", LABELS, many, "P4's")


def audited(case: Audited, samples: int, confidence: float, seed: int) -> dict[str, Any]:
    """What is claimed, what is stated, and the least epsilon that samples leave possible.

    A stated epsilon that is not finite is None.
    """
    policy, target = case.policy(), case.target
    release = release_of(policy)
    stated = release.guarantee(target.answers, target.unit, target.delta).epsilon
    found = _audit(
        policy,
        SeededRandomness(seed),
        answers=target.answers,
        unit=target.unit,
        delta=target.delta,
        samples=samples,
        confidence=confidence,
    )
    return {
        "claimed": case.claimed(release),
        "stated": stated if math.isfinite(stated) else None,
        "bound": found.epsilon,
        "event": found.event,
    }


def _audit(policy: Policy, randomness: SeededRandomness, **how: Any) -> Audit:
    """What reports prove; under a sealed sum, what opened totals prove to colluders."""
    if policy.sealed:
        return audit_opened(sealed_of(policy), randomness, **how)
    return audit_mechanism(mechanism_of(policy), policy.domain, randomness, **how)
