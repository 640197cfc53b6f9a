"""Certainty of truths: which are settled, and the estimated effect of more answers.

The effect is estimated from the answers so far. Further answers spread evenly, x for each task,
over all tasks if a hash assigns them, and over those that are not settled if need does.

**Labels.** Let l be the log-odds of a task's true label against all others. If posteriors are
calibrated, l is close to a random walk with drift D and variance 2D per report: the drift is what a
report says on average, and a log-likelihood ratio that is N(m, s²) under the truth has s² = 2m. The
true label is the top one with probability c, the confidence, and else one of the others, taken as
alike. So the mean of l over a task's posterior is

    m(c) = c logit(c) + (1 - c) logit((1 - c) / (k - 1)),

and with class shares s_j it was Σ_j s_j logit(s_j) before any report: D is the sum of the gains
over the sum of the reports, over all tasks. Reports on a task share errors, so that n of them are
worth n / (1 + 0.05 min(n - 1, 20)) independent ones; x counts the further ones in that unit. A task
is decided after x more reports with probability

    c Φ((logit(c) + D x - L) / √(2 D x)) + (1 - c) Φ((logit((1 - c)/(k - 1)) + D x - L) / √(2 D x))

with L = logit(0.95). **Numbers.** A standard error falls as se² n / (n + x).

The estimate is for tasks that are alike and workers as able as those so far. It is too hopeful
where the open tasks are harder than the others, and where confidences are not calibrated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import logit, ndtr

from sottovoce.inference.noise_aware.hierarchical import MOST_SHARING
from sottovoce.model import Domain, FloatArray, Grid
from sottovoce.server.campaigns.histogram import Bin, binned
from sottovoce.server.database.results import Columns

CONFIDENT = 0.95
"""A label is settled at this confidence or more."""

CLOSE = 0.025
"""A number is settled at this standard error or less, as a share of the range."""


SURE = 1 - 2.0**-53
"""The largest confidence below 1: log-odds stay finite."""

GROUPS = 1000

NOISY_SHARED = 0.05
"""The correlation of two reports' errors on a task: less than that of clean answers (0.12)."""

TOO_MANY = 100
"""Nothing is predicted beyond this many times the current reports."""


@dataclass(frozen=True, slots=True)
class Certainty:
    """How many tasks with reports are settled or open, and their certainty.

    Labels have a confidence and are settled at 0.95 or more; numbers have a standard error and are
    settled at 2.5 % of the range or less.
    """

    kind: str
    threshold: float
    settled: int
    open: int
    histogram: tuple[Bin, ...]


def certainty_of(columns: Columns, domain: Domain) -> Certainty | None:
    """The certainty of a result; None if it has no truths."""
    if not len(columns.place):
        return None
    settled = int(np.count_nonzero(is_decided(columns, domain)))
    finite = columns.certainty[np.isfinite(columns.certainty)]
    high = float(finite.max(initial=threshold_of(domain))) if columns.is_numeric else 1.0
    return Certainty(
        "standard_error" if columns.is_numeric else "confidence",
        threshold_of(domain),
        settled,
        len(columns.place) - settled,
        binned(finite, 0.0, high),
    )


def is_decided(columns: Columns, domain: Domain) -> npt.NDArray[np.bool_]:
    """A mask of the settled truths; those that are not finite are not settled."""
    if columns.is_numeric:
        return np.asarray(columns.certainty <= threshold_of(domain), np.bool_)
    return np.asarray(columns.certainty >= CONFIDENT, np.bool_)


def threshold_of(domain: Domain) -> float:
    """The confidence of a settled label, or the standard error of a settled number."""
    if not domain.is_numeric:
        return CONFIDENT
    grid = Grid.over(domain)
    return CLOSE * float(grid.high - grid.low)


@dataclass(frozen=True, slots=True)
class Further:
    """An estimate: how many more answers, of how many workers, settle how many open tasks."""

    answers: int
    workers: int
    settles: int
    open: int

    @property
    def words(self) -> str:
        """The estimate as a sentence."""
        workers = f"{self.workers:,} worker{'s' if self.workers != 1 else ''}"
        answers = f"{self.answers:,} more answer{'s' if self.answers != 1 else ''}"
        tasks = f"open task{'s' if self.open != 1 else ''}"
        return (
            f"About {answers} ({workers}) would settle {self.settles:,} of {self.open:,} {tasks}."
        )


