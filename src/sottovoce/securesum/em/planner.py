"""Rounds of a private EM: the next sum to request, and the posterior after each.

This side needs no answers. Round 0 adds up how often each task was given each label. Every round t
> 0 adds up the workers' log-likelihoods of each task, given their skill: -ln P(answers | truth) for
each truth as published, or the differences to the first label. Each is a fixed-point number of
`scale` steps to one. Server and workers compute everything from the opened sums. In noised rounds
posteriors follow from the noised sums, so computing them has no further privacy loss.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtr

from sottovoce.errors import UsageError
from sottovoce.inference.aggregator import choose
from sottovoce.inference.sealed.noisy_votes import SealedVotes
from sottovoce.mechanisms.laws.polya import noise_law
from sottovoce.model import Domain, FloatArray, Provenance, Result
from sottovoce.model.opened_totals import NoiseLaw, Opened
from sottovoce.model.sum_rounds import Integers, OpenedSum, Planner, SumSpec
from sottovoce.securesum.codec import FixedPoint
from sottovoce.securesum.em.posteriors import (
    is_settled,
    posterior_of,
    posterior_of_rounds,
    prior_of,
    quality,
    start,
)
from sottovoce.securesum.em.sensitivity import NoisedSlots, check_opened
from sottovoce.securesum.em.terms import EMTerms, Law, Mode
from sottovoce.version import __version__

USUAL: Mapping[Mode, Mapping[str, int]] = {
    Mode.AS_PUBLISHED: {"scale": 10**10, "clip": 10**6, "tolerance": 10**8},
    Mode.LOG_ODDS: {"scale": 10**3, "clip": 10**3, "tolerance": 10**4},
}
"""Default parameters of exact sums. As published, as in P2.

