"""Several campaigns of one worker: what all of them betray together."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sottovoce.errors import UsageError
from sottovoce.model import Guarantee

__all__ = ["composed"]

ASSUMPTIONS = (
    "campaigns have independent noise",
    "a campaign may be chosen by what earlier reports said",
)


def composed(guarantees: Sequence[Guarantee]) -> Guarantee:
    """One guarantee for campaigns that each keep one: ε and δ add up, and so do the answers.

        P(S | a) ≤ exp(Σ εᵢ) P(S | a') + Σ δᵢ

    Dwork & Roth 2014, thm. B.1: by induction over the campaigns, each conditioned on the reports
    before it, so later policies may depend on earlier reports. It is an upper bound. For the unit
    answer it covers the same answer being asked for in every campaign.

    >>> from sottovoce.model import Unit
    >>> print(composed([Guarantee(Unit.WORKER, 3, 1.0), Guarantee(Unit.WORKER, 2, 0.5, 1e-6)]))
    epsilon 1.5, delta 1e-06 per worker
    """
    if not guarantees:
        raise UsageError("there is no guarantee to compose")
    if len(guarantees) == 1:
        return guarantees[0]
    units = sorted({guarantee.unit for guarantee in guarantees})
    if len(units) > 1:
        raise UsageError(
            f"guarantees per {' and per '.join(units)} do not add up: state all in one unit"
        )
    stated = (line for guarantee in guarantees for line in guarantee.assumptions)
    return Guarantee(
        units[0],
        sum(guarantee.answers for guarantee in guarantees),
        math.fsum(guarantee.epsilon for guarantee in guarantees),
        min(math.fsum(guarantee.delta for guarantee in guarantees), 1.0),
        exact=False,
        assumptions=tuple(dict.fromkeys((*stated, *ASSUMPTIONS))),
        source="upper bound: basic composition (Dwork & Roth 2014, thm. B.1)",
    )
