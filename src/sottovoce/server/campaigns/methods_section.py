"""The methods section of a campaign for a paper: terms, guarantee, reports and inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sottovoce.mechanisms.policies import mechanism_of, release_of, sealed_of
from sottovoce.mechanisms.sampling import sample_of, unsampled
from sottovoce.model import (
    Campaign,
    Domain,
    Grid,
    Guarantee,
    Kind,
    Policy,
    State,
    Terms,
    label_text,
)
from sottovoce.model.campaign import Assignment
from sottovoce.model.guarantee import rounded_up
from sottovoce.server.campaigns.guarantees import KeptGuarantees, guarantees_of
from sottovoce.server.campaigns.results import found_result
from sottovoce.server.database.results import Summary
from sottovoce.server.service import Service
from sottovoce.version import __version__

LONG = frozenset({"name", "keyholders", "coordinator"})
"""Fields of a policy that are not parameters: names and keys."""

MOST_NAMED = 12
"""The most labels that are listed; the others are counted."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact about a campaign."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Description:
    """A paragraph to cite, the software's BibTeX entry, and the facts behind both."""

    paragraph: str
    citation: str
    facts: tuple[Fact, ...]


def describe(service: Service, id: str) -> Description:
    """Describe a campaign in words. May take seconds for a new policy."""
    with service.database.reading() as connection:
        stored, found = found_result(connection, id)
    summary = None if found is None or found.summary.method is None else found.summary
    campaign = stored.campaign
    kept = guarantees_of(campaign.terms.policy)
    return Description(
        _paragraph(campaign, kept, summary),
        _citation(service.today()),
        _facts(campaign, kept, summary),
    )


def _paragraph(campaign: Campaign, kept: KeptGuarantees, summary: Summary | None) -> str:
    policy = campaign.terms.policy
    sentences = [
        _stamp(campaign),
        _collected(campaign),
        _sealed(policy) if policy.sealed else _randomised(policy),
        _promised(kept, campaign.terms),
        _inferred(campaign, summary),
        f"The policy has the SHA-256 hash {policy.hash}.",
        f"Reference: {release_of(policy).citation.reference}",
    ]
    return " ".join(filter(None, sentences))


def _stamp(campaign: Campaign) -> str:
    if not campaign.simulated:
        return ""
    return "SIMULATED: a program made all reports with seeded noise; no person answered."


def _collected(campaign: Campaign) -> str:
    """The collected reports; in the past tense once the campaign is closed."""
    counts = campaign.counts
    asked = f"{_count(campaign.tasks, 'task')}, each with {_kind(campaign.terms.policy.domain)}"
    how = (
        "those with too few reports and undecided ones first"
        if campaign.terms.assignment is Assignment.NEED
        else "assigned by a hash"
    )
    given = f"each worker {{}} given up to {_count(campaign.block, 'task')}, {how}"
    if campaign.state is State.DRAFT:
        return f"A campaign is drafted on {asked}; {given.format('is')}."
    what = "sealed answer" if campaign.terms.policy.sealed else "report"
    received = f"{_count(counts.reports, what)} from {_count(counts.workers, 'worker')}"
    opened = f"opened on {campaign.opened_on}"
    if campaign.state is State.OPEN:
        return (
            f"A campaign on {asked}, {opened} (UTC), has received {received} so far; "
            f"{given.format('is')}."
        )
    return (
        f"A campaign on {asked}, {opened} and closed on {campaign.closed_on} (UTC), received "
        f"{received}; {given.format('was')}."
    )


def _sealed(policy: Policy) -> str:
    sealed = sealed_of(policy)
    names = ", ".join(keyholder.name for keyholder in sealed.keyholders) or "not named yet"
    hidden = (
        " A contribution has every given task, answered or not, so that participation is private."
        if sealed.hidden
        else ""
    )
    return (
        f"Answers are sealed on the worker's own device by {sealed.citation.words} "
        f"({sealed.citation.cited}; parameters: {_parameters(policy)}). Of {sealed.seats} "
        f"keyholders ({names}), any {sealed.degree + 1} open the totals of {sealed.minimum:,} "
        f"contributions or more, once; nothing else is ever opened.{hidden}"
    )