At a scale of 10^3, changes of Q below 10^-4 are mostly rounding, which might never end; and every
round reveals more.
"""


@dataclass(frozen=True, slots=True, eq=False)
class EMState:
    """The state of the EM after some opened rounds.

    `posterior[task, label]` and `prior[label]` (the mean of it) are of the last round, `rounds`
    counts those after round 0, `answers` are those to each task: noised if there is noise.
    """

    posterior: FloatArray = field(repr=False)
    prior: FloatArray
    rounds: int
    converged: bool
    answers: Integers = field(repr=False)
    quality: float | None = None


class EMPlanner:
    """The rounds of the modes `as_published` and `log_odds` (P2, protocol 1)."""

    def __init__(self, terms: EMTerms) -> None:
        if terms.mode is Mode.NOISED:
            raise UsageError("noised rounds need NoisedPlanner")
        self.terms = terms
        self.codec: FixedPoint = codec_of(terms)
        tasks, labels = len(terms.tasks), len(terms.labels)
        columns = labels if terms.mode is Mode.AS_PUBLISHED else labels - 1
        self._counts = SumSpec(tasks * labels, terms.repeats)
        self._logs = SumSpec(tasks * columns, self.codec.greatest)
        self._seen: tuple[tuple[OpenedSum, EMState], ...] = ()

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        """Counts first, then logarithms until Q has converged or the rounds are used up."""
        if not opened:
            return self._counts
        state = self.decode(opened)
        ended = state.converged or state.rounds >= self.terms.rounds
        return None if ended else self._logs

    def decode(self, opened: Sequence[OpenedSum]) -> EMState:
        """The state after the opened rounds, of which there is at least one.

        Decoded rounds are cached: each is computed once.
        """
        if not opened:
            raise UsageError("nothing has been opened yet")
        seen = self._remembered(opened)
        for each in opened[len(seen) :]:
            state = self._after(seen[-1][1], each) if seen else self._first(each)
            seen = (*seen, (each, state))
        self._seen = seen
        return seen[-1][1]

    def result(self, opened: Sequence[OpenedSum], domain: Domain | None = None) -> Result:
        """Truths: the most probable labels. No weights: each worker knows only its own."""
        return result_of(self.terms, self.decode(opened), domain)

    def logs(self, opened: OpenedSum) -> FloatArray:
        """The log-likelihoods (tasks, labels) in the totals of a round after round 0.

        In `log_odds` they are relative to the first label, whose column is 0.
        """
        check_opened(self._logs, opened)
        sums = self.codec.decode_sum(opened.totals, opened.workers)
        sums = sums.reshape(len(self.terms.tasks), -1)
        if self.terms.mode is Mode.AS_PUBLISHED:
            return -sums
        return np.concatenate([np.zeros((len(sums), 1)), sums], axis=1)

    def _first(self, opened: OpenedSum) -> EMState:
        check_opened(self._counts, opened)
        counts = opened.totals.reshape(len(self.terms.tasks), -1)
        posterior = start(counts.astype(np.float64))
        prior = prior_of(posterior, self.terms.clip)
        return EMState(posterior, prior, 0, False, counts.sum(axis=1))

    def _after(self, before: EMState, opened: OpenedSum) -> EMState:
        logs = self.logs(opened)
        posterior = posterior_of(logs, before.prior)
        prior = prior_of(posterior, self.terms.clip)
        value = quality(logs, posterior, prior)
        converged = is_settled(value, before.quality, self.terms.tolerance)
        return EMState(posterior, prior, before.rounds + 1, converged, before.answers, value)

    def _remembered(self, opened: Sequence[OpenedSum]) -> tuple[tuple[OpenedSum, EMState], ...]:
        """The cached states of the first of these rounds."""
        seen = self._seen
        for place, ((known, _), each) in enumerate(zip(seen, opened, strict=False)):
            if known is each:
                continue
            if known.workers != each.workers or not np.array_equal(known.totals, each.totals):
                return seen[:place]
        return seen[: len(opened)]


def exact_terms(
    tasks: Sequence[str], labels: Sequence[str], mode: Mode, **given: int | None
) -> EMTerms:
    """The terms of a mode without noise; parameters that are missing or None have their defaults.

    `given` are scale, clip, tolerance, rounds and repeats.
    """
    if mode not in USUAL:
        raise UsageError(f"the sums of mode {mode} are not exact")
    chosen = {name: value for name, value in given.items() if value is not None}
    settings: dict[str, Any] = {**USUAL[mode], **chosen}
    return EMTerms(tuple(tasks), tuple(labels), mode, **settings)


def codec_of(terms: EMTerms) -> FixedPoint:
    """The integer encoding of logarithms: -ln P as published, differences of ln P in log-odds.

    A probability is at least 1/clip, so each logarithm is within ln clip of 0; the next integer
    above it is the bound, because that is the same on every machine.
    """
    bound = float(math.ceil(math.log(terms.clip)) * terms.repeats)
    return FixedPoint(0.0 if terms.mode is Mode.AS_PUBLISHED else -bound, bound, terms.scale)


def result_of(terms: EMTerms, state: EMState, domain: Domain | None = None) -> Result:
    """The result of an EM in this state; `domain` has the labels of the terms, typed."""
    domain = domain or Domain.categorical(terms.labels)
    if domain.size != len(terms.labels):
        raise UsageError(
            f"the terms have {len(terms.labels)} labels, but the domain has {domain.size}"
        )
    truths = choose(state.posterior)
    parameters = {
        "mode": str(terms.mode),
        "scale": terms.scale,
        "clip": terms.clip,
        "tolerance": terms.tolerance,
        "max_rounds": terms.rounds,
    }
    return Result(
        np.array(terms.tasks, object),
        np.empty(0, object),
        domain,
        truths,
        np.empty(0),
        state.answers,
        state.rounds,
        state.converged,
        Provenance("private-em", parameters, __version__),
        confidence=state.posterior[np.arange(len(truths)), truths],
        posterior=state.posterior,
        prior=state.prior,
    )


class NoisedPlanner:
    """The rounds of the mode `noised`: their number is fixed by the terms."""

    def __init__(self, terms: EMTerms) -> None:
        self.terms = terms
        self.slots: NoisedSlots = NoisedSlots(terms)
        self._specs = [self.slots.spec(number) for number in range(len(self.slots.noise.rounds))]
        self._seen: tuple[bytes, EMState] | None = None

    def next(self, opened: Sequence[OpenedSum]) -> SumSpec | None:
        """Votes, then weighted votes until the rounds are over."""
        return self._specs[len(opened)] if len(opened) < len(self._specs) else None

    def decode(self, opened: Sequence[OpenedSum]) -> EMState:
        """The state after the opened rounds, of which there is at least one.

        The posteriors after round 0 are those of a sealed campaign (`SealedVotes`); each further
        round is read together with all before it (`posterior_of_rounds`).
        """
        if not opened:
            raise UsageError("nothing has been opened yet")
        if len(opened) > len(self._specs):
            raise UsageError(f"there are {len(self._specs)} noised rounds, not {len(opened)}")
        if self._seen is not None and self._seen[0] == _key(opened):
            return self._seen[1]
        state = self._first(opened[0]) if len(opened) == 1 else self._after(opened)
        self._seen = _key(opened), state
        return state

    def result(self, opened: Sequence[OpenedSum], domain: Domain | None = None) -> Result:
        """Truths: the most probable labels. Each worker knows only its own weight."""
        return result_of(self.terms, self.decode(opened), domain)

    def _first(self, opened: OpenedSum) -> EMState:
        """From votes alone."""
        posterior, answers = _from_votes(self.terms, opened.totals.tobytes(), opened.workers)
        return self._state(posterior, 0, answers)

    def _after(self, opened: Sequence[OpenedSum]) -> EMState:
        """From weighted votes, and all earlier rounds."""
        before = self.decode(opened[:-1])
        sums = [self._by_label(number, each) for number, each in enumerate(opened)]
        # Workers may drop out from round to round, and their noise with them.
        noise = [self._noise(number, each.workers) for number, each in enumerate(opened)]
        posterior = posterior_of_rounds(np.stack(sums, axis=2), np.array(noise), before.posterior)
        return self._state(posterior, len(opened) - 1, before.answers)

    def _state(self, posterior: FloatArray, rounds: int, answers: Integers) -> EMState:
        prior = prior_of(posterior, self.terms.clip)
        return EMState(posterior, prior, rounds, rounds == len(self._specs) - 1, answers)

    def _by_label(self, number: int, opened: OpenedSum) -> FloatArray:
        """Noised votes for every label: with two labels, plus or minus half the lead."""
        votes = self.slots.decoded(number, opened)
        if len(self.terms.labels) > 2:
            return votes
        return np.stack([-votes[:, 0], votes[:, 0]], axis=1) / 2

    def _noise(self, number: int, workers: int) -> float:
        """The variance of the noise in a vote for a label; that of a contrast is twice it."""
        variance = float(self.slots.variances(workers)[number])
        return variance / 2 if len(self.terms.labels) == 2 else variance


def _key(opened: Sequence[OpenedSum]) -> bytes:
    return b"".join(each.workers.to_bytes(8) + each.totals.tobytes() for each in opened)


@lru_cache(maxsize=8)
def _from_votes(terms: EMTerms, totals: bytes, workers: int) -> tuple[FloatArray, Integers]:
    """The posteriors and noised counts in the totals of round 0.

    Cached, because it takes longest and in a rehearsal every worker needs the same.
    """
    slots = NoisedSlots(terms)
    sums = slots.decoded(0, OpenedSum(np.frombuffer(totals, np.int64), workers))
    law, labels = _law_of_votes(slots, workers), len(terms.labels)
    opened = Opened(
        np.arange(len(terms.tasks)),
        Domain.categorical(terms.labels),
        "votes",
        labels,
        True,
        np.rint(sums).astype(np.int64),
        None,
        workers,
        (law,) * labels,
    )
    result = SealedVotes().fit(opened)
    assert result.posterior is not None  # noqa: S101 - votes have posteriors
    return result.posterior, result.answers


def _law_of_votes(slots: NoisedSlots, workers: int) -> NoiseLaw:
    """The law of the noise in the votes of `workers` workers, rounded to whole votes."""
    first = slots.noise.rounds[0]
    if first.law is Law.LAPLACE:
        return NoiseLaw(*noise_law(1 / first.size, Fraction(workers, slots.noise.honest)))
    deviation = float(np.sqrt(slots.variances(workers)[0]))
    reach = int(np.ceil(8 * deviation)) + 1
    edges = ndtr((np.arange(-reach, reach + 2) - 0.5) / deviation)
    return NoiseLaw(np.diff(edges), reach)


class PrivatePlanner(Planner, Protocol):
    """A planner of a private EM that also gives the truths."""

    terms: EMTerms

    def decode(self, opened: Sequence[OpenedSum]) -> EMState:
        """The state of the EM after at least one opened round."""
        ...

    def result(self, opened: Sequence[OpenedSum], domain: Domain | None = None) -> Result:
        """The truths after at least one opened round; `domain` has the labels of the terms."""
        ...


def planner_of(terms: EMTerms) -> PrivatePlanner:
    """The planner for the mode of the terms."""
    return NoisedPlanner(terms) if terms.mode is Mode.NOISED else EMPlanner(terms)
