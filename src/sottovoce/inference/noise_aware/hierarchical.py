"""Confusion matrices that shrink towards the crowd's, and tasks torn between two labels.

An answer is read through its channel; a clean answer passes through the identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sottovoce.inference.steps.arithmetic import steady
from sottovoce.inference.steps.confusions import Confusions, ConfusionSums, Posteriors
from sottovoce.inference.steps.label_sets import Sets
from sottovoce.inference.steps.votes import LabelCounts
from sottovoce.model import Codes, FloatArray
from sottovoce.seams import Engine

SHRINKAGE, SPREAD = 5.0, 0.5
"""The number of a worker's answers to one label that the crowd's confusion counts as.

It is learnt: its logarithm has this spread around log 5 before any report."""
FEWEST, MOST = 2.0, 60.0
"""The bounds of that number."""
MOST_ROWS = 50.0
"""Rows of workers' counts beyond this number show no more of how far workers differ."""
NEAR = 0.1
"""The distance, in the logarithm of a strength, at which slopes are compared."""
COIN = 20.0
"""The number of a worker's answers that the crowd's accuracy counts as."""
POOLED = 50.0
"""The number of answers to one label that the first guess of the crowd's confusion counts as."""
EVEN = 0.05
"""The first shares of labels count as this part of the tasks.

They count as more if tasks have few reports: with one each, nothing shows the shares."""
IF_NOISY = 0.3
"""First guesses of shares and torn pairs count as (1/κ² − 1) times this part of the tasks more."""
BIAS = 0.14
"""How far the crowd's habits move a label's share of answers: smaller deviations are not skew."""
TYPICAL = 0.05
"""The crowd's accuracy, above half-way from chance to certainty, before any report."""
TORN, TORN_TASKS = 0.15, 20.0
"""The part of label pairs, drawn by their shares, that tear a task: a first guess.

It is learnt, and the guess counts as this number of tasks, and as more if reports are noisy."""
MOST_TORN = 0.9
MOST_FARTHER, LONGEST = 5.0, 1.4
"""Steps of EM are made at most this many times longer, and no longer than this in the logarithm."""
SHARED, SHARED_IF_TORN = 0.16, 0.7
"""The least correlation of two workers' errors on a task, which answers alone do not show.

Torn tasks show more of it: as much as the second number, if all tasks are torn."""
MOST_SHARING = 20.0
"""Answers beyond this number per task share no more errors than these do."""
MOST_TORN_CELLS = 20_000_000
"""Above this size of the table of likelihoods, tasks are not torn."""


class Law(NamedTuple):
    """The channel of labels: `law[answer, symbol]`, the labels that symbols name, and `kept`.

    `kept` is P(a symbol names the answer) − P(it names a certain other label), and `other` the
    second of them.
    """

    law: FloatArray
    named: Sets
    kept: float
    other: float


def channel_law(matrix: FloatArray, named: Sets, labels: int) -> Law:
    """The law of symbols given answers, from likelihoods up to a factor."""
    law = matrix / matrix.sum(axis=1, keepdims=True)
    symbol = np.repeat(np.arange(law.shape[1]), np.diff(named.starts))
    holds = np.stack([np.bincount(named.members, row[symbol], labels) for row in law[:labels]])
    right = float(np.trace(holds)) / labels
    other = (float(holds.sum()) / labels - right) / max(labels - 1, 1)
    return Law(law, named, right - other, other)


class Priors(NamedTuple):
    """Learnt numbers of the priors: strengths of the crowd's confusion and accuracy, torn pairs.

    Strengths are those of clean answers: noise divides them by κ².
    """

    strength: float = SHRINKAGE
    coin: float = COIN
    torn: float = TORN


class Start(NamedTuple):
    """The parameters with which the rounds begin."""

    confusions: FloatArray
    crowd: FloatArray
    shares: FloatArray
    priors: Priors


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """A fitted model: `confusions[worker, truth, answer]` are means, `shares` those of truths.

    `origins[kind, truth]` are the kinds of tasks: one clear kind for each label, then one for each
    pair of labels that a task can be torn between. `first` are the shares before the rounds.
    Likelihoods are tempered by `evidence`, and posteriors by `belief`.
    """

    confusions: FloatArray
    crowd: FloatArray
    shares: FloatArray
    first: FloatArray
    origins: FloatArray
    priors: Priors
    evidence: float
    belief: float
    rounds: int
    converged: bool

    def posterior(self, engine: Engine, law: FloatArray, known: Codes | None) -> FloatArray:
        """The probability of every label for every task."""
        kinds = kind_shares(self.shares, self.origins, self.priors.torn)
        table = _table(self.confusions, law, self.origins) ** self.evidence
        found = engine.map(Posteriors(table, kinds, known)) @ self.origins
        tempered = np.maximum(found, 1e-300) ** self.belief
        return np.asarray(tempered / tempered.sum(axis=1, keepdims=True))


