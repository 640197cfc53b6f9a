"""Policy: a domain, a mechanism and a guarantee, under one hash."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from sottovoce.errors import UsageError
from sottovoce.model.canonical_json import RepeatedField, canonical, unique_fields
from sottovoce.model.display import Display, Displayed
from sottovoce.model.domain import Domain, Kind, label_text
from sottovoce.model.guarantee import Unit, check_count, check_delta, check_number

FORMAT = "sottovoce-policy/1"

SEALED = "sealed-sum"
"""The name of the mechanism whose policies are for sealed answers."""

MOST_ANSWERS = 1 << 24
"""The largest number of answers of a worker; more would take minutes to check."""

LONGEST_LABEL = 1000
_DECIMAL = re.compile(r"-?[0-9]{1,400}(\.[0-9]{1,400})?(e[+-]?[0-9]{1,4})?", re.ASCII)


class Calibration(StrEnum):
    """Parameters that keep a target, or those that a paper prescribes for it."""

    SOUND = "sound"
    AS_PUBLISHED = "as-published"


class ShowDraw(StrEnum):
    """When a worker sees its random draw: before sending the reports, or after.

    A worker who sees the draw first may decide not to send it, and then the reports that arrive no
    longer follow the law.
    """

    BEFORE_SEND = "before_send"
    AFTER_SEND = "after_send"


@dataclass(frozen=True, slots=True)
class Promise:
    """The guarantee a policy was made for: (epsilon, delta) for up to `answers` answers."""

    unit: Unit
    epsilon: float
    delta: float
    answers: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", Unit(self.unit))
        check_target(self.epsilon, self.delta, self.answers)

    def __str__(self) -> str:
        delta = f", delta {self.delta:g}" if self.delta else ""
        plural = "s" if self.answers != 1 else ""
        return (
            f"epsilon {self.epsilon:g}{delta} per {self.unit} for up to {self.answers:,} "
            f"answer{plural}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Policy(Displayed):
    """A public document, from which workers can compute the privacy loss of their reports.

    `mechanism` is the mechanism's JSON form: its name and its integers. `promise` is None for a
    calibration as published, whose true guarantee differs from the paper's. The document contains
    `show_draw` only if it is `after_send`, so that older policies keep their hash.

    >>> mechanism = {"name": "randomized-response", "labels": 2, "other": "4611686018427387904"}
    >>> policy = Policy(Domain.categorical(["no", "yes"]), mechanism, Calibration.SOUND, None)
    >>> Policy.parse(policy.text()) == policy
    True
    >>> policy.hash[:8]
    'eb534be3'
    """

    domain: Domain
    mechanism: Mapping[str, Any]
    calibration: Calibration
    promise: Promise | None
    show_draw: ShowDraw = ShowDraw.BEFORE_SEND

    def __post_init__(self) -> None:
        for label in self.domain.labels:
            _check_label(label_text(label))

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return str(self.mechanism["name"])

    @property
    def sealed(self) -> bool:
        """Whether answers are sealed and only noised sums are opened; no answer is perturbed."""
        return self.name == SEALED

    @property
    def hash(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return hashlib.sha256(self.text().encode("ascii")).hexdigest()

    def _display(self) -> Display:
        promise = "none: calibrated as published" if self.promise is None else str(self.promise)
        facts = (
            ("promise", promise),
            ("domain", str(self.domain)),
            ("mechanism", canonical(dict(self.mechanism))),
            ("show_draw", str(self.show_draw)),
            ("hash", self.hash),
        )
        return Display(f"Policy: {self.name}", facts)

    def text(self) -> str:
        """The canonical JSON: sorted, compact, ASCII, without floats."""
        return canonical(self.as_json())

    def as_json(self) -> dict[str, Any]:
        """The document that `docs/reference/policy.schema.json` describes."""
        promise = self.promise
        later = self.show_draw is ShowDraw.AFTER_SEND
        return {
            "format": FORMAT,
            "domain": _domain_json(self.domain),
            "mechanism": dict(self.mechanism),
            "calibration": str(self.calibration),
            "promise": promise
            and {
                "unit": str(promise.unit),
                "epsilon": repr(promise.epsilon),
                "delta": repr(promise.delta),
                "answers": promise.answers,
            },
            **({"show_draw": str(self.show_draw)} if later else {}),
        }

    @classmethod
    def parse(cls, text: str | bytes) -> Self:
        """A policy from JSON text; anything unknown or missing is refused."""
        try:
            document = json.loads(
                text,
                parse_float=_refuse_float,
                parse_constant=_refuse_float,
                object_pairs_hook=unique_fields,
            )
        except RepeatedField as error:
            raise UsageError(f"the policy has the field {short(error.name)} twice") from None
        except ValueError as error:
            raise UsageError(f"the policy is not JSON: {error}") from None
        except RecursionError:
            raise UsageError("the policy is nested too deeply") from None
        return cls.of_json(document)

    @classmethod
    def of_json(cls, document: Any) -> Self:
        """A policy from parsed JSON."""
        known = {"format", "domain", "mechanism", "calibration", "promise"}
        fields = fields_of(document, "the policy", known, frozenset({"show_draw"}))
        if fields["format"] != FORMAT:
            raise UsageError(f"the policy's format is {short(fields['format'])}, not {FORMAT!r}")
        mechanism = fields["mechanism"]
        if not isinstance(mechanism, dict) or not isinstance(mechanism.get("name"), str):
            raise UsageError("the policy's mechanism must be an object with a name")
        try:
            calibration = Calibration(fields["calibration"])
        except ValueError:
            raise UsageError(
                f"the policy's calibration must be sound or as-published, "
                f"not {short(fields['calibration'])}"
            ) from None
        return cls(
            _domain_of(fields["domain"]),
            mechanism,
            calibration,
            _promise_of(fields["promise"]),
            _show_draw_of(fields),
        )


def check_policy(given: object) -> None:
    """Refuse anything but a Policy, such as its path or its document."""
    if not isinstance(given, Policy):
        raise UsageError("not a Policy: read_policy(path) reads one, make_policy makes one")


def check_target(epsilon: float, delta: float, answers: int) -> None:
    """Refuse an impossible target; the error names the field and its range."""
    check_number("epsilon", epsilon)
    check_number("delta", delta)
    check_count("answers", answers)
    if not 0 < epsilon < math.inf:
        raise UsageError(f"epsilon must be above 0 and finite, not {epsilon:g}")
    check_delta(delta)
    if not 1 <= answers <= MOST_ANSWERS:
        raise UsageError(f"answers must be from 1 to {MOST_ANSWERS:,}, not {short(answers)}")


def fields_of(
    document: Any, what: str, required: set[str], optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The fields of a JSON object; missing and unknown fields are refused."""
    if not isinstance(document, dict):
        raise UsageError(f"{what} must be a JSON object")
    missing, unknown = required - document.keys(), document.keys() - required - optional
    if missing:
        raise UsageError(f"{what} lacks {', '.join(sorted(missing))}")
    if unknown:
        raise UsageError(f"{what} has unknown fields: {', '.join(map(short, sorted(unknown)[:9]))}")
    return document


