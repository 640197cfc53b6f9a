"""The audit: an empirical lower bound on epsilon for a black-box mechanism.

It uses the event that distinguishes two laws best, chosen by samples that do not bound it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sottovoce.errors import DataError, UsageError
from sottovoce.model.display import Display, Displayed
from sottovoce.privacy.audit.confidence_bounds import bounds, check_chances, log_ratios
from sottovoce.privacy.audit.samples import Encoding, Matrix, Stream, check_unsorted, matrix
from sottovoce.privacy.audit.views import Scored, View, views

Counts = npt.NDArray[np.int64]

CUTS = 128
"""Events tried in each order of a view's cells."""
PLAINER = 1.01
"""The gain that an event needs to be preferred to a simpler one."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A set of cells of a view that is likelier under one of the two inputs."""

    view: View
    cells: npt.NDArray[np.intp]
    first_likelier: bool

    def count(self, reports: Scored) -> int:
        """The number of these reports in it."""
        inside = np.zeros(len(self.view), np.bool_)
        inside[self.cells] = True
        return int(np.count_nonzero(inside[self.view(reports)]))

    def words(self, encoding: Encoding) -> str:
        """The event in words."""
        return self.view.event(self.cells, encoding)


def best_event(
    candidates: Sequence[View],
    fitted: tuple[Scored, Scored],
    others: tuple[Scored, Scored],
    *,
    delta: float,
    doubt: float,
) -> Event:
    """The event with the best bound on samples that did not shape it; ties go to the simplest.

    With this many events, a rare one would win by luck: the failure probability is divided.
    """
    best, found = -1.0, None
    doubt /= CUTS * len(candidates)
    for view in candidates:
        shaping = [_counts(view, reports) for reports in fitted]
        counts = [_counts(view, reports) for reports in others]
        for one, other in ((0, 1), (1, 0)):
            for order in _orders(shaping[one], shaping[other], view.ordered):
                cuts = np.unique(np.geomspace(1, len(order), CUTS).astype(np.intp))
                likely, rare = (np.cumsum(counts[i][order])[cuts - 1] for i in (one, other))
                epsilon = bounds(
                    likely, len(others[one]), rare, len(others[other]), delta=delta, doubt=doubt
                ).epsilon
                top = int(np.argmax(epsilon))
                if epsilon[top] > best * PLAINER:
                    best, found = float(epsilon[top]), Event(view, order[: cuts[top]], one == 0)
    if found is None:
        raise ValueError("there is no view to choose from")
    return found


def _orders(likely: Counts, rare: Counts, ordered: bool) -> list[npt.NDArray[np.intp]]:
    """The cells in the orders in which events include them.

    From either end if there is one, and by P / Q: these are the level sets {P / Q ≥ t}. The
    standard error is subtracted from the estimated ratio, so that a rare cell is not first by luck.
    """
    ratio, error = log_ratios(likely, rare)
    ends = [np.arange(len(likely)), np.arange(len(likely))[::-1]] if ordered else []
    return [*ends, np.argsort(error - ratio, kind="stable")]


def _counts(view: View, reports: Scored) -> Counts:
    return np.bincount(view(reports), minlength=len(view))


Input = TypeVar("Input")

FEWEST = 16
"""With fewer samples of each input nothing can be concluded."""
AT_ONCE = 1 << 14
"""Samples requested from a mechanism at a time."""
MOST_KEPT, NUMBERS_KEPT = 1 << 20, 1 << 25
"""The most samples of one input, and numbers in them, kept to fit, and again to choose."""


@dataclass(frozen=True, slots=True)
class Audit(Displayed):
    """P(event | one input) > p_low and P(event | the other) < q_high, so ε ≥ epsilon at delta.

    False with probability at most 1 - confidence, if the samples are independent.
    """

    epsilon: float
    delta: float
    confidence: float
    samples: int
    event: str
    direction: str
    p_low: float
    q_high: float

    def _display(self) -> Display:
        facts = (
            ("samples", f"{self.samples:,} of each input"),
            ("event", self.event),
            ("direction", self.direction),
            ("P(event), one input", f"at least {self.p_low:.4g}"),
            ("P(event), other input", f"at most {self.q_high:.4g}"),
        )
        return Display(f"Audit: {self}", facts)

    def exceeds(self, guarantee_epsilon: float) -> bool:
        """Whether this disproves a guarantee of that epsilon at the same delta."""
        return bool(self.epsilon > guarantee_epsilon)

    def __str__(self) -> str:
        delta = f" at delta {self.delta:g}" if self.delta else ""
        return f"epsilon at least {self.epsilon:.4g}{delta} (confidence {self.confidence:.10g})"


def audit_samples(
    first: npt.ArrayLike, second: npt.ArrayLike, *, delta: float = 0.0, confidence: float = 0.95
) -> Audit:
    """The bound from recorded samples: categories, numbers or vectors of either, one per row.

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
    """The bound from `samples` samples of each of two neighbouring inputs of any callable.

    `sampler(input, count)` returns `count` new independent reports, one per row; it is called for a
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


def audit_pairs(
    sampler: Callable[[Input, int], npt.ArrayLike],
    pairs: Sequence[tuple[Input, Input]],
    *,
    samples: int,
    delta: float,
    confidence: float,
) -> Audit:
    """The best lower bound over some pairs of inputs, with `samples` samples of each.

    The failure probability is divided among the pairs, so the confidence holds for all together.
    """
    each = 1 - (1 - confidence) / len(pairs)
    found = [
        audit(sampler, one, other, samples=samples, delta=delta, confidence=each)
        for one, other in pairs
    ]
    return replace(max(found, key=lambda one: one.epsilon), confidence=confidence)


def _recorded(samples: Matrix) -> Stream:
    return Stream(samples[start : start + AT_ONCE] for start in range(0, len(samples), AT_ONCE))


def _audit(first: Stream, second: Stream, count: int, delta: float, confidence: float) -> Audit:
    """The three parts in turn; the event is fixed before the last part is used."""
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
    event = best_event(candidates, fitted, others, delta=delta, doubt=doubt)
    likely, rare = (
        _counted(stream, event, encoding)
        for stream in (streams if event.first_likelier else streams[::-1])
    )
    found = bounds(*likely, *rare, delta=delta, doubt=doubt)
    return Audit(
        float(found.epsilon),
        delta,
        confidence,
        count,
        event.words(encoding),
        "first over second" if event.first_likelier else "second over first",
        float(found.p_low),
        float(found.q_high),
    )


def _counted(stream: Stream, event: Event, encoding: Encoding) -> tuple[int, int]:
    """How many of the remaining samples are in the event, and their number."""
    inside = total = 0
    for piece in stream.rest():
        inside += event.count(Scored(encoding(piece)))
        total += len(piece)
    return inside, total
