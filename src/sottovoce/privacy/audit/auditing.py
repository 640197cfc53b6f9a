"""The audit: what samples prove about a mechanism nobody looks into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.privacy.audit.bounding import bounds, check_chances
from sottovoce.privacy.audit.choosing import Event, chosen
from sottovoce.privacy.audit.fitting import views
from sottovoce.privacy.audit.samples import Encoding, Matrix, Stream, check_unsorted, matrix
from sottovoce.privacy.audit.views import Scored

__all__ = ["Audit", "audit", "audit_samples"]

Input = TypeVar("Input")

FEWEST = 16
"""Samples of each input below which nothing can be said."""
AT_ONCE = 1 << 14
"""Samples asked of a mechanism at a time."""
MOST_KEPT, NUMBERS_KEPT = 1 << 20, 1 << 25
"""The most samples of one input, and numbers in them, kept to fit, and again to choose."""


@dataclass(frozen=True, slots=True)
class Audit:
    """P(event | one input) > p_low and P(event | the other) < q_high, so ε ≥ epsilon at delta.

    False with a chance of at most 1 - confidence, if the samples are independent.
    """

    epsilon: float
    delta: float
    confidence: float
    samples: int
    event: str
    direction: str
    p_low: float
    q_high: float

    def exceeds(self, guarantee_epsilon: float) -> bool:
        """Whether this disproves a guarantee of so much at the same delta."""
        return bool(self.epsilon > guarantee_epsilon)

    def __str__(self) -> str:
        delta = f" at delta {self.delta:g}" if self.delta else ""
        return f"epsilon at least {self.epsilon:.4g}{delta} (confidence {self.confidence:.10g})"


def audit_samples(
    first: npt.ArrayLike, second: npt.ArrayLike, *, delta: float = 0.0, confidence: float = 0.95
) -> Audit:
    """What recorded samples prove: one report per row, categories, numbers or vectors of either.

    The samples of each input must be independent and in the order drawn: the first quarter fits
    scores, the second chooses an event, the second half bounds its probabilities.

    >>> import numpy as np
    >>> heads = np.tile([1, 1, 1, 0], 2500)  # stands in for 10,000 draws of P(1) = 3/4
    >>> found = audit_samples(heads, 1 - heads, confidence=0.99)
    >>> print(found, found.exceeds(1.0), found.exceeds(np.log(3)))
    epsilon at least 1.014 (confidence 0.99) True False
    """
    check_chances(delta, confidence)
    ones, others = matrix(first), matrix(second)
    count = min(len(ones), len(others))
    if count < FEWEST:
        raise DataError(f"an audit needs at least {FEWEST} samples of each input, not {count:,}")
    check_unsorted(ones, "first")
    check_unsorted(others, "second")
    return _audit(_recorded(ones), _recorded(others), count, delta, confidence)


def audit(
    sampler: Callable[[Input, int], npt.ArrayLike],
    first: Input,
    second: Input,
    *,
    samples: int = 1_000_000,
    delta: float = 0.0,
    confidence: float = 0.95,
) -> Audit:
    """What so many samples of each of two neighbouring inputs prove about any callable.

    `sampler(input, count)` returns `count` new independent reports, one per row; it is asked for a
    bounded number at a time.

    >>> import numpy as np
    >>> rng = np.random.default_rng(7)
    >>> noisy = lambda answer, count: answer + rng.laplace(0, 1, count)
    >>> 0.9 < audit(noisy, 0.0, 1.0, samples=100_000).epsilon < 1
    True
    """
    check_chances(delta, confidence)
    if samples < FEWEST:
        raise UsageError(f"an audit needs at least {FEWEST} samples of each input, not {samples:,}")

    def pieces(input: Input) -> Iterator[Matrix]:
        for start in range(0, samples, AT_ONCE):
            wanted = min(AT_ONCE, samples - start)
            piece = matrix(sampler(input, wanted))
            if len(piece) != wanted:
                raise UsageError(f"the sampler gave {len(piece):,} reports, not {wanted:,}")
            yield piece

    return _audit(Stream(pieces(first)), Stream(pieces(second)), samples, delta, confidence)


def _recorded(samples: Matrix) -> Stream:
    return Stream(samples[start : start + AT_ONCE] for start in range(0, len(samples), AT_ONCE))


def _audit(first: Stream, second: Stream, count: int, delta: float, confidence: float) -> Audit:
    """The three parts in turn; the event is fixed before the last one is looked at."""
    doubt, streams = 1 - confidence, (first, second)
    if first.width != second.width:
        raise DataError(
            f"reports have {first.width:,} columns under the first input and {second.width:,} "
            "under the second"
        )
    quarter = min(count // 4, MOST_KEPT, max(FEWEST, NUMBERS_KEPT // first.width))
    parts = [stream.take(quarter) for stream in streams]
    encoding = Encoding.fitted(*parts)
    fitted = (Scored(encoding(parts[0])), Scored(encoding(parts[1])))
    others = (Scored(encoding(first.take(quarter))), Scored(encoding(second.take(quarter))))
    candidates = views(*fitted, nominal=encoding.texts is not None)
    event = chosen(candidates, fitted, others, delta=delta, doubt=doubt)
    likely, rare = (
        _counted(stream, event, encoding)
        for stream in (streams if event.first_likelier else streams[::-1])
    )
    found = bounds(*likely, *rare, delta=delta, doubt=doubt)
    return Audit(
        float(found.epsilon), delta, confidence, count, event.words(encoding),
        "first over second" if event.first_likelier else "second over first",
        float(found.p_low), float(found.q_high),
    )  # fmt: skip


def _counted(stream: Stream, event: Event, encoding: Encoding) -> tuple[int, int]:
    """How many of the samples that are left are in the event, and how many there are."""
    inside = total = 0
    for piece in stream.rest():
        inside += event.count(Scored(encoding(piece)))
        total += len(piece)
    return inside, total
