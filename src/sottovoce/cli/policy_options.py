"""The policy that the options of a command ask for."""

from __future__ import annotations

from typing import Any

import sottovoce
from sottovoce.errors import UsageError
from sottovoce.model import Calibration, Domain, Policy
from sottovoce.model import Unit as PrivacyUnit
from sottovoce.tables import parse_domain

__all__ = ["domain_from", "policy_from", "sample_from"]


def policy_from(
    domain: Domain,
    mechanism: str | None,
    epsilon: float | None,
    *,
    answers: int,
    unit: str,
    delta: float,
    sample: str | None,
    as_published: bool,
    hide: bool,
    settings: dict[str, Any],
) -> Policy:
    """The policy that the options of a command ask for."""
    if mechanism is None or epsilon is None:
        raise UsageError("say --mechanism and --epsilon, or give a policy")
    if taken := sorted(settings.keys() & {"domain", "name", "target", "calibration"}):
        raise UsageError(f"--set is for the parameters of {mechanism}, not for {taken[0]}")
    target = sottovoce.Target(
        epsilon, PrivacyUnit(unit), delta, answers, hide, sample_from(sample, answers)
    )
    calibration = Calibration.AS_PUBLISHED if as_published else Calibration.SOUND
    return sottovoce.make_policy(domain, mechanism, target, calibration=calibration, **settings)


def domain_from(labels: int | None, domain: str | None) -> Domain:
    """The domain of so many labels, or as `--domain` writes it."""
    if (labels is None) == (domain is None):
        wrong = "and not both" if labels is not None else "with its labels or range"
        raise UsageError(f"say --labels S or --domain, {wrong}")
    if labels is not None:
        if not 2 <= labels <= 1 << 20:
            raise UsageError(f"--labels must be from 2 to 1,048,576, not {labels}")
        return Domain.ordinal(range(labels))
    parsed = parse_domain(domain or "")
    if not isinstance(parsed, Domain):
        raise UsageError(f"--domain {domain} needs its labels or range: numeric:0..10")
    return parsed


def sample_from(text: str | None, answers: int) -> int | None:
    """How many of its answers a worker sends; None for the best by rule."""
    if text is None or text == "auto":
        return None
    if text == "all":
        return answers
    if text.isascii() and text.isdigit() and int(text) >= 1:
        return int(text)
    raise UsageError(f"--sample is auto, all or a number of answers, not {text!r}")
