"""From gathered reports to a result that can be stored."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sottovoce.api.infer import infer
from sottovoce.campaign.inference.gathering import Gathered
from sottovoce.campaign.inference.settling import settled
from sottovoce.errors import SottovoceError
from sottovoce.model import Codes, Policy, Reading, Reports, Result
from sottovoce.server.database.campaigns import Stored
from sottovoce.server.database.results import Columns, Found, Summary
from sottovoce.server.database.stored_reports import factorized
from sottovoce.version import __version__

__all__ = ["Fresh", "fitted"]

NOTHING_LEFT = "there is nothing to infer from: every report was taken back"


@dataclass(frozen=True, slots=True)
class Fresh:
    """A result that is to be stored: what is found of it quickly, and its packed columns."""

    found: Found
    content: bytes


def fitted(
    gathered: Gathered, stored: Stored, before: Summary | None, checkpoint: Columns
) -> Fresh:
    """Truths and weights of what was gathered, or why there are none."""
    campaign = stored.campaign
    policy = campaign.terms.policy
    summary = Summary(
        reports=len(gathered),
        counted=campaign.counts.reports,
        policy_hash=policy.hash,
        version=__version__,
        settled=before is not None and before.settled,
        checkpoint=before.checkpoint if before else 0,
        changed=before.changed if before else None,
        changed_since=before.changed_since if before else 0,
    )
    try:
        summary, columns = _inferred(gathered, policy, summary)
    except SottovoceError as error:
        return _packed(gathered, replace(summary, problem=str(error)), checkpoint)
    except Exception as error:
        # The message of an error nobody foresaw could hold a report.
        problem = f"inference failed ({type(error).__name__}): it is tried again with new reports"
        return _packed(gathered, replace(summary, problem=problem), checkpoint)
    columns = replace(
        columns, before_place=checkpoint.before_place, before_truth=checkpoint.before_truth
    )
    return _packed(gathered, *settled(summary, columns, campaign.tasks, policy.domain, before))


def _packed(gathered: Gathered, summary: Summary, columns: Columns) -> Fresh:
    found = Found(gathered.sequence, gathered.erasures, summary)
    if summary.problem is not None:
        nothing = Columns.none()
        columns = replace(
            nothing, before_place=columns.before_place, before_truth=columns.before_truth
        )
    return Fresh(found, columns.pack())


def _inferred(gathered: Gathered, policy: Policy, summary: Summary) -> tuple[Summary, Columns]:
    if not len(gathered):
        return replace(summary, problem=NOTHING_LEFT), Columns.none()
    reports, places = gathered.reports(policy)
    counted = replace(reports, reading=Reading("the campaign", len(reports)))
    result = infer(counted, policy=policy)
    reading = result.provenance.reading
    summary = replace(
        summary,
        workers=len(result.workers),
        tasks=len(result.tasks),
        method=result.provenance.method,
        rounds=int(result.rounds),
        converged=bool(result.converged),
        left_out=sum(reading.dropped.values()) if reading else 0,
    )
    return summary, _columns(result, reports, places, gathered)


def _columns(result: Result, reports: Reports, places: Codes, gathered: Gathered) -> Columns:
    """Truths by place; workers are by pseudonym already."""
    order = np.argsort(places)
    certainty = result.confidence if result.standard_error is None else result.standard_error
    assert certainty is not None  # noqa: S101 - every result has one of the two
    none = Columns.none()
    return Columns(
        places[order],
        result.truths[order],
        certainty[order],
        result.answers[order],
        np.frombuffer(factorized(bytes(gathered.pseudonyms))[1], np.uint8),
        result.weights,
        np.bincount(reports.worker, minlength=len(reports.workers)),
        none.before_place,
        none.before_truth,
    )