def short(value: object) -> str:
    """The value, cut to 40 characters."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        text = "a huge number"
    return text if len(text) <= 40 else text[:39] + "…"


def _check_label(text: str) -> None:
    """Refuse a label that a table of reports cannot contain."""
    if not 1 <= len(text) <= LONGEST_LABEL:
        raise UsageError(f"a label has 1 to {LONGEST_LABEL:,} characters, not {len(text):,}")
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise UsageError(f"the label {text!a:.40} is no text that a file can hold")


def _refuse_float(text: str) -> float:
    raise UsageError(f"the policy has the number {text[:40]}: fractions are written as strings")


def _domain_json(domain: Domain) -> dict[str, Any]:
    if domain.is_numeric:
        step = {} if domain.step is None else {"step": repr(domain.step)}
        return {
            "kind": str(domain.kind),
            "low": repr(domain.low),
            "high": repr(domain.high),
            **step,
        }
    return {"kind": str(domain.kind), "labels": list(stated_labels(domain))}


def stated_labels(domain: Domain) -> tuple[str | int, ...]:
    """The labels as a policy states them: without fractions and booleans."""
    return tuple(
        label_text(label) if isinstance(label, bool | float) else label for label in domain.labels
    )


def _domain_of(document: Any) -> Domain:
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind == Kind.NUMERIC:
        fields = fields_of(
            document, "the policy's domain", {"kind", "low", "high"}, frozenset({"step"})
        )
        step = fields.get("step")
        return Domain.numeric(
            decimal(fields["low"], "low"),
            decimal(fields["high"], "high"),
            None if step is None else decimal(step, "step"),
        )
    if kind not in (Kind.CATEGORICAL, Kind.ORDINAL):
        raise UsageError("the policy's domain needs a kind: categorical, ordinal or numeric")
    labels = fields_of(document, "the policy's domain", {"kind", "labels"})["labels"]
    if not isinstance(labels, list) or not all(
        isinstance(label, str | int) and not isinstance(label, bool) for label in labels
    ):
        raise UsageError("the labels of the policy's domain must be a list of texts or integers")
    return Domain(Kind(kind), tuple(labels))


def decimal(text: Any, field: str) -> float:
    """A finite number written as a string, in a form that every language reads the same way."""
    if isinstance(text, str) and _DECIMAL.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    raise UsageError(
        f"the policy's {field} must be a number written as a string, not {short(text)}"
    )


def _promise_of(document: Any) -> Promise | None:
    if document is None:
        return None
    fields = fields_of(document, "the policy's promise", {"unit", "epsilon", "delta", "answers"})
    if fields["unit"] not in tuple(Unit):
        raise UsageError(
            f"the promise's unit must be answer or worker, not {short(fields['unit'])}"
        )
    if not isinstance(fields["answers"], int) or isinstance(fields["answers"], bool):
        raise UsageError("the promise's answers must be an integer")
    return Promise(
        Unit(fields["unit"]),
        decimal(fields["epsilon"], "epsilon"),
        decimal(fields["delta"], "delta"),
        fields["answers"],
    )


def _show_draw_of(fields: Mapping[str, Any]) -> ShowDraw:
    """The value of show_draw; the default must be left out, or a policy would have two hashes."""
    if "show_draw" not in fields:
        return ShowDraw.BEFORE_SEND
    if fields["show_draw"] != ShowDraw.AFTER_SEND:
        raise UsageError(
            "the policy's show_draw must be after_send, or be left out for before_send, not "
            f"{short(fields['show_draw'])}"
        )
    return ShowDraw.AFTER_SEND
