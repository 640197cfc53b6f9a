"""How likely the totals of two labels are, exactly: counts are binomial, the noise is known."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from sottovoce.inference.sealed.participation import Counts
from sottovoce.model import FloatArray
from sottovoce.model.opened_totals import Opened

__all__ = ["binomial", "hidden_likelihood", "public_likelihood"]

ROWS = 4096
"""Tasks that are handled at once."""


def binomial(count: int, chances: FloatArray) -> FloatArray:
    """P(x of count) for x = 0 … count, a row each, and every chance, strictly between 0 and 1."""
    x = np.arange(count + 1, dtype=np.float64)[:, np.newaxis]
    ways = gammaln(count + 1) - gammaln(x + 1) - gammaln(count - x + 1)
    return np.asarray(np.exp(ways + x * np.log(chances) + (count - x) * np.log1p(-chances)))


def public_likelihood(
    opened: Opened, answered: npt.NDArray[np.int64], chances: FloatArray
) -> FloatArray:
    """P(total | an answer is the second label with each of these chances), a row for each task.

        L = Σₓ Bin(x; n, chance) P(noise = y - x)

    for a total y of n answers.
    """
    law, totals = opened.laws[0], opened.totals[:, 0]
    found = np.empty((len(totals), len(chances)))
    for count in np.unique(answered):
        counted = binomial(int(count), chances)
        rows = np.flatnonzero(answered == count)
        for part in np.array_split(rows, -(-len(rows) // ROWS)):
            found[part] = law.chances(totals[part, np.newaxis] - np.arange(count + 1)) @ counted
    return found


def hidden_likelihood(opened: Opened, counts: Counts, chances: FloatArray) -> FloatArray:
    """The same where the count is unknown too: d is the second label's lead, c the noisy count.

        L = Σₙ P(n) P(noise = c - n) Σₓ Bin(x; n, chance) P(noise = d - (2x - n))

    where P(n) is what all tasks' counts are like.
    """
    lead, noisy = opened.totals.T
    found = np.zeros((len(lead), len(chances)))
    most = int(counts.values.max())
    leads = opened.laws[0].chances(lead[:, np.newaxis] - np.arange(-most, most + 1))
    for count, chance in zip(counts.values.tolist(), counts.chances.tolist(), strict=True):
        weight = chance * opened.laws[1].chances(noisy - count)
        # Leads of so many answers: from -count to count, every second one.
        likely = leads[:, most - count : most + count + 1 : 2] @ binomial(count, chances)
        found += weight[:, np.newaxis] * likely
    return found