def fit_hierarchy(
    engine: Engine,
    channel: Law,
    crowd: FloatArray,
    *,
    known: Codes | None = None,
    begin: Start | None = None,
    max_rounds: int,
    tolerance: float,
) -> Hierarchy:
    """EM for truths, torn tasks, workers' confusions, the crowd's confusion and class shares.

    Worker k's row of truth t has the prior Dirichlet(strength · crowd[t]), with the crowd's row at
    the worker's own accuracy (`_own_crowd`), and the crowd's rows are learnt with them. A task is
    clear, and then each answer follows the row of its truth, or torn between two labels, and then
    each answer follows either row with probability 1/2, and so does the truth. With C =
    `law[answer, symbol]` and a kind g that follows row t with probability G[g, t]:

        E   P(kindⱼ = g) ∝ share of g · Π (G confusionₖ C)[g, symbolₖⱼ]
        M   counts of (truth, answer) = confusionₖ[t, x] Σ_y C[x, y] Σ_g G[g, t] Nₖ[g, y] / (G
            confusionₖ C)[g, y]
            confusionₖ[t] = mean of Dirichlet(strength · crowd[t] + counts)

    where Nₖ[g, y] = Σ P(kindⱼ = g) over the worker's reports y. The strength is learnt: workers
    with the same habits need no matrix of their own. So is the part of tasks that are torn. The
    noisier the reports, the more the priors weigh: strengths are divided by the channel's κ², the
    squared difference that the answer makes to a report. Stops when the log-likelihood changes by
    less than `tolerance` κ² per report, and in the round before by less than 5 times that: priors
    may let it fall. `begin` are the parameters of an earlier fit.

    Errors that workers share are no evidence. Torn tasks show them: likelihoods are tempered for
    their correlation, and shares are not. Others cannot be seen in answers: posteriors are tempered
    until likelihoods have at least the exponent of `SHARED`.
    """
    workers, labels = len(engine.workers), len(crowd)
    noise = max(channel.kept**2, 1e-6)
    first, priors = crowd, Priors()
    reported = engine.total(LabelCounts(channel.law.shape[1]))
    others = max(float(reported.sum()) / max(engine.task_count, 1) - 1, 0.01)
    hidden = IF_NOISY * (1 / noise - 1) * engine.task_count
    held = (EVEN + EVEN / others**2) * engine.task_count + hidden
    start = first_shares(reported, channel, labels)
    shares, origins = start, kinds_of_tasks(labels, workers * channel.law.shape[1])
    confusions = np.broadcast_to(crowd, (workers, *crowd.shape))
    if begin is not None:
        confusions, crowd, shares, priors = begin
    strength, coin, torn = priors.strength / noise, priors.coin / noise, priors.torn
    before, gain, converged, turn = -np.inf, np.inf, False, 0
    stride: tuple[float, float] | None = None
    for turn in range(1, max_rounds + 1):
        table = _table(confusions, channel.law, origins)
        step = Confusions(table, kind_shares(shares, origins, torn), known)
        sums = ConfusionSums(engine.total(step))
        last, gain = gain, (sums.log_likelihood - before) / max(float(sums.counts.sum()), 1.0)
        converged = turn > 2 and max(abs(last) / 5, abs(gain)) < tolerance * noise
        if converged:
            break
        before = sums.log_likelihood
        ratio = (sums.counts / table).reshape(workers, channel.law.shape[1], -1) @ origins
        counts = confusions * (ratio.transpose(0, 2, 1) @ channel.law.T)
        own = _own_crowd(crowd, counts, coin)
        crowd = _learnt_confusion(strength * own, counts, POOLED * first)
        strength = _learnt_strength(strength, own, counts, SHRINKAGE, noise)
        coin = _learnt_coin(coin, counts, noise)
        posterior = strength * _own_crowd(crowd, counts, coin) + counts
        confusions = steady(posterior / posterior.sum(axis=2, keepdims=True))
        found = _learnt_torn(shares, sums.tasks, TORN_TASKS + hidden)
        torn, stride = _farther(torn, found, stride)
        tasks = sums.tasks @ origins + held * start
        shares = steady(tasks / tasks.sum())
    confusions = np.asarray(confusions)
    reports = sums.counts.sum(axis=1).reshape(workers, -1).sum(axis=1)
    equal = _equal_answers(confusions, shares, reports, engine.task_count)
    evidence = _temper(equal, SHARED_IF_TORN * torn * noise)
    belief = min(1.0, _temper(equal, SHARED * noise) / evidence)
    priors = Priors(strength * noise, coin * noise, torn)
    return Hierarchy(
        confusions, crowd, shares, start, origins, priors, evidence, belief, turn, converged
    )


