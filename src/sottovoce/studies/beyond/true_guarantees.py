"""Study `true-guarantees`: what the papers' mechanisms keep, beside what they claim to keep."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sottovoce.planning.trials import trial_seed
from sottovoce.studies.beyond import published_guarantees as published
from sottovoce.studies.beyond.guarantee_views import Found, charts_of, finite, rows_of
from sottovoce.studies.cells import Cell
from sottovoce.studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["MANY", "STUDY", "Promise", "judge", "promises"]

ANSWERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (1, 2, 10, 30, 100),
    "full": (1, 2, 3, 5, 10, 14, 20, 30, 50, 100, 200, 500, 1000),
}
MANY = 100
"""Answers of a busy worker: claims that say nothing of k are judged up to here."""
LAYERS = ((2, 0.0), (2, 0.5), (2, 1.0), (2, 4.0), (5, 0.0), (5, 1.0))
"""Labels and claimed ε; P1's tables go from 0 to 4."""
VARIANCES = ((1.0, 0.1), (1.0, 0.01))
"""P3 prints no δ: a generous one, and a strict one."""
VARIANCE_ANSWERS = (1, 2, 10, 30, MANY, None)
VALUES: Mapping[str, tuple[int, ...]] = {
    "{0, …, 9}": tuple(range(10)), "{0, …, 4}": tuple(range(5)), "{0, 100}": (0, 100),
}  # fmt: skip
TASKS, SPARSE = 200, 20
"""P4's synthetic setting: tasks, and a worker's answers to them at a sparsity of 0.9."""
PROFILE_ANSWERS: Mapping[Size, tuple[int, ...]] = {
    "quick": (12, SPARSE, 30, 60), "full": (11, 12, 15, SPARSE, 30, 40, 60, 80),
}  # fmt: skip
DRAWS: Mapping[Size, int] = {"quick": 20_000, "full": 200_000}
SOUND = (
    ("randomized-response", 0.0, False), ("two-layer", 0.0, False),
    ("random-variance-gaussian", 0.1, False), ("laplace", 0.0, True),
    ("null-randomized-response", 0.0, True), ("matrix-factorization", 0.0, True),
)  # fmt: skip

SLACK = 1e-6
"""Rounding, not a broken promise."""
STEEP = 5.0
"""A loss that grows so much or more where u grows tenfold has no bound: it is linear in u."""

CLAIMS = f"The claims, one by one (workers with up to {MANY} answers)"


@dataclass(frozen=True, slots=True)
class Promise:
    """A claim with the worst that is true. `stated` is False for what a paper does not say."""

    source: str
    mechanism: str
    quantity: str
    claimed: float
    true: float
    stated: bool = True

    @property
    def kept(self) -> bool:
        """Whether the true value is at most the claimed one, up to rounding."""
        return self.true <= self.claimed + SLACK

    @property
    def words(self) -> str:
        """What becomes of it: what is not stated cannot fail."""
        word = "holds" if self.kept else "fails"
        return word if self.stated else f"{word}, but is not stated"

    def row(self) -> Row:
        """One line of the first table."""
        return {
            "part": CLAIMS, "source": self.source, "mechanism": self.mechanism,
            "claimed": self.claimed, "true": finite(self.true), "of": self.quantity,
            "verdict": self.words,
        }  # fmt: skip


def plan(size: Size, seed: int) -> Work:
    """Every value by what it is about; only draws of MF's noise depend on the seed."""
    drawn = DRAWS[size]
    work: dict[tuple[Any, ...], Cell] = {}
    for symbols, epsilon in LAYERS:
        for k in ANSWERS[size]:
            work["two", symbols, epsilon, k] = Cell(published.two_layer, (symbols, epsilon, k))
            work["one", symbols, epsilon, k] = Cell(published.one_layer, (symbols, epsilon, k))
    for epsilon, delta in VARIANCES:
        for answers in VARIANCE_ANSWERS:
            cell = Cell(published.random_variance, (epsilon, delta, answers))
            work["variance", delta, answers] = cell
    for name, values in VALUES.items():
        work["laplace", name] = Cell(published.laplace, (values, 1.0))
    work["response",] = Cell(published.null_response, (10, 1.0, MANY))
    work["2-layer", TASKS] = Cell(published.sparse_two_layer, (10, 1.0, TASKS))
    for k in PROFILE_ANSWERS[size]:
        work["mf", k] = Cell(published.factorization, (1.0, k, drawn, trial_seed(seed, k)))
    for name, delta, hidden in SOUND:
        work["sound", name] = Cell(published.sound, (name, 1.0, delta, MANY, hidden))
    keys = list(work)
    return Work(list(work.values()), lambda results: judge(dict(zip(keys, results, strict=True))))


def judge(found: Found) -> Outcome:
    """Fails if any stated claim is exceeded; the reason names the one that is exceeded most."""
    claims = promises(found)
    stated = [claim for claim in claims if claim.stated]
    broken = [claim for claim in stated if not claim.kept]
    verdict: Verdict = "fails" if broken else "holds"
    reason = ""
    if broken:
        worst = max(broken, key=lambda claim: claim.true - claim.claimed)
        true = f"{worst.true:.3g}" if math.isfinite(worst.true) else "has no bound"
        reason = (
            f"{len(broken)} of {len(stated)} claims exceeded; worst {worst.source}: "
            f"{worst.quantity} {true}, claimed {worst.claimed:g}"
        )
    rows = (*(claim.row() for claim in claims), *rows_of(found))
    return Outcome(rows, verdict, reason, _explanation(found, claims), tuple(charts_of(found)))