def further_of(
    columns: Columns,
    domain: Domain,
    tasks: int,
    known: Collection[int] = (),
    *,
    by_need: bool = False,
) -> Further | None:
    """The fewest further answers that settle half of the open tasks; None if unknown.

    It is unknown if nothing is inferred, everything is settled, reports carry no information so
    far, or more than 100 times the current reports would be needed. Tasks at the `known` places
    have given truths: their confidence does not show what a report says. `by_need` means that
    settled tasks are not asked.
    """
    reports, workers = int(columns.answers.sum()), len(columns.worker_reports)
    open = ~is_decided(columns, domain)
    count = int(np.count_nonzero(open))
    if not count or not workers:
        return None
    asked = tasks - (len(open) - count) * by_need
    most = TOO_MANY * reports / asked
    wanted = math.ceil(count / 2)
    each = (
        _more_numbers(columns, open, threshold_of(domain), wanted)
        if columns.is_numeric
        else _more_labels(columns, open, domain.size, wanted, most, known)
    )
    if each is None or not 0 < each <= most:
        return None
    answers = _about(each * asked)
    return Further(answers, math.ceil(answers * workers / reports), wanted, count)


def _about(number: float) -> int:
    """Round up to two digits, the precision of the estimate.

    >>> _about(186_061.3), _about(7.2)
    (190000, 8)
    """
    unit = int(10 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / unit) * unit


def _more_numbers(
    columns: Columns, open: npt.NDArray[np.bool_], threshold: float, wanted: int
) -> float | None:
    """n (se² / threshold² - 1) more for each task; `wanted` tasks need no more than this."""
    with np.errstate(over="ignore"):
        needed = columns.answers[open] * ((columns.certainty[open] / threshold) ** 2 - 1)
    finite = np.sort(needed[np.isfinite(needed)])
    return float(finite[wanted - 1]) if len(finite) >= wanted else None


def _more_labels(
    columns: Columns,
    open: npt.NDArray[np.bool_],
    labels: int,
    wanted: int,
    most: float,
    known: Collection[int],
) -> float | None:
    drift = _drift(columns, labels, ~np.isin(columns.place, list(known)))
    if drift is None:
        return None
    confidence, tasks = _grouped(columns.certainty[open])

    so_far = float(columns.answers.sum()) / max(len(columns.answers), 1)

    def settles(each: float) -> float:
        more = _independent(so_far + each) / _independent(so_far) - 1
        return float(tasks @ _chance(confidence, labels, drift * so_far * more))

    return _smallest(settles, wanted, most)


def _independent(answers: float) -> float:
    """How many independent answers are worth as much, since answers to a task share errors.

    >>> round(_independent(1.0), 3), round(_independent(10.0), 1)
    (1.0, 6.9)
    """
    return answers / (1 + min(max(answers - 1, 0.0), MOST_SHARING) * NOISY_SHARED)


def _drift(columns: Columns, labels: int, inferred: npt.NDArray[np.bool_]) -> float | None:
    """The mean gain in the log-odds of a true label per report, over reports on inferred tasks."""
    seen = inferred & np.isfinite(columns.certainty)
    reports = float(columns.answers[seen].sum())
    counts = np.bincount(columns.truth[seen], minlength=labels) + 1.0
    shares = counts / counts.sum()
    before = float(shares @ logit(shares))
    gains = float((_mean_log_odds(columns.certainty[seen], labels) - before).sum())
    return gains / reports if reports > 0 and gains > 0 else None


def _mean_log_odds(confidence: FloatArray, labels: int) -> FloatArray:
    """m(c): the log-odds of the true label, averaged over a task's posterior."""
    top, other = _log_odds(confidence, labels)
    mean: FloatArray = confidence * top + (1 - confidence) * other
    return mean


def _log_odds(confidence: FloatArray, labels: int) -> tuple[FloatArray, FloatArray]:
    """The log-odds of the top label, and of any other."""
    held = np.clip(confidence, 1 / labels, SURE)
    return logit(held), logit((1 - held) / (labels - 1))


def _grouped(confidence: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Confidences rounded to a thousandth, with the number of tasks at each."""
    held = np.where(np.isfinite(confidence), confidence, 0.0)
    counts = np.bincount((GROUPS * held).astype(np.int64), minlength=GROUPS)
    present = np.flatnonzero(counts)
    return (present + 0.5) / GROUPS, counts[present].astype(np.float64)


def _chance(confidence: FloatArray, labels: int, gain: float) -> FloatArray:
    """The probability that a task is settled after its true label's log-odds have risen."""
    top, other = _log_odds(confidence, labels)
    spread, limit = math.sqrt(2 * gain), float(logit(CONFIDENT))
    likely: FloatArray = confidence * ndtr((top + gain - limit) / spread)
    return likely + (1 - confidence) * ndtr((other + gain - limit) / spread)


def _smallest(settles: Callable[[float], float], wanted: int, most: float) -> float | None:
    """The smallest number of reports for each task that settles as many as wanted."""
    if settles(most) < wanted:
        return None
    low, high = 0.0, most
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if settles(middle) >= wanted else (middle, high)
    return high
