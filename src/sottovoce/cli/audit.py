"""`sottovoce audit`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli import console
from sottovoce.cli.options import AnswersOption, JsonOption, PolicyArgument, Unit
from sottovoce.errors import UsageError
from sottovoce.mechanisms.audit import audit_mechanism
from sottovoce.mechanisms.policies import mechanism_of, release_of, sealed_of
from sottovoce.mechanisms.sampling import sample_of, unsampled
from sottovoce.model import Claim, Policy, Promise
from sottovoce.model import Unit as PrivacyUnit
from sottovoce.privacy.audit import Audit, audit_samples
from sottovoce.randomness import SystemRandomness
from sottovoce.securesum.collusion_audit import audit_opened
from sottovoce.tables import read_policy
from sottovoce.tables.audit_samples import read_samples

EXCEEDED = 1
"""The exit code for a guarantee that does not hold."""

MOST_REPORTS = 10**9
"""How many reports of each input are drawn: more take hours."""


def audit(
    policy: PolicyArgument = None,
    samples_of: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="FIRST SECOND",
            help="Recorded samples of two neighbouring inputs instead of a policy: two CSV files, "
            "one submission per row, independent and in the order drawn.",
        ),
    ] = None,
    against: Annotated[
        float | None, typer.Option(help="The epsilon that recorded samples are held against.")
    ] = None,
    answers: AnswersOption = None,
    samples: Annotated[int, typer.Option(help="How many samples of each input to draw.")] = 200_000,
    confidence: Annotated[
        float, typer.Option(help="How sure the lower bound is to be.")
    ] = 0.999999,
    delta: Annotated[
        float | None,
        typer.Option(help="The delta at which epsilon is bounded; the policy's if not given."),
    ] = None,
    unit: Annotated[
        Unit | None,
        typer.Option(help="What epsilon is for: answer or worker; the policy's if not given."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Try to prove that the mechanism of POLICY betrays more than it states.

    Looks at nothing but reports, drawn with the randomness of the system, and prints what they
    prove: a lower bound on epsilon, beside the guarantee and the paper's claim. Ends with 1 if the
    bound exceeds the guarantee: the mechanism is broken. Of a sealed POLICY it looks at opened
    totals, as those see them who know all but one worker's answers and the honest noise.
    """
    if (policy is None) == (samples_of is None):
        raise UsageError("say what to audit: a policy, or --samples-of FIRST SECOND")
    if samples_of is not None:
        if unit is not None or answers is not None:
            raise UsageError("recorded samples say nothing of units and answers: drop both options")
        content = _recorded(samples_of, against, delta or 0.0, confidence)
    elif policy is not None:
        if against is not None:
            raise UsageError("--against is for --samples-of: a policy states its own guarantee")
        content = _policy(policy, answers, samples, confidence, delta, unit)
    if json:
        console.print_json(content)
    else:
        _print(content)
    if content["exceeded"]:
        raise typer.Exit(EXCEEDED)


def _policy(
    path: Path,
    answers: int | None,
    samples: int,
    confidence: float,
    delta: float | None,
    unit: Unit | None,
) -> dict[str, Any]:
    policy = read_policy(path)
    release = release_of(policy)
    promise = policy.promise or Promise(PrivacyUnit.ANSWER, 1.0, 0.0, 1)
    protected = PrivacyUnit(unit.value) if unit is not None else promise.unit
    count = answers if answers is not None else promise.answers
    delta = delta if delta is not None else promise.delta
    if samples * count > MOST_REPORTS:
        raise UsageError(
            f"{samples:,} samples of {count:,} answers are more than {MOST_REPORTS:,} reports: "
            "ask for fewer --samples or --answers"
        )
    stated = release.guarantee(count, protected, delta)
    claim = release.claim(policy.promise.epsilon if policy.promise else None)
    how = {"answers": count, "unit": protected, "samples": samples, "delta": delta}
    with console.passes("auditing", visible=True):
        found = _audited(policy, confidence=confidence, **how)
    name = unsampled(release).name
    if sample_of(release) is not None:
        name = f"{name} of a sample"
    return _content(found, stated.epsilon, name, str(protected), count, claim)


def _audited(policy: Policy, **how: Any) -> Audit:
    """What reports prove; under a sealed policy, what opened totals prove to colluders."""
    if policy.sealed:
        return audit_opened(sealed_of(policy), SystemRandomness(), **how)
    return audit_mechanism(mechanism_of(policy), policy.domain, SystemRandomness(), **how)


def _recorded(
    paths: tuple[Path, Path], against: float | None, delta: float, confidence: float
) -> dict[str, Any]:
    if against is not None and not against >= 0:
        raise UsageError(f"--against must be at least 0, not {against:g}")
    first, second = read_samples(*paths)
    found = audit_samples(first, second, delta=delta, confidence=confidence)
    return _content(found, against)


def _content(
    found: Audit,
    stated: float | None,
    mechanism: str | None = None,
    unit: str | None = None,
    answers: int | None = None,
    claim: Claim | None = None,
) -> dict[str, Any]:
    """What the command prints, as one object; an epsilon that is not finite is null."""
    claimed = claim.epsilon if claim is not None else None
    return {
        "mechanism": mechanism,
        "unit": unit,
        "answers": answers,
        "samples": found.samples,
        "confidence": found.confidence,
        "delta": found.delta,
        "lower_bound": found.epsilon,
        "stated": stated if stated is not None and math.isfinite(stated) else None,
        "claimed": claimed if claimed is not None and math.isfinite(claimed) else None,
        "refuted": _refuted(found, claim, unit),
        "event": found.event,
        "exceeded": stated is not None and found.exceeds(stated),
    }


def _refuted(found: Audit, claim: Claim | None, unit: str | None) -> bool | None:
    """Whether a claim is refuted; None where it says nothing of this unit or delta."""
    # The papers speak of one answer, and what is lost at a delta is less than at a smaller one.
    if claim is None or unit != "answer" or found.delta < claim.delta:
        return None
    return found.exceeds(claim.epsilon)


def _print(content: dict[str, Any]) -> None:
    bound, stated, claimed = content["lower_bound"], content["stated"], content["claimed"]
    drawn = f"{content['samples']:,} samples of each input"
    at = f" at delta {content['delta']:g}" if content["delta"] else ""
    rows = [
        [
            "at least",
            f"{math.floor(bound * 1e4) / 1e4:.4f}",
            f"{drawn}, confidence {content['confidence']:.10g}",
        ]
    ]
    if content["mechanism"] is not None:
        answers = f"{content['answers']:,} answer{'s' if content['answers'] != 1 else ''}"
        who = f"{content['mechanism']}, {answers}, per {content['unit']}"
        rows.append(["stated", _stated(stated), who])
    elif stated is not None:
        rows.append(["stated", _stated(stated), "--against"])
    if claimed is not None:
        verdicts = {
            True: "the reports refute it",
            False: "not refuted by these reports",
            None: "not of this unit and delta",
        }
        rows.append(["claimed", f"{claimed:.4f}", f"by the paper: {verdicts[content['refuted']]}"])
    console.print_table(["", f"epsilon{at}", ""], rows)
    console.note(f"event: {content['event']}")
    if content["exceeded"]:
        console.note("the guarantee does not hold: the mechanism betrays more than it states")


def _stated(epsilon: float | None) -> str:
    """Rounded up to the digits shown, where the lower bound is rounded down."""
    return "none" if epsilon is None else f"{math.ceil(epsilon * 1e4 * (1 - 1e-12)) / 1e4:.4f}"