def promises(found: Found) -> list[Promise]:
    """What the papers state of their mechanisms, and two readings that they do not state."""
    two, one = found["two", 2, 1.0, MANY], found["one", 2, 1.0, MANY]
    zero, single, pair = (found["two", 2, 0.0, MANY], found["two", 2, 1.0, 1],
                          found["two", 2, 1.0, 2])  # fmt: skip
    variance = [found["variance", 0.1, k] for k in VARIANCE_ANSWERS]
    answer, worker = "epsilon per answer", "epsilon per worker"
    return [
        Promise("P1 Thm. 6.2", "one layer", answer, 1.0, one["answer"]),
        Promise("P1 Thm. 6.3", "two layers, one answer", answer, 1.0, single["answer"]),
        Promise("P1 Thm. 6.3", f"two layers, {MANY} answers", answer, 1.0, two["answer"]),
        Promise("P1 Thm. 6.4", "two layers as one, 2 answers", answer,
                found["one", 2, 1.0, 2]["answer"], pair["answer"]),
        Promise("P1 §7.2", f"epsilon 0 says nothing, {MANY} answers", answer, 0.0,
                zero["answer"]),
        Promise("P1", f"two layers, {MANY} answers together", worker, 1.0, two["worker"], False),
        Promise("P3 Thm. 4.8", "(1, 0.1), any number of answers", "delta per answer", 0.1,
                max(seen["answer"] for seen in variance)),
        Promise("P3 Thm. 4.8", "(1, 0.1), 30 answers together", "delta per worker", 0.1,
                found["variance", 0.1, 30]["worker"], False),
        Promise("P4 Thm. 1", "LP over {0, …, 9}", answer, 1.0,
                found["laplace", "{0, …, 9}"]["answer"]),
        Promise("P4 Thm. 1", "LP over {0, 100}", answer, 1.0,
                found["laplace", "{0, 100}"]["answer"]),
        Promise("P4 Eq. 8", "RR with NULL", answer, 1.0, found["response",]["answer"]),
        Promise("P4 Thm. 4", "MF, value to value", answer, 1.0, found["mf", SPARSE]["value"]),
        Promise("P4 Thm. 4", "MF, NULL to value", answer, 1.0,
                _bound(found["mf", SPARSE]["losses"])),
    ]  # fmt: skip


def _bound(losses: Sequence[float]) -> float:
    """The largest of losses at ever longer u, or infinity where they go on growing with it."""
    *_, before, last = losses
    return math.inf if last >= STEEP * before else max(losses)


def _explanation(found: Found, claims: Sequence[Promise]) -> str:
    two, one, zero = (found["two", 2, 1.0, MANY], found["one", 2, 1.0, MANY],
                      found["two", 2, 0.0, MANY])  # fmt: skip
    variance, mf = found["variance", 0.1, 30], found["mf", SPARSE]
    stated = [claim for claim in claims if claim.stated]
    return (
        f"Exceeded: {_listed(claim for claim in stated if not claim.kept)}. Kept: "
        f"{_listed(claim for claim in stated if claim.kept)}. Two layers share a worker's flip "
        f"probability among its answers: at a claimed epsilon of 1 and {MANY} answers the true one "
        f"is {two['answer']:.2f} per answer and {two['worker']:.0f} per worker (one layer: "
        f"{one['answer']:.2f} and {one['worker']:.0f}), or at epsilon 1 per answer delta is "
        f"{two['delta']:.2f}; at a claimed 0 it is {zero['answer']:.2f} per answer. P3's delta of "
        f"0.1 is {variance['answer']:.4f} per answer in truth for 30 answers, and "
        f"{variance['worker']:.2f} per worker; from two answers on no pure epsilon exists. LP "
        f"counts values where the range counts: at a claimed 1 the true epsilon is "
        f"{found['laplace', '{0, …, 9}']['answer']:g} for the values 0 to 9 and "
        f"{found['laplace', '{0, 100}']['answer']:g} for 0 and 100. Under MF the loss between NULL "
        f"and a value is {mf['losses'][-1]:.0f} where u is {published.LENGTHS[-1]:,.0f} long; and "
        f"for a worker with {SPARSE} answers, as in P4's crowd, a claimed epsilon of 1 needs a "
        f"delta of at least {mf['delta']:.2f}."
    )


def _listed(claims: Iterable[Promise]) -> str:
    return ", ".join(f"{claim.source} ({claim.mechanism})" for claim in claims) or "none"


STUDY = Study(
    "true-guarantees",
    "The mechanisms of P1, P3 and P4 keep, as published, the guarantees that are claimed for them, "
    "whatever the number of answers of a worker",
    "P1 Thms. 6.2 to 6.4 and §7.2, P3 Thm. 4.8, P4 Thms. 1 and 4 and Eq. 8",
    "whoever attacks sees all reports of a worker; per answer, two lists of answers differ in one "
    "of them, per worker in all; P1's and P4's definitions are read per answer, and what is said "
    "of workers is not judged, since no paper states it; P3 prints no delta, P4 no dimension: 0.1 "
    f"and {published.DIMENSION} are ours; a claim is exceeded when the true value is above it by "
    f"more than {SLACK:g}; nothing is drawn but MF's noise, and no ties occur",
    plan,
    "fewer numbers of answers, and a tenth of the draws of MF's noise",
    recorded="fails",
)
