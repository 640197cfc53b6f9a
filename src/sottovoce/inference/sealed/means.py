"""Numbers from noisy sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sottovoce.inference.sealed.participation import counts_of, used_counts
from sottovoce.model import FloatArray, Provenance, Result
from sottovoce.model.opened_totals import Opened

__all__ = ["SealedMean", "numbers_found"]


@dataclass(frozen=True, slots=True)
class SealedMean:
    """The mean of the answers to each task, with the noise in it, cut to the range.

        truth = low + (high - low)/R · total / n

    Where participation is hidden, the total is of offsets from the centre of the range, and 1/n is
    its expectation given the noisy count and those of all other tasks: a count that may be small
    draws the truth to the centre, and never divides by what is hardly above 0.

    The standard error covers the noise, exactly; the rounding of answers to R steps; and where n is
    hidden, what is not known about 1/n. It does not cover the crowd: how much workers differ from
    each other cannot be seen in a sum. The histogram shows it.
    """

    name: ClassVar[str] = "sealed-mean"
    layout: ClassVar[str] = "sum"

    def fit(self, opened: Opened) -> Result:
        """Means with the standard error of their noise."""
        domain = opened.domain
        step = (domain.high - domain.low) / opened.size
        start = domain.low if opened.answered is not None else (domain.low + domain.high) / 2
        inverse, doubt = _inverse_counts(opened)
        offset = opened.totals[:, 0] * step
        mean = np.clip(start + offset * inverse, domain.low, domain.high)
        noise = step**2 * (opened.variances[0] * np.square(inverse) + inverse / 12)
        error = np.sqrt(noise + np.square(mean - start) * doubt)
        return numbers_found(self.name, opened, mean, error, inverse > 0)


def numbers_found(
    name: str, opened: Opened, truths: FloatArray, error: FloatArray, known: npt.NDArray[np.bool_]
) -> Result:
    """A result; a task of which nothing is known gets the others' mean, and their spread as error.

    Where nothing is known of any task, that is the centre of the range, and the range's spread.
    """
    domain = opened.domain
    if known.any():
        usual = float(truths[known].mean())
        spread = np.sqrt(truths[known].var() + np.square(error[known]).mean())
    else:
        usual, spread = (domain.low + domain.high) / 2, (domain.high - domain.low) / np.sqrt(12)
    return Result(
        opened.tasks, np.array([], dtype=str), domain, np.where(known, truths, usual),
        np.array([]), used_counts(opened), 1, True,
        Provenance(name, simulated=opened.simulated),
        standard_error=np.where(known, error, spread),
    )  # fmt: skip


def _inverse_counts(opened: Opened) -> tuple[FloatArray, FloatArray]:
    """E[1/n] of each task, 0 where n = 0, and the relative variance of 1/n."""
    if opened.answered is not None:
        answered = opened.answered.astype(np.float64)
        inverse = np.divide(1.0, answered, out=np.zeros_like(answered), where=answered > 0)
        return inverse, np.zeros(len(answered))
    counts = counts_of(opened)
    chances = counts.given(opened.totals[:, 1], opened.laws[1])
    # A task that nobody answered has an offset of 0 but for noise: it draws to the centre.
    each = np.divide(1.0, counts.values, out=np.zeros(len(counts.values)), where=counts.values > 0)
    inverse = chances @ each
    spread = chances @ np.square(each) - np.square(inverse)
    relative = np.divide(spread, np.square(inverse), out=np.zeros_like(inverse), where=inverse > 0)
    return inverse, np.maximum(relative, 0.0)
