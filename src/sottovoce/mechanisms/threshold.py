"""Threshold questions: whether a number is below a public threshold.

Every cell has one threshold, derived from names; windows narrow the thresholds down.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sottovoce.errors import UsageError
from sottovoce.mechanisms.codes import report_cells
from sottovoce.mechanisms.evidence import answer_points, coded, plain_numbers
from sottovoce.mechanisms.laws.symmetric_channel import Keeping
from sottovoce.mechanisms.odds import side_odds
from sottovoce.mechanisms.papers import P1
from sottovoce.mechanisms.validation import (
    NUMBERS,
    check_answers,
    check_integer,
    check_steps,
    check_weight,
    check_within,
    codes_within,
    grid_of,
    has_grid,
    integer,
    mechanism_fields,
    word_weight,
)
from sottovoce.model import (
    NULL,
    WORDS,
    Alphabet,
    Candidate,
    Cells,
    Citation,
    Claim,
    Codes,
    Domain,
    Evidence,
    FiniteChannel,
    FloatArray,
    Guarantee,
    Kind,
    Listing,
    Names,
    Odds,
    PointChannel,
    Private,
    Promise,
    ReportCodes,
    Reports,
    Unit,
    UnitName,
)
from sottovoce.seams import Randomness

BLOCK = 1 << 22
"""The number of entries of the posterior that are held at once."""


@dataclass(frozen=True, slots=True)
class Windows:
    """For some tasks, the range of thresholds to ask about: (task, first, last), sorted by task.

    Tasks without one use all thresholds 1, …, steps.

    >>> Windows.of({"t2": (3, 5), "t1": (1, 2)}, 9).entries
    (('t1', 1, 2), ('t2', 3, 5))
    """

    entries: tuple[tuple[str, int, int], ...] = ()

    @classmethod
    def of(cls, windows: Any, steps: int) -> Self:
        """Windows from a mapping of tasks to (first, last), with 1 ≤ first ≤ last ≤ steps."""
        if not isinstance(windows, Mapping):
            raise UsageError("windows must map tasks to their first and last threshold")
        entries = []
        for task, window in windows.items():
            if not isinstance(window, list | tuple) or len(window) != 2:
                raise UsageError(
                    f"the window of task {task!r} must be a first and a last threshold"
                )
            first, last = window
            check_integer(f"the last threshold of task {task!r}", last, 1, steps)
            check_integer(f"the first threshold of task {task!r}", first, 1, last)
            entries.append((str(task), first, last))
        return cls(tuple(sorted(entries)))

    def __bool__(self) -> bool:
        return bool(self.entries)

    def as_json(self) -> dict[str, list[int]]:
        """The windows as a mapping."""
        return {task: [first, last] for task, first, last in self.entries}

    def bounds(self, tasks: Names, steps: int) -> tuple[npt.NDArray[np.int64], ...]:
        """First and last threshold of every task of a vocabulary."""
        known = {task: (first, last) for task, first, last in self.entries}
        pairs = [known.get(str(task), (1, steps)) for task in tasks.tolist()]
        first, last = np.array(pairs, np.int64).reshape(-1, 2).T
        return first, last


def thresholds_of(cells: Cells, salt: str, windows: Windows, steps: int) -> Codes:
    """The threshold of each cell, in its task's window.

        x = the first 6 bytes of SHA-256(‖salt‖ ‖worker‖ ‖task‖) as a big-endian integer,
        threshold = first + ⌊x (last - first + 1) / 2⁴⁸⌋

    where ‖text‖ is the length of the text's UTF-8 bytes, as a 4-byte big-endian integer, and then
    the bytes. A name that is a number is the text of its digits. Each threshold of a window of n
    has probability 1/n up to 2⁻⁴⁸.
    """
    lead = _framed(salt)
    workers = [lead + _framed(str(name)) for name in cells.workers.tolist()]
    tasks = [_framed(str(name)) for name in cells.tasks.tolist()]
    rows = zip(cells.worker.tolist(), cells.task.tolist(), strict=True)
    digests = b"".join([sha256(workers[w] + tasks[t]).digest()[:8] for w, t in rows])
    drawn = np.frombuffer(digests, ">u8").astype(np.uint64) >> np.uint64(16)
    first, last = windows.bounds(cells.tasks, steps)
    # 48 bits times at most 2¹⁶ thresholds: the product fits into a word.
    width = (last - first + 1)[cells.task].astype(np.uint64)
    shift = (drawn * width >> np.uint64(48)).astype(np.int64)
    return (first[cells.task] + shift).astype(np.int32)


def _framed(text: str) -> bytes:
    data = text.encode("utf-8")
    return len(data).to_bytes(4, "big") + data


def posterior_windows(
    cells: Cells, thresholds: Codes, gains: FloatArray, steps: int, mass: float, margin: int
) -> Windows:
    """The thresholds around the middle `mass` of each task's posterior, plus `margin`.

    `gains` has ln P(report | not below) - ln P(report | below) for each row. If all workers share
    one answer, with a uniform prior over the points,

        ln P(point t | reports of a task) = Σ over its rows with threshold ≤ t of gains + constant.
    """
    order = np.argsort(cells.task, kind="stable")
    starts = np.searchsorted(cells.task[order], np.arange(len(cells.tasks) + 1))
    size = max(BLOCK // (steps + 1), 1)
    entries: list[tuple[str, int, int]] = []
    for begin in range(0, len(cells.tasks), size):
        end = min(begin + size, len(cells.tasks))
        rows = order[starts[begin] : starts[end]]
        place = (cells.task[rows].astype(np.int64) - begin) * (steps + 1) + thresholds[rows]
        sums = np.bincount(place, gains[rows], (end - begin) * (steps + 1)).astype(np.float64)
        first, last = _middle(sums.reshape(-1, steps + 1), mass)
        low, high = np.maximum(first + 1 - margin, 1), np.minimum(last + margin, steps)
        names = map(str, cells.tasks[begin:end].tolist())
        entries += zip(names, low.tolist(), high.tolist(), strict=True)
    return Windows(tuple(sorted(entries)))


def _middle(sums: FloatArray, mass: float) -> tuple[npt.NDArray[np.int64], ...]:
    """The points between which the middle `mass` of each row's posterior lies."""
    logs = np.cumsum(sums, axis=1)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    upto = np.cumsum(chances, axis=1)
    tail = upto[:, -1:] * ((1 - mass) / 2)
    return np.sum(upto <= tail, axis=1), np.sum(upto < upto[:, -1:] - tail, axis=1)


