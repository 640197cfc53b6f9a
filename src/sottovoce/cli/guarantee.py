"""`sottovoce guarantee`."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any

import typer

import sottovoce
from sottovoce.cli import console, options
from sottovoce.cli.policy_options import PolicyRequest, domain_from
from sottovoce.errors import UsageError
from sottovoce.mechanisms.odds import opened_odds, weakness_warnings
from sottovoce.mechanisms.policies import release_of, sealed_of, weakest_guarantee
from sottovoce.mechanisms.sampling import sample_of, unsampled_document
from sottovoce.model import Claim, Guarantee, Policy
from sottovoce.model import Unit as PrivacyUnit
from sottovoce.model.guarantee import rounded_up
from sottovoce.seams import Release

SHOWN_EPSILONS = (0.5, 1.0, 2.0, 4.0)
"""Epsilons at which delta is shown, in addition to the one asked for or claimed."""

SMALLEST = 1e-12
"""A smaller delta gets no row."""

HEADER = ("unit", "epsilon", "delta", "")

_PAPER = re.compile(r"^(?=P\d )")


def guarantee(
    policy: options.PolicyArgument = None,
    mechanism: options.MechanismOption = None,
    epsilon: options.EpsilonOption = None,
    label_count: Annotated[
        int | None, typer.Option(help="Number of labels, without their names.")
    ] = None,
    domain: Annotated[
        str | None, options.domain_option("A new policy needs it, or --label-count.")
    ] = None,
    answers_per_worker: options.AnswersPerWorkerOption = None,
    unit: options.UnitOption = options.Unit.answer,
    delta: options.DeltaOption = 0.0,
    as_published: options.AsPublishedOption = False,
    hide_participation: options.HideOption = False,
    sample: options.SampleOption = None,
    setting: options.SettingOption = None,
    write_policy: Annotated[Path | None, options.file_option("Write the new policy here.")] = None,
    json: options.JsonOption = False,
    force: options.ForceOption = False,
) -> None:
    """Print the privacy guarantee of POLICY, or of a mechanism and a target.

    Covers all reports of a worker: per answer and per worker, pure and with a delta, next to the
    paper's claim. With a POLICY, --epsilon and --delta choose points of its privacy curve.
    """
    if policy is None and mechanism is None:
        raise UsageError("give a policy, or --mechanism, --epsilon and --label-count or --domain")
    if policy is not None:
        options.refuse_beside_policy(
            {
                "--mechanism": mechanism,
                "--label-count": label_count,
                "--domain": domain,
                "--unit": unit is not options.Unit.answer,
                "--as-published": as_published,
                "--hide-participation": hide_participation,
                "--sample": sample,
                "--set": setting,
            }
        )
        kept = sottovoce.read_policy(policy)
    else:
        asked = PolicyRequest(
            mechanism, epsilon, unit, delta, sample, as_published, hide_participation, setting
        )
        kept = asked.policy(domain_from(label_count, domain), answers_per_worker or 1)
    if answers_per_worker is not None and answers_per_worker < 1:
        raise UsageError(f"--answers-per-worker must be at least 1, not {answers_per_worker}")
    count = answers_per_worker or (kept.promise.answers if kept.promise else 1)
    if write_policy is not None:
        if policy is not None:
            raise UsageError("--write-policy is for a new policy: drop it, or drop POLICY")
        sottovoce.write_policy(kept, write_policy, force=force)
    content = summary(kept, count, delta=delta, nominal=epsilon)
    if json:
        console.print_json(content)
        return
    _print(kept, content)


def summary(policy: Policy, answers: int, *, delta: float, nominal: float | None) -> dict[str, Any]:
    """The command's output as one object."""
    release, named = release_of(policy), unsampled_document(policy.mechanism)
    promise = policy.promise
    asked = nominal if nominal is not None else promise.epsilon if promise else None
    claim = release.claim(asked)
    if asked is None and claim is not None:
        asked = claim.epsilon
    delta = delta or (promise.delta if promise else 0.0)
    return {
        "mechanism": named["name"],
        "parameters": {key: value for key, value in named.items() if key != "name"},
        "sampled": sample_of(release),
        "calibration": str(policy.calibration),
        "policy_hash": policy.hash,
        "answers": answers,
        "per_answer": _unit(release, answers, PrivacyUnit.ANSWER, delta, asked),
        "per_worker": _unit(release, answers, PrivacyUnit.WORKER, delta, asked),
        "claimed": _claimed(claim),
        **(_sealed(policy) if policy.sealed else {}),
    }


def _sealed(policy: Policy) -> dict[str, Any]:
    """The keyholders, who must not collude, and the noise of an opened sum."""
    sealed = sealed_of(policy)
    keyholders = [
        {"seat": seat, "name": keyholder.name, "fingerprint": keyholder.fingerprint}
        for seat, keyholder in enumerate(sealed.keyholders, 1)
    ]
    return {"keyholders": keyholders, "deviations": [sd**0.5 for sd in sealed.variances]}


def _unit(
    release: Release, answers: int, unit: PrivacyUnit, delta: float, asked: float | None
) -> dict[str, Any]:
    held = release.guarantee(answers, unit)
    epsilons = sorted({*SHOWN_EPSILONS, *([asked] if asked is not None else [])})
    content: dict[str, Any] = {
        "epsilon": _finite(held.epsilon),
        "exact": held.exact,
        "delta_at": {
            f"{epsilon:.12g}": release.delta(epsilon, answers, unit)
            for epsilon in epsilons
            if epsilon < held.epsilon or epsilon == asked
        },
        "assumptions": list(held.assumptions),
        "source": held.source,
    }
    if delta:
        at = release.guarantee(answers, unit, delta)
        content["at_delta"] = {"delta": delta, "epsilon": _finite(at.epsilon), "exact": at.exact}
    return content


