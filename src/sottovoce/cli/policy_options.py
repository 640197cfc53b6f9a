"""The policy that a command's options describe."""

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
    """A new policy as a command's options describe it."""

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
        """Whether participation is hidden, by option or by the mechanism itself."""
        return self.hide_participation or always_hides(self.mechanism)

    @property
    def missing(self) -> list[str]:
        """The required options that were not given."""
        required = {"--mechanism": self.mechanism, "--epsilon": self.epsilon}
        return [option for option, value in required.items() if value is None]

    def policy(self, domain: Domain, answers: int) -> Policy:
        """The policy for this number of answers per worker."""
        settings = parameters(self.setting)
        if self.mechanism is None or self.epsilon is None:
            raise UsageError(f"give {' and '.join(self.missing)}, or a policy")
        if taken := sorted(settings.keys() & {"domain", "name", "target", "calibration"}):
            raise UsageError(f"--set takes parameters of {self.mechanism}, not {taken[0]}")
        unit, sample = PrivacyUnit(self.unit.value), sample_from(self.sample, answers)
        target = sottovoce.Target(
            self.epsilon, unit, self.delta, answers, self.hide_participation, sample
        )
        calibration = Calibration.AS_PUBLISHED if self.as_published else Calibration.SOUND
        return sottovoce.make_policy(
            domain, self.mechanism, target, calibration=calibration, **settings
        )


def domain_from(labels: int | None, domain: str | None) -> Domain:
    """The domain from `--label-count` or `--domain`."""
    if (labels is None) == (domain is None):
        wrong = ", not both" if labels is not None else " with its labels or range"
        raise UsageError(f"give --label-count N or --domain{wrong}")
    if labels is not None:
        if not 2 <= labels <= 1 << 20:
            raise UsageError(f"--label-count must be from 2 to 1,048,576, not {labels}")
        return Domain.ordinal(range(labels))
    return parsed_domain(domain or "")


def parsed_domain(text: str) -> Domain:
    """The domain from `--domain`, which must have labels or a range."""
    parsed = parse_domain(text)
    if not isinstance(parsed, Domain):
        raise UsageError(f"--domain {text} needs labels or a range, such as numeric:0..10")
    return parsed


def sample_from(text: str | None, answers: int) -> int | None:
    """How many answers a worker sends; None chooses the best by rule."""
    if text is None or text == "auto":
        return None
    if text == "all":
        return answers
    if text.isascii() and text.isdigit() and int(text) >= 1:
        return int(text)
    raise UsageError(f"--sample takes auto, all or a number of answers, not {text!r}")