NULL_SYMBOL = 2

GROUPS = 64
"""The number of groups of thresholds in inference."""

SMALL_EPSILON = 1.0
"""Up to here a planner also tries the coin, because a third symbol may cost more than it tells."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """Randomised response to "is it below h?", with a public threshold h for every cell.

        side = 0 if answer < h, else 1;   P(report = side) = 1 - (symbols - 1) other / 2⁶⁴,
        P(report = any other symbol) = other / 2⁶⁴

    h is 1, …, steps, derived from names and `salt` as in `thresholds_of`. With `null` participation
    is private: NULL is a third symbol, or with `coin` a fair coin's side under two symbols, whose
    law is a mixture of theirs. h depends on no answer and leaves answers on both sides, so the
    guarantee is exactly that of randomised response, and k ε per worker.

    **Adaptive**: `moved` gives the mechanism for the next batch of workers with thresholds in
    windows. ε per answer is kept: each cell is reported once, through this channel at ε, at a
    threshold that depends on earlier reports of *other* workers only. Given those, the cell's
    report is ε-private; everything later is a function of reports.

    >>> question = Threshold.calibrated(Domain.numeric(0, 10, step=0.1), 1.0)
    >>> question.alphabet.value, round(question.guarantee(4, Unit.WORKER).epsilon, 6)
    ('sides', 4.0)
    """

    steps: int
    other: int
    null: bool = False
    coin: bool = False
    salt: str = ""
    windows: Windows = field(default_factory=Windows)

    name: ClassVar[str] = "threshold"
    takes: ClassVar[frozenset[Kind]] = NUMBERS
    citation: ClassVar[Citation] = Citation(
        "randomised response to whether the answer lies below a public threshold", *P1
    )
    hiding: ClassVar[Mapping[str, Any] | None] = {"null": True}
    whole: ClassVar[bool] = False
    sound_as_published: ClassVar[bool] = False
    listing: ClassVar[Listing | None] = Listing(
        6,
        "Threshold: above or below a random mark",
        counts="how many of 100 workers send the true side",
    )
    in_browser: ClassVar[bool] = True
    is_plain: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_steps(self.steps)
        for name, value in (("null", self.null), ("coin", self.coin)):
            if not isinstance(value, bool):
                raise UsageError(f"{name} must be true or false, not {value!r}")
        if self.coin and not self.null:
            raise UsageError("coin sets how NULL is reported: it needs null")
        if not isinstance(self.salt, str):
            raise UsageError(f"salt must be a text, not {self.salt!r}")
        check_weight("other", self.other, WORDS // self.symbols - 1)
        Windows.of(self.windows.as_json(), self.steps)

    @classmethod
    def calibrated(
        cls,
        domain: Domain,
        epsilon: float,
        *,
        unit: UnitName = Unit.ANSWER,
        delta: float = 0.0,
        answers: int = 1,
        null: bool = False,
        coin: bool = False,
        salt: str = "",
    ) -> Self:
        """The smallest weight of a wrong symbol whose exact guarantee is within the target."""
        steps = grid_of(domain, cls.name).steps
        symbols = 3 if null and not coin else 2
        law = Keeping.calibrated(symbols, epsilon, unit=unit, delta=delta, answers=answers)
        return cls(steps, law.other, null, coin, salt)

    def moved(self, windows: Mapping[str, tuple[int, int]] | Windows) -> Self:
        """The mechanism for the next batch of workers, who must not have reported these tasks."""
        if not isinstance(windows, Windows):
            windows = Windows.of(windows, self.steps)
        return replace(self, windows=windows)

    @property
    def symbols(self) -> int:
        """Two sides, and NULL if it is a symbol."""
        return 3 if self.null and not self.coin else 2

    @property
    def _law(self) -> Keeping:
        return Keeping(self.symbols, self.other)

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet.SIDES if self.symbols == 2 else Alphabet.SIDES_OR_NULL

    @property
    def hides_participation(self) -> bool:
        return self.null

    def draw(self, workers: int, randomness: Randomness) -> None:
        return None

    def thresholds(self, cells: Cells) -> Codes:
        """The public threshold of each row, of answers or of reports."""
        return thresholds_of(cells, self.salt, self.windows, self.steps)

    def perturb(self, cells: Cells, private: Private | None, randomness: Randomness) -> Cells:
        codes = check_answers(cells, self.steps + 1, null=self.null)
        sides = (codes >= self.thresholds(cells)).astype(np.int32)
        missing = np.flatnonzero(codes == NULL)
        if self.coin:
            sides[missing] = (randomness.words(len(missing)) & np.uint64(1)).astype(np.int32)
        else:
            sides[missing] = NULL_SYMBOL
        return cells.reporting(self._law.sample(sides, randomness))

    def channel(self) -> FiniteChannel:
        """The law of the symbol given the side of the answer: 0 below, 1 not below, then NULL."""
        law = replace(self._law.channel(), null=self.null)
        if self.coin:
            return replace(law, weights=(*law.weights, (WORDS // 2, WORDS // 2)))
        return law

    def log_likelihood(self, reports: npt.ArrayLike, answers: npt.ArrayLike) -> FloatArray:
        """ln P(report | side), where answers are sides: 0 below, 1 not below, or NULL."""
        report = check_within("report", reports, 0, self.symbols - 1)
        side = check_within("side", answers, NULL if self.null else 0, 1)
        if self.coin:
            return np.where(side == NULL, -math.log(2), self._law.log_likelihood(report, side))
        return self._law.log_likelihood(report, np.where(side == NULL, NULL_SYMBOL, side))

    def log_likelihood_at(
        self, reports: npt.ArrayLike, answers: npt.ArrayLike, thresholds: npt.ArrayLike
    ) -> FloatArray:
        """ln P(report | answer) at public thresholds; the three are broadcast."""
        answer = check_within("answer", answers, NULL if self.null else 0, self.steps)
        above = (answer >= np.asarray(thresholds)).astype(np.int64)
        return self.log_likelihood(reports, np.where(answer == NULL, NULL, above))

    def unbiased(self, reports: npt.ArrayLike, thresholds: npt.ArrayLike) -> FloatArray:
        """Codes whose mean over thresholds and noise is the answer's code; NULL's is steps / 2.

        A uniform threshold is at most i with probability i / steps, so with b the debiased report
        and m the middle point, E[m + steps (b - [h ≤ m])] = m + i - m. If NULL is a symbol, a NULL
        report is NaN, and the others are unbiased for answered cells; unanswered ones pull towards
        the middle.
        """
        if self.windows:
            raise UsageError("a plain mean needs thresholds over the whole range, not windows")
        report = check_within("report", reports, 0, self.symbols - 1)
        wrong = self.other / (self._law.keep + self.other)
        freed = (np.where(report == NULL_SYMBOL, np.nan, report) - wrong) / (1 - 2 * wrong)
        middle = self.steps // 2
        centred = freed - (np.asarray(thresholds) <= middle).astype(np.float64)
        return np.asarray(middle + self.steps * centred, np.float64)

    @property
    def is_separable(self) -> bool:
        return not self.hides_participation

    @classmethod
    def candidates(cls, domain: Domain, promise: Promise, *, hidden: bool) -> Sequence[Candidate]:
        if not has_grid(domain):
            return ()
        coin = hidden and promise.epsilon <= SMALL_EPSILON
        return (Candidate(6), *([Candidate(7, "coin", {"coin": True})] if coin else []))

    def admits(self, codes: ReportCodes) -> npt.NDArray[np.bool_]:
        return codes_within(codes, 0, self.symbols - 1)

    def evidence(self, reports: Reports, domain: Domain, *, as_numbers: bool = False) -> Evidence:
        """A symbol is a side, or NULL, with the group of its threshold."""
        cells = report_cells(reports, self.alphabet, domain)
        groups = _groups(self.steps)[self.thresholds(cells) - 1] * self.symbols
        return coded(reports, groups + cells.code.astype(np.int64), _group_channel(self, domain))

    def plain(self, reports: Reports, domain: Domain) -> Reports:
        """Each side becomes the number whose mean over reports is the answer."""
        cells = report_cells(reports, self.alphabet, domain)
        return plain_numbers(reports, self.unbiased(cells.code, self.thresholds(cells)), domain)

    def odds(self) -> Odds:
        return side_odds(self, "whose answer is on the same side of a random threshold", "side")

    def guarantee(self, answers: int, unit: UnitName, delta: float = 0.0) -> Guarantee:
        return self._law.guarantee(answers, unit, delta)

    def delta(self, epsilon: float, answers: int, unit: UnitName) -> float:
        return self._law.delta(epsilon, answers, unit)

    def claim(self, epsilon: float | None = None) -> Claim | None:
        return None

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "steps": self.steps,
            "other": str(self.other),
            "null": self.null,
            "coin": self.coin,
            "salt": self.salt,
            "windows": self.windows.as_json(),
        }

    @classmethod
    def of_json(cls, document: Any) -> Self:
        known = {"steps", "other", "null", "coin", "salt", "windows"}
        fields = mechanism_fields(document, cls.name, known)
        steps = integer(fields, "steps")
        check_steps(steps)
        return cls(
            steps,
            word_weight(fields, "other"),
            fields["null"],
            fields["coin"],
            fields["salt"],
            Windows.of(fields["windows"], steps),
        )


def _groups(steps: int) -> npt.NDArray[np.int64]:
    """The group of each threshold 1, …, steps."""
    return np.arange(steps) * min(steps, GROUPS) // steps


@lru_cache(maxsize=8)
def _group_channel(mechanism: Threshold, domain: Domain) -> PointChannel:
    """The law of a side and its group: exact, because its thresholds are equally likely."""
    # Cached, because a simulation has the same channel in every trial.
    codes, points = answer_points(domain)
    groups = min(mechanism.steps, GROUPS)
    begin = np.searchsorted(_groups(mechanism.steps), np.arange(groups + 1))
    # The share of each group's thresholds that an answer is not below: it reaches 1, …, code.
    share = np.clip(codes[:, None] - begin[:-1], 0, np.diff(begin)) / np.diff(begin)
    law = mechanism.channel().matrix()
    above = share[:, :, None]
    likelihood = (1 - above) * law[0] + above * law[1]
    if mechanism.null:
        unanswered = np.broadcast_to(law[-1], (1, groups, mechanism.symbols))
        likelihood = np.concatenate([likelihood, unanswered])
    # The choice of thresholds depends on no answer: its probability only scales the law.
    likelihood = likelihood * (np.diff(begin) / mechanism.steps)[:, None]
    return PointChannel(
        points, likelihood.reshape(len(likelihood), -1), mechanism.hides_participation
    )


def next_windows(
    mechanism: Threshold,
    reports: Cells,
    thresholds: Codes | None = None,
    *,
    mass: float = 0.9,
    margin: int | None = None,
) -> Windows:
    """The thresholds to ask about next for every task, from the reports so far.

    `thresholds` are those under which the reports were made, batch by batch; by default the
    mechanism's. The posterior assumes one answer for all workers of a task, so it is narrower than
    theirs: `margin`, by default a twentieth of the range, widens the window on both sides. Windows
    depend on reports alone, so they may be published.

    >>> cells = Cells(*(np.zeros(3, np.int32),) * 2, np.ones(3, np.int32), *[np.array(["a"])] * 2)
    >>> likely_low = Threshold(9, WORDS // 100)
    >>> next_windows(likely_low, cells, np.array([5, 6, 7], np.int32), margin=1).entries
    (('a', 7, 9),)
    """
    if not 0 < mass < 1:
        raise UsageError(f"mass must be above 0 and below 1, not {mass:g}")
    margin = max(mechanism.steps // 20, 1) if margin is None else margin
    if margin < 1:
        raise UsageError(f"margin must be at least 1, not {margin}")
    codes = reports.code
    gains = mechanism.log_likelihood(codes, np.int32(1)) - mechanism.log_likelihood(
        codes, np.int32(0)
    )
    used = mechanism.thresholds(reports) if thresholds is None else thresholds
    return posterior_windows(reports, used, gains, mechanism.steps, mass, margin)
