"""Mechanisms under the audit, their targets, and the lower bounds from samples."""

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
"""Answers of a worker: the usual number, and one for losses that grow with it."""
DELTA = 0.1
"""Delta of P3's mechanism, which has no guarantee at delta 0; P3 prints none."""
GAUSSIAN, FACTORIZATION = "random-variance-gaussian", "matrix-factorization"
HIDING = ("two-layer", "laplace", "subset-selection", "threshold", SealedSum.name)
"""Mechanisms that hide NULLs on request; two others always do."""
SAMPLED = ("randomized-response", "subset-selection")

Form = Literal["sound", "as published", "P4's"]


@dataclass(frozen=True, slots=True)
class Audited:
    """A mechanism for a target, calibrated soundly or as in a paper.

    `form` "P4's" is P4's two-layer baseline, which draws a budget for each worker.
    """

    name: str
    mechanism: str
    domain: Domain
    target: Target
    form: Form = "sound"
    parameters: tuple[tuple[str, Any], ...] = ()

    def policy(self) -> Policy:
        """The audited policy."""
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
        """The claimed epsilon: the target's, or the paper's."""
        claim = None if self.form == "sound" else release.claim(self.target.epsilon)
        return self.target.epsilon if claim is None else claim.epsilon


def sound_cases(mechanism: str, epsilon: float) -> Iterator[Audited]:
    """A mechanism per answer and per worker; where possible with hidden NULLs and sampling.

    Per worker all answers are sent, unless the name says sampled.
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
    # A mechanism that needs all answers at once is never sampled.
    whole = mechanism in (FACTORIZATION, SealedSum.name)
    yield case(mechanism, unit=Unit.WORKER, sample=None if whole else ANSWERS)
    if mechanism in HIDING:
        yield case(f"{mechanism}, NULLs hidden", hide_participation=True)
    if mechanism in SAMPLED:
        yield case(f"{mechanism}, sampled", unit=Unit.WORKER)


def published_cases(epsilon: float) -> Iterator[Audited]:
    """The papers' calibrations per answer, as they claim; RR and P4's are sound."""
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
    """The claimed and the stated epsilon, and the lower bound from samples.

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
    """The audit of reports, or for a sealed sum of the totals that colluders see."""
    if policy.sealed:
        return audit_opened(sealed_of(policy), randomness, **how)
    return audit_mechanism(mechanism_of(policy), policy.domain, randomness, **how)
