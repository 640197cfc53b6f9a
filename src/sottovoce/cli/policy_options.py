"""The policy that the options of a command ask for."""

from __future__ import annotations

from dataclasses import dataclass

import sottovoce
from sottovoce.cli.options import Unit, parameters
from sottovoce.errors import UsageError
from sottovoce.mechanisms.registry import always_hides
from sottovoce.model import Calibration, Domain, Policy
from sottovoce.model import Unit as PrivacyUnit
from sottovoce.tables import parse_domain


@dataclass(frozen=True, slots=True)
class PolicyRequest:
    """What the options of a command say of a policy that is to be made."""

    mechanism: str | None
    epsilon: float | None
    unit: Unit
    delta: float
    sample: str | None
    as_published: bool
    hide_participation: bool
    setting: str | None

    @property
    def hides(self) -> bool:
        """Whether who answered which task is hidden, as asked for or always by the mechanism."""
        return self.hide_participation or always_hides(self.mechanism)

    def policy(self, domain: Domain, answers: int) -> Policy:
        """The policy for so many answers of a worker."""
        settings = parameters(self.setting)
        if self.mechanism is None or self.epsilon is None:
            raise UsageError("say --mechanism and --epsilon, or give a policy")
        if taken := sorted(settings.keys() & {"domain", "name", "target", "calibration"}):
            raise UsageError(f"--set is for the parameters of {self.mechanism}, not for {taken[0]}")
        unit, sample = PrivacyUnit(self.unit.value), sample_from(self.sample, answers)
        target = sottovoce.Target(
            self.epsilon, unit, self.delta, answers, self.hide_participation, sample
        )
        calibration = Calibration.AS_PUBLISHED if self.as_published else Calibration.SOUND
        return sottovoce.make_policy(
            domain, self.mechanism, target, calibration=calibration, **settings
        )


def domain_from(labels: int | None, domain: str | None) -> Domain:
    """The domain of so many labels, or as `--domain` writes it."""
    if (labels is None) == (domain is None):
        wrong = "and not both" if labels is not None else "with its labels or range"
        raise UsageError(f"say --labels S or --domain, {wrong}")
    if labels is not None:
        if not 2 <= labels <= 1 << 20:
            raise UsageError(f"--labels must be from 2 to 1,048,576, not {labels}")
        return Domain.ordinal(range(labels))
    return parsed_domain(domain or "")


def parsed_domain(text: str) -> Domain:
    """The domain that `--domain` writes, with its labels or range."""
    parsed = parse_domain(text)
    if not isinstance(parsed, Domain):
        raise UsageError(f"--domain {text} needs its labels or range: numeric:0..10")
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
