"""`sottovoce audit`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from sottovoce.cli import console
from sottovoce.cli.options import AnswersPerWorkerOption, JsonOption, PolicyArgument, Unit
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
"""Limit on the reports drawn per input; more would take hours."""


def audit(
    policy: PolicyArgument = None,
    samples_of: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            metavar="FIRST SECOND",
            help="Audit recorded samples of two neighbouring inputs instead of a policy: two CSV "
            "files, one submission per row, independent and in the order drawn.",
        ),
    ] = None,
    against: Annotated[
        float | None, typer.Option(help="Epsilon to test recorded samples against.")
    ] = None,
    answers_per_worker: AnswersPerWorkerOption = None,
    samples: Annotated[
        int, typer.Option(help="Number of samples to draw of each input.")
    ] = 200_000,
    confidence: Annotated[float, typer.Option(help="Confidence of the lower bound.")] = 0.999999,
    delta: Annotated[
        float | None,
        typer.Option(
            metavar="DELTA",
            help="Failure probability at which epsilon is bounded. Default: that of the policy.",
        ),
    ] = None,
    unit: Annotated[
        Unit | None,
        typer.Option(
            help="Unit of the guarantee: one answer, or all answers of a worker. Default: that of "
            "the policy."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Test empirically whether the mechanism of POLICY exceeds its stated privacy loss.

    Draws reports with the system's randomness and derives a lower bound on epsilon from them alone.
    Prints the bound next to the guarantee and the paper's claim. Exit code 1 means that the bound
    exceeds the guarantee: the mechanism is broken. For a sealed POLICY the audit uses opened
    totals, from the view of colluders who know all but one worker's answers and the honest noise.
    """
    if (policy is None) == (samples_of is None):
        raise UsageError("give a policy to audit, or --samples-of FIRST SECOND")
    if samples_of is not None:
        if unit is not None or answers_per_worker is not None:
            raise UsageError("--samples-of has no unit: drop --unit and --answers-per-worker")
        content = _recorded(samples_of, against, delta or 0.0, confidence)
    elif policy is not None:
        if against is not None:
            raise UsageError("--against needs --samples-of: a policy has its own guarantee")
        content = _policy(policy, answers_per_worker, samples, confidence, delta, unit)
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
            "use fewer --samples or --answers-per-worker"
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
    """Audit reports or, under a sealed policy, the opened totals from the view of colluders."""
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
    """The command's output as one object; an infinite epsilon is null."""
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
    """Whether a claim is refuted; None if it does not cover this unit or delta."""
    # The papers' claims are per answer, and a larger delta allows a smaller epsilon.
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
            None: "not for this unit and delta",
        }
        rows.append(["claimed", f"{claimed:.4f}", f"by the paper: {verdicts[content['refuted']]}"])
    console.print_table(["", f"epsilon{at}", ""], rows)
    console.note(f"event: {content['event']}")
    if content["exceeded"]:
        console.note("the guarantee does not hold: the privacy loss exceeds the stated epsilon")


def _stated(epsilon: float | None) -> str:
    """The epsilon rounded up to the digits shown; the lower bound is rounded down."""
    return "none" if epsilon is None else f"{math.ceil(epsilon * 1e4 * (1 - 1e-12)) / 1e4:.4f}"