def _equal_answers(
    confusions: FloatArray, shares: FloatArray, reports: FloatArray, tasks: int
) -> float:
    """The number of answers of equal weight that a task has: (Σ weight)² / Σ weight², in the mean.

    A worker's weight is the square of its accuracy above chance.
    """
    labels = len(shares)
    accuracy = np.einsum("t,wtt->w", shares, confusions[:, :, :labels])
    accuracy = np.clip(accuracy, 1 / labels, 0.99)
    weight = np.square(accuracy - 1 / labels)
    squares = float(reports @ weight**2)
    return float(reports @ weight) ** 2 / squares / tasks if squares > 0 and tasks else 1.0


def _temper(answers: float, correlation: float) -> float:
    """The exponent of likelihoods under which errors that workers share do not count as evidence.

    n answers whose errors have correlation ρ are worth n / (1 + (n − 1) ρ) independent ones.
    """
    return 1 / (1 + min(max(answers - 1, 0.0), MOST_SHARING) * correlation)


def _learnt_strength(
    strength: float, means: FloatArray, counts: FloatArray, guess: float, noise: float
) -> float:
    """A Newton step towards the likeliest strength of Dirichlet(strength · means), in its log.

    Its prior is lognormal around the guess. Uncertain truths and noise hide differences between
    workers. So the rows of workers count as at most `MOST_ROWS`, and their evidence κ⁸ times.
    """
    rows = max(counts.size / counts.shape[-1], 1.0)
    trust, precision = float(noise) ** 4 * min(1.0, MOST_ROWS / rows), SPREAD**-2

    def slope(at: float) -> float:
        evidence = _strength_slope(at, means, counts)
        return float(trust * evidence - precision * np.log(at * noise / guess))

    here, ahead = slope(strength), slope(strength * np.exp(NEAR))
    bend = (here - ahead) / NEAR
    move = here / bend if bend > 0 else np.sign(here)
    found = strength * np.exp(np.clip(move, -1.0, 1.0))
    return float(np.clip(found, FEWEST / noise, MOST / noise))


def _strength_slope(strength: float, means: FloatArray, counts: FloatArray) -> float:
    """d log-likelihood / d log s of counts under Dirichlet-multinomials (Minka 2000).

    Σ s m (ψ(s m + n) − ψ(s m)) − s Σ over rows of (ψ(s + N) − ψ(s)), for N = Σ n of a row
    """
    prior, rows = strength * means, counts.sum(axis=-1)
    cells = np.sum(prior * (_digamma(prior + counts) - _digamma(prior)))
    return float(
        cells - strength * np.sum(_digamma(rows + strength) - _digamma(np.array(strength)))
    )


def _learnt_coin(coin: float, counts: FloatArray, noise: float) -> float:
    """The same for the strength of the prior of workers' accuracies."""
    right, answers = _right_answers(counts)
    typical = _typical(right, answers)
    seen = np.stack([right, np.maximum(answers - right, 0.0)], axis=1)
    return _learnt_strength(coin, np.array([[typical, 1 - typical]]), seen, COIN, noise)


def _learnt_torn(shares: FloatArray, kinds: FloatArray, held: float) -> float:
    """The part of label pairs that tear a task, from the expected number of tasks of each kind."""
    labels = len(shares)
    pairs = 1 - float(np.sum(shares**2))
    if len(kinds) == labels or pairs < 1e-9:
        return 0.0
    torn = float(kinds[labels:].sum()) / pairs + held * TORN
    return min(torn / (float(kinds.sum()) + held), MOST_TORN)


def _farther(
    value: float, found: float, last: tuple[float, float] | None
) -> tuple[float, tuple[float, float] | None]:
    """A positive number that EM moves from `value` to `found`, moved on to where EM would stop.

    EM's steps in the logarithm shrink by a nearly constant rate. `last` are the last logarithm and
    step; the new ones are returned with the number.
    """
    if not min(value, found) > 0:
        return found, None
    here, step = float(np.log(value)), float(np.log(found / value))
    longer = 1.0
    if last is not None and here != last[0]:
        slower = (last[1] - step) / (here - last[0])  # 1 − rate
        longer = 1 / min(max(slower, 1 / MOST_FARTHER), 1.0)
    moved = here + float(np.clip(longer * step, -LONGEST, LONGEST))
    return float(min(np.exp(moved), MOST_TORN)), (here, step)


def kinds_of_tasks(labels: int, rows: int) -> FloatArray:
    """The rows that answers to each kind of task follow: clear ones first, then torn ones.

    >>> kinds_of_tasks(2, rows=1)
    array([[1. , 0. ],
           [0. , 1. ],
           [0.5, 0.5]])
    """
    clear = np.eye(labels)
    left, right = np.triu_indices(labels, 1)
    if rows * (labels + len(left)) > MOST_TORN_CELLS:
        return clear
    return np.concatenate([clear, (clear[left] + clear[right]) / 2])


