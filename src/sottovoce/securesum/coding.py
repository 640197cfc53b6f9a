"""From answers to the codes of ballots: a label's place, or a number's step or bin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError
from sottovoce.mechanisms.codes import answer_codes
from sottovoce.mechanisms.sealed_sum import Layout
from sottovoce.model import NULL, Domain, FloatArray, Label
from sottovoce.securesum.ballot import Ballot

__all__ = ["ballot_codes", "number_codes"]


def ballot_codes(
    values: Sequence[Label | None], domain: Domain, ballot: Ballot
) -> npt.NDArray[np.int64]:
    """Answers as codes of ballots; None is NULL. Errors quote no answer.

    >>> ballot = Ballot(Layout.SUM, 4, hidden=True)
    >>> ballot_codes([0, 2.5, 10, None], Domain.numeric(0, 10), ballot).tolist()
    [0, 1, 4, -1]
    """
    if ballot.layout is Layout.VOTES:
        return answer_codes(values, domain).astype(np.int64)
    codes = np.full(len(values), NULL, np.int64)
    given = np.array([value is not None for value in values], bool)
    codes[given] = number_codes(_numbers(values), domain, ballot)
    return codes


def number_codes(numbers: FloatArray, domain: Domain, ballot: Ballot) -> npt.NDArray[np.int64]:
    """Numbers as steps of the range, half to even, or as bins, of which the last has its end.

        sum        round((x - low) R / (high - low))
        histogram  min(bins - 1, ⌊(x - low) bins / (high - low)⌋)

    In floats and in this order, as browsers compute it.
    """
    if not ((numbers >= domain.low) & (numbers <= domain.high)).all():
        raise DataError(f"an answer is no number from {domain.low:g} to {domain.high:g}")
    places = (numbers - domain.low) * ballot.size / (domain.high - domain.low)
    if ballot.layout is Layout.SUM:
        return np.rint(places).astype(np.int64)
    return np.minimum(np.floor(places), ballot.size - 1).astype(np.int64)


def _numbers(values: Sequence[Label | None]) -> FloatArray:
    try:
        return np.array([float(value) for value in values if value is not None], np.float64)
    except ValueError:
        raise DataError("an answer is not a number, and the policy asks for numbers") from None
