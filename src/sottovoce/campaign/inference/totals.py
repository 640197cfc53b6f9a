"""From the totals of a sealed campaign to a result that can be stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sottovoce.api.infer_opened import infer_opened
from sottovoce.campaign.inference.fitting import Fresh
from sottovoce.campaign.sealed.opening import opened_totals
from sottovoce.errors import SottovoceError
from sottovoce.model import Result
from sottovoce.server.database.campaigns import Stored
from sottovoce.server.database.results import Columns, Found, Summary
from sottovoce.server.database.sealed_campaigns import OpenedTotals
from sottovoce.version import __version__

__all__ = ["fitted_totals"]


def fitted_totals(found: OpenedTotals, stored: Stored, names: Sequence[str]) -> Fresh:
    """Truths of what was opened, or why there are none. Nobody has a weight: nobody is seen."""
    campaign = stored.campaign
    counts, policy = campaign.counts, campaign.terms.policy
    summary = Summary(
        reports=counts.reports,
        counted=counts.reports,
        policy_hash=policy.hash,
        version=__version__,
        workers=found.workers,
        left_out=0 if found.answered is None else counts.reports - int(found.answered.sum()),
    )
    try:
        result = infer_opened(opened_totals(found, policy, names))
    except SottovoceError as error:
        return _packed(stored, replace(summary, problem=str(error)), Columns.none())
    except Exception as error:
        # The message of an error nobody foresaw could hold a total.
        problem = f"inference failed ({type(error).__name__})"
        return _packed(stored, replace(summary, problem=problem), Columns.none())
    summary = replace(
        summary,
        tasks=len(result.tasks),
        method=result.provenance.method,
        rounds=int(result.rounds),
        converged=bool(result.converged),
    )
    return _packed(stored, summary, _columns(result, names))


def _packed(stored: Stored, summary: Summary, columns: Columns) -> Fresh:
    # A sealed campaign is closed before it is opened: there is one result, and no later report.
    found = Found(stored.campaign.counts.submissions, stored.campaign.counts.erasures, summary)
    return Fresh(found, columns.pack())


def _columns(result: Result, names: Sequence[str]) -> Columns:
    place = {name: at for at, name in enumerate(names)}
    places = np.array([place[str(name)] for name in result.tasks], np.int32)
    order = np.argsort(places)
    certainty = result.confidence if result.standard_error is None else result.standard_error
    assert certainty is not None  # noqa: S101 - every result has one of the two
    return replace(
        Columns.none(),
        place=places[order],
        truth=result.truths[order],
        certainty=certainty[order],
        answers=np.asarray(result.answers)[order].astype(np.int64),
    )