def kind_shares(shares: FloatArray, origins: FloatArray, torn: float) -> FloatArray:
    """The probability of each kind, so that truths keep their shares.

    >>> kind_shares(np.array([0.5, 0.5]), kinds_of_tasks(2, rows=1), 0.2).round(3).tolist()
    [0.45, 0.45, 0.1]
    """
    labels = len(shares)
    pairs = origins[labels:]
    weights = torn * 2 * np.prod(np.where(pairs > 0, shares, 1.0), axis=1)
    clear = shares - weights @ pairs
    return np.asarray(np.maximum(np.concatenate([clear, weights]), 1e-12))


def first_shares(reports: FloatArray, channel: Law, labels: int) -> FloatArray:
    """Shares of truths before the rounds, from how often each label is reported.

    The noise is taken off exactly. A share of answers may differ from an even one because truths
    do, or because the crowd favours a label: a deviation d counts as d⁵ / (d⁴ + 0.14⁴), so that
    only clear skew is taken for shares of truths.
    """
    named, count = channel.named, max(float(reports.sum()), 1.0)
    symbol = np.repeat(np.arange(len(reports)), np.diff(named.starts))
    rate = np.bincount(named.members, reports[symbol], labels) / count
    kept = max(channel.kept, 1e-6)
    answers = np.clip((rate - channel.other) / kept, 0.0, 1.0)
    given = max(float(answers.sum()), 1e-6)
    error = np.sqrt(rate * (1 - rate) / count) / kept / given
    apart = answers / given - 1 / labels
    skew = np.sign(apart) * np.maximum(np.abs(apart) - error, 0.0)
    skew = skew**5 / (skew**4 + BIAS**4)
    right = min(0.5 + 0.5 / labels + TYPICAL, 0.99)
    wrong = (1 - right) / max(labels - 1, 1)
    shares = np.clip(1 / labels + skew / (right - wrong), 0.1 / labels, 1.0)
    return steady(shares / shares.sum())


def _table(confusions: FloatArray, law: FloatArray, origins: FloatArray) -> FloatArray:
    """P(symbol | kind, worker) in the layout of the passes: [worker · symbols + symbol, kind]."""
    seen = origins @ (confusions @ law)
    return steady(np.ascontiguousarray(seen.transpose(0, 2, 1)).reshape(-1, len(origins)))


def _own_crowd(crowd: FloatArray, counts: FloatArray, coin: float) -> FloatArray:
    """The crowd's confusion as a worker of this accuracy would have it, for each worker.

    A worker's accuracy over all labels, which more answers determine than any row, multiplies the
    odds of right answers in all rows: with no other evidence a worker has one coin.
    """
    right, answers = _right_answers(counts)
    typical = _typical(right, answers)
    own = (right + coin * typical) / (answers + coin)
    odds = own / (1 - own) * (1 - typical) / typical
    likelier = np.multiply.outer(odds - 1, crowd.diagonal())
    rows = crowd / (crowd.sum(axis=1) + likelier)[:, :, np.newaxis]
    np.einsum("wtt->wt", rows[:, :, : len(crowd)])[...] *= odds[:, np.newaxis]
    return np.asarray(rows)


def _right_answers(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How many answers of each worker are right, and how many there are; NULL is no answer."""
    given = counts[:, :, : counts.shape[1]]
    return np.einsum("wtt->w", given), np.einsum("wtx->w", given)


def _typical(right: FloatArray, answers: FloatArray) -> float:
    """The accuracy of all answers together."""
    return min(max(float(right.sum() / max(float(answers.sum()), 1e-9)), 0.01), 0.99)


def _learnt_confusion(prior: FloatArray, counts: FloatArray, first: FloatArray) -> FloatArray:
    """The crowd's confusion from all workers' counts (Minka 2000, the mean with fixed strength)."""
    gained = np.sum(prior * (_digamma(prior + counts) - _digamma(prior)), axis=0) + first
    return steady(gained / gained.sum(axis=1, keepdims=True))


def _digamma(values: FloatArray) -> FloatArray:
    """ψ of positive numbers to about 1e-13, so that small tables load no part of SciPy.

    >>> _digamma(np.array([1.0, 0.5])).round(10).tolist()
    [-0.5772156649, -1.963510026]
    """
    shifted, below = values + 8, np.zeros_like(values)
    for step in range(8):
        below += 1 / (values + step)
    inverse = 1 / shifted**2
    series = inverse * (
        1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132)))
    )
    return np.asarray(np.log(shifted) - 0.5 / shifted - series - below)