def _claimed(claim: Claim | None) -> dict[str, Any] | None:
    if claim is None:
        return None
    return {
        "epsilon": _finite(claim.epsilon),
        "delta": claim.delta,
        "source": claim.source,
        "verdict": claim.verdict,
    }


def guarantee_words(policy: Policy, most: int) -> list[str]:
    """The guarantee of a policy for workers with up to `most` answers, in sentences."""
    mechanism, promise = sottovoce.mechanism_of(policy), policy.promise
    delta = promise.delta if promise else 0.0
    held = [weakest_guarantee(mechanism, most, unit, delta) for unit in PrivacyUnit]
    lines = (
        []
        if promise
        else ["as published: the policy guarantees nothing; `sottovoce guarantee` has details"]
    )
    lines.append(
        f"guarantee for up to {most:,} answer{'s'[: most > 1]} per worker: {held[0]}, {held[1]}"
    )
    odds = mechanism.odds()
    if promise:
        lines += limit_lines(promise.epsilon, held[promise.unit is PrivacyUnit.WORKER].epsilon)
    return [*lines, *([odds.sentence] if odds else []), *weakness_warnings(held[0], held[1])]


def limit_lines(asked: float, held: float) -> list[str]:
    """A note if the requested epsilon is above the largest of the mechanism's integer law."""
    if held > 0.99 * asked:
        return []
    return [
        f"note: epsilon {asked:g} was requested; the largest possible with this mechanism is "
        f"{rounded_up(held, 4)}"
    ]


def note_guarantee(policy: Policy, most: int, seed: int | None) -> None:
    """Print the guarantee for up to `most` answers per worker, and whether the noise is real."""
    promised = policy.promise.answers if policy.promise else 1
    for sentence in guarantee_words(policy, max(most, promised)):
        console.note(sentence)
    if seed is not None:
        console.note(f"SIMULATED with seed {seed}: these reports protect nobody")


def _print(policy: Policy, content: dict[str, Any]) -> None:
    rows, others = _rows(content)
    claim = content["claimed"]
    if claim:
        source = _PAPER.sub("paper ", claim["source"])
        rows.append([source, _number(claim["epsilon"]), f"{claim['delta']:.4g}", "claimed"])
    console.say(f"{content['mechanism']}, {_many(content['answers'], content['sampled'])}")
    console.print_table(HEADER, rows)
    if claim:
        console.say(f"The paper's claim: {claim['verdict']}.")
    if others:
        console.say("Also true, with a failure probability delta:")
        console.print_table(HEADER, others)
    held = [_held(content, unit) for unit in PrivacyUnit]
    for line in _sealed_lines(content, held[0]) if policy.sealed else _odds_lines(policy):
        console.say(line)
    for warning in weakness_warnings(held[0], held[1], sealed=policy.sealed):
        console.say(warning)
    for assumption in content["per_answer"]["assumptions"]:
        console.say(f"Assumes: {assumption}.")


def _held(content: dict[str, Any], unit: PrivacyUnit) -> Guarantee:
    """The guarantee of one unit in the command's output."""
    part = content[f"per_{unit}"]
    at = part.get("at_delta", part)
    epsilon = math.inf if at["epsilon"] is None else at["epsilon"]
    return Guarantee(unit, content["answers"], epsilon, at.get("delta", 0.0))


def _rows(content: dict[str, Any]) -> tuple[list[list[str]], list[list[str]]]:
    """The rows of the guarantee, and those at smaller epsilons, which need a delta."""
    rows, others = [], []
    for title, key in (("per answer", "per_answer"), ("per worker", "per_worker")):
        part = content[key]
        rows.append([title, _number(part["epsilon"]), "0", "exact" if part["exact"] else "bound"])
        if "at_delta" in part:
            at = part["at_delta"]
            kind = "exact" if at["exact"] else "bound"
            rows.append([title, _number(at["epsilon"]), f"{at['delta']:g}", kind])
        others += [
            [title, epsilon, rounded_up(least, 4), "at most"]
            for epsilon, least in part["delta_at"].items()
            if least >= SMALLEST
        ]
    return rows, others


def _odds_lines(policy: Policy) -> list[str]:
    """The expected outcome for 100 answers, as a sentence and a picture."""
    odds = sottovoce.mechanism_of(policy).odds()
    return [] if odds is None else [odds.sentence, console.hundred(odds.of_100)]


def _sealed_lines(content: dict[str, Any], held: Guarantee) -> list[str]:
    """The noise of opened sums, the odds of a guess, and the keyholders by fingerprint."""
    deviations = " and ".join(f"{sd:.3g}" for sd in dict.fromkeys(content["deviations"]))
    lines = [f"Nothing is perturbed; opened sums have noise of standard deviation {deviations}."]
    lines.append(opened_odds(held))
    lines += [
        f"Keyholder {one['seat']}: {one['name']}, fingerprint {one['fingerprint']}"
        for one in content["keyholders"]
    ]
    return lines if content["keyholders"] else [*lines, "No keyholders are named yet."]


def _many(answers: int, sampled: int | None) -> str:
    if answers == 1:
        return "one answer"
    if sampled is not None and sampled < answers:
        sent = f"{sampled:,} of them sent" + (" and observed together" if sampled > 1 else "")
        return f"{answers:,} answers per worker, {sent}"
    return f"{answers:,} answers per worker, observed together"


def _finite(epsilon: float) -> float | None:
    return epsilon if math.isfinite(epsilon) else None


def _number(epsilon: float | None) -> str:
    return "none" if epsilon is None else rounded_up(epsilon, 5)