def _randomised(policy: Policy) -> str:
    mechanism = mechanism_of(policy)
    citation, sample = mechanism.citation, sample_of(mechanism)
    sampled = (
        "" if sample is None else f" Of its answers each worker sends {sample:,}, chosen at random."
    )
    hidden = (
        " A report is sent for every given task, answered or not, so that participation is private."
        if mechanism.hides_participation
        else ""
    )
    return (
        f"Answers are randomised on the worker's own device, before anything is sent, by "
        f"{citation.words} ({citation.cited}; parameters: {_parameters(policy)}).{sampled}{hidden}"
    )


def _promised(kept: KeptGuarantees, terms: Terms) -> str:
    """The guarantees, rounded up, and their assumptions."""
    what = (
        "The opened totals keep differential privacy"
        if terms.policy.sealed
        else "All reports of a worker together keep local differential privacy"
    )
    assumed = kept.per_worker.assumptions
    under = f" This assumes that {' and that '.join(assumed)}." if assumed else ""
    return (
        f"{what} with {_held(kept.per_answer)} for the change of one answer and "
        f"{_held(kept.per_worker)} for the change of all answers of a worker with up to "
        f"{_count(terms.answers, 'answer')}.{under}"
    )


def _inferred(campaign: Campaign, summary: Summary | None) -> str:
    if summary is None:
        return "No truths are inferred yet."
    tense = "were" if campaign.state is State.CLOSED else "are"
    rest = "" if summary.converged else ", without convergence"
    taught = f" and {_count(summary.known, 'known truth')}" if summary.known else ""
    used = (
        f"the opened totals of {_count(summary.workers, 'worker')}"
        if campaign.terms.policy.sealed
        else _count(summary.reports, "report")
    )
    return (
        f"Truths {tense} inferred by the method {summary.method} of Sottovoce {summary.version} "
        f"from {used}{taught} in {_count(summary.rounds, 'round')}{rest}."
    )


def _kind(domain: Domain) -> str:
    if domain.is_numeric:
        grid = Grid.over(domain)
        return f"a number from {domain.low:g} to {domain.high:g} in steps of {float(grid.step):g}"
    shown = ", ".join(label_text(label) for label in domain.labels[:MOST_NAMED])
    more = ", …" if domain.size > MOST_NAMED else ""
    order = "ordered labels" if domain.kind is Kind.ORDINAL else "labels"
    return f"one of {domain.size:,} {order} ({shown}{more})"


def _held(held: Guarantee) -> str:
    if not held.is_finite:
        return "no finite epsilon"
    bound = "" if held.exact else "at most "
    return f"{bound}epsilon {rounded_up(held.epsilon, 4)} and delta {held.delta:g}"


def _parameters(policy: Policy) -> str:
    named = unsampled(release_of(policy)).as_json()
    fields = {name: value for name, value in named.items() if name not in LONG}
    return ", ".join(f"{name} {value}" for name, value in fields.items() if value not in ("", {}))


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def _citation(today: date) -> str:
    """A BibTeX entry of this release."""
    fields = {
        "title": "{Sottovoce}: truth inference from privately randomised crowd answers",
        "author": "{The Sottovoce developers}",
        "version": __version__,
        "year": str(today.year),
        "license": "Apache-2.0",
    }
    lines = "".join(f"  {name:<7} = {{{value}}},\n" for name, value in fields.items())
    return f"@software{{sottovoce,\n{lines}}}"


def _facts(campaign: Campaign, kept: KeptGuarantees, summary: Summary | None) -> tuple[Fact, ...]:
    counts, policy = campaign.counts, campaign.terms.policy
    rows: Sequence[tuple[str, object]] = (
        ("campaign", campaign.id),
        ("state", campaign.state),
        ("simulated", "yes" if campaign.simulated else "no"),
        ("question", campaign.terms.question),
        ("answers", _kind(policy.domain)),
        ("tasks", f"{campaign.tasks:,}"),
        ("workers", f"{counts.workers:,}"),
        ("reports", f"{counts.reports:,}"),
        ("opened", campaign.opened_on),
        ("closed", campaign.closed_on),
        ("mechanism", release_of(policy).name),
        ("parameters", _parameters(policy)),
        ("guarantee per answer", _held(kept.per_answer)),
        ("guarantee per worker", _held(kept.per_worker)),
        ("assumptions", "; ".join(kept.per_worker.assumptions)),
        ("policy hash", policy.hash),
        ("known truths", summary and summary.known and f"{summary.known:,}; {summary.calibration}"),
        ("method", summary and f"{summary.method}, Sottovoce {summary.version}"),
        ("source", release_of(policy).citation.reference),
    )
    return tuple(Fact(name, str(value)) for name, value in rows if value)
