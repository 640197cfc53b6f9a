"""Study `p1-figure-1`: the density of P1's Delta, and its mean, which P1 does not show."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Series
from sottovoce.inference.weights import importance
from sottovoce.model import FloatArray
from sottovoce.planning.trials import trial_seed
from sottovoce_studies.cells import Cell
from sottovoce_studies.rulings import Ruling, Rulings, Statement, ruling_on
from sottovoce_studies.study import Outcome, Row, Size, Study, Work
from sottovoce_studies.theorems.weighted_vote import DeltaLaw

__all__ = [
    "LAWS",
    "SHARES",
    "STUDY",
    "drawn",
    "judge",
    "long_tailed",
    "published_factor",
    "sooner_small",
    "statements",
]

N_FIXED, B_FIXED = 3, 0.8
BS = (1.0, 0.8, 0.6, 0.4)
NS = (2, 3, 5, 8)
LAWS = tuple(dict.fromkeys([(b, N_FIXED) for b in BS] + [(B_FIXED, n) for n in NS]))
"""Figures 1a and 1b: b varies at fixed n, n at fixed b. P1 prints no values, these are ours."""

DRAWS: Mapping[Size, int] = {"quick": 100_000, "full": 4_000_000}
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
CLOSE = 0.1
"""Ratios within this of 1 count as close: bounds are products, so ratios multiply."""
DECISIVE = 0.1
"""The accuracy of an important user; P1 folds accuracies to at most 1/2."""
_GRID = np.linspace(0.02, 0.5, 481)

MANY = 5.0
"""The number of standard errors between distribution and draws that counts as more than chance."""


def plan(size: Size, seed: int) -> Work:
    """Products of uniform draws for each distribution."""
    cells = [
        Cell(drawn, (b, n, DRAWS[size], trial_seed(seed, place)))
        for place, (b, n) in enumerate(LAWS)
    ]
    return Work(cells, lambda results: judge(results, DRAWS[size]))


def drawn(b: float, n: int, draws: int, seed: int) -> dict[str, Any]:
    """Products of n draws from U(0, b): mean, median, shares below exact quantiles."""
    rng = np.random.default_rng(seed)
    product = np.ones(draws)
    for _ in range(n):
        product *= rng.uniform(0, b, draws)
    law = DeltaLaw(b, n)
    return {
        "mean": float(product.mean()),
        "s.e.": float(product.std() / math.sqrt(draws)),
        "median": float(np.median(product)),
        "below mean": float(np.mean(product <= law.one_layer)),
        "below": [float(np.mean(product <= law.quantile(share))) for share in SHARES],
    }


def judge(results: Sequence[Mapping[str, Any]], draws: int) -> Outcome:
    """Shape holds if the density is that of the draws and P1's three inferences are true."""
    found = dict(zip(LAWS, results, strict=True))
    density, *inferred = statements(found, draws)
    rows = (*(_row(law, seen) for law, seen in found.items()), *_close_rows())
    charts = (_chart_b(), _chart_n(), _chart_means())
    rulings = Rulings(shape=ruling_on([density, *inferred]))
    names = ("P1-6.2.3-9", "P1-6.2.3-10", "P1-6.2.3-11")
    claims = {
        "P1-6.2.2-3": _close(),
        "P1-6.2.3-8": density.ruling,
        **{name: said.ruling for name, said in zip(names, inferred, strict=True)},
        "P1-6.3-1": _sooner_better(),
    }
    words = " ".join(_words(found, str(rulings.shape)))
    return Outcome(rows, rulings, words, charts, claims=claims)


def statements(
    found: Mapping[tuple[float, int], Mapping[str, Any]], draws: int
) -> tuple[Statement, ...]:
    """The density, and the three inferences that P1 draws from it (§6.2.3)."""
    unlike = "; ".join(_unlike(found, draws))
    short = [f"b = {b:g}, n = {n}" for b, n in LAWS if not long_tailed(DeltaLaw(b, n))]
    by_b = all(
        sooner_small(DeltaLaw(smaller, N_FIXED), DeltaLaw(larger, N_FIXED))
        for larger, smaller in itertools.pairwise(BS)
    )
    by_n = all(
        sooner_small(DeltaLaw(B_FIXED, more), DeltaLaw(B_FIXED, fewer))
        for fewer, more in itertools.pairwise(NS)
    )
    upper = f"{_upper(N_FIXED):.1%} of draws in the upper half for n = {N_FIXED}, mean as one layer"
    rest = "whether utility follows: P1-7.3-1"
    return (
        Statement("the density is that of a product", not unlike, unlike or f"{len(found)} laws"),
        Statement(
            "Delta has a long tail", not short, "; ".join(short) or f"of Delta: {upper}; {rest}"
        ),
        Statement(
            "a smaller b makes a small Delta more likely",
            by_b,
            f"of Delta: at every threshold; {rest}",
        ),
        Statement(
            "more important users do so too",
            by_n,
            f"of Delta: at every threshold, given Eq. 10; {rest}",
        ),
    )


def published_factor(accuracy: FloatArray) -> FloatArray:
    """P1's G(p) = (p/e + (1 − p) e)^ln(p / (1 − p)), for p up to 1/2 (Eq. 6)."""
    return 1 / importance(accuracy)


def _close() -> Ruling:
    """Whether G(p) is close to 2p on (0, .5]: P1 replaces one by the other.

    The difference is small, but the ratio tends to 1/2: log G(p) - log p tends to 0 with p.
    """
    gap = float(np.abs(published_factor(_GRID) - 2 * _GRID).max())
    ratio = float(published_factor(np.array([DECISIVE]))[0]) / (2 * DECISIVE)
    words = f"gap at most {gap:.3f}, and both are 0 at 0 and 1 at 1/2"
    if abs(ratio - 1) <= CLOSE:
        return Ruling("holds", words)
    return Ruling(
        "partly",
        f"{words}; but for important users G is {ratio:.2f} of 2p (p = {DECISIVE:g}), and half of "
        "it as p falls to 0",
    )


def _close_rows() -> Iterator[Row]:
    for accuracy in (0.05, DECISIVE, 0.2, 0.3, 0.4, 0.5):
        factor = float(published_factor(np.array([accuracy]))[0])
        yield {
            "part": "G(p) of P1 Eq. 6 and its replacement 2p",
            "p": accuracy,
            "G(p)": factor,
            "2p": 2 * accuracy,
            "ratio": factor / (2 * accuracy),
        }


def _sooner_better() -> Ruling:
    """Whether two layers are more often below one layer's Delta than above it."""
    shares = {n: float(DeltaLaw(B_FIXED, n).cdf(DeltaLaw(B_FIXED, n).one_layer)) for n in NS}
    words = f"more likely: true ({shares[NS[0]]:.2f} to {shares[NS[-1]]:.2f}), with equal means"
    if min(shares.values()) <= 0.5:
        return Ruling("fails", f"below one layer's Delta with {min(shares.values()):.2f} only")
    return Ruling("partly", f"{words}; privacy is equal for one answer only")


def long_tailed(law: DeltaLaw) -> bool:
    """Whether the density falls throughout, with more than half of the mass below the mean."""
    density = law.pdf(np.linspace(0.001, 0.999, 400) * law.greatest)
    return bool((np.diff(density) < 0).all()) and float(law.cdf(law.mean)) > 0.5


def sooner_small(first: DeltaLaw, second: DeltaLaw) -> bool:
    """Whether the first is more likely to be small than the second, at every threshold."""
    grid = np.geomspace(1e-9, max(first.greatest, second.greatest), 400)
    above = first.cdf(grid) - second.cdf(grid)
    return bool((above >= -1e-12).all() and above.max() > 0)


def _unlike(found: Mapping[tuple[float, int], Mapping[str, Any]], draws: int) -> Iterator[str]:
    for (b, n), seen in found.items():
        off = [
            abs(seen_share - share) / math.sqrt(share * (1 - share) / draws)
            for seen_share, share in zip(seen["below"], SHARES, strict=True)
        ]
        if max(off) > MANY or abs(seen["mean"] - DeltaLaw(b, n).mean) > MANY * seen["s.e."]:
            yield f"products of {n} draws from U(0, {b:g}) have another distribution"


def _row(law: tuple[float, int], seen: Mapping[str, Any]) -> Row:
    b, n = law
    exact = DeltaLaw(b, n)
    return {
        "part": "Delta of n important workers, flip probabilities U(0, b)",
        "b": b,
        "n": n,
        "mean": exact.mean,
        "one layer": exact.one_layer,
        "mean drawn": seen["mean"],
        "median": exact.median,
        "median drawn": seen["median"],
        "below one layer": float(exact.cdf(exact.one_layer)),
        "drawn": seen["below mean"],
        "upper half": 1 - float(exact.cdf(exact.greatest / 2)),
    }


def _words(found: Mapping[tuple[float, int], Mapping[str, Any]], shape: str) -> Iterator[str]:
    law = DeltaLaw(B_FIXED, N_FIXED)
    if shape != "holds":
        yield f"The shape {shape}."
    else:
        yield (
            f"The density is that of products of uniform draws for all {len(found)} pairs of b "
            "and n; it falls throughout, and a small Delta is more likely for smaller b and for "
            "larger n. Large values are rare: the upper half of the range has "
            f"{_upper(N_FIXED):.1%} of the draws for {N_FIXED} workers, but {_upper(2):.0%} for 2."
        )
    yield (
        "The figure does not show the mean of Delta, which is (b/2)^n, exactly the Delta of one "
        f"layer with the same mean flip. At b = {law.b:g}, n = {law.n} it is {law.mean:.3f} for "
        f"both; the median is {law.median:.3f}, and {float(law.cdf(law.mean)):.0%} of the draws "
        "are below one layer's, which the other draws compensate. Delta is also only the leading "
        "term of P1 Eq. 10, which loses a factor of 2^n and is not the change of an error: a "
        "small Delta does not imply utility. It also rests on replacing G(p) by 2p, which are "
        f"said to be very close: {_close().reason}."
    )


def _upper(n: int) -> float:
    law = DeltaLaw(B_FIXED, n)
    return 1 - float(law.cdf(law.greatest / 2))


def _chart_b() -> Chart:
    laws = {f"b = {b:g}": DeltaLaw(b, N_FIXED) for b in BS}
    return _densities(
        laws,
        f"Density of Delta for {N_FIXED} important workers (P1 Figure 1a)",
        "P1 §6.2.3: when b decreases, the probability of a small Delta increases. This is true; "
        "the curve of each b ends at b^n.",
    )


def _chart_n() -> Chart:
    laws = {f"n = {n}": DeltaLaw(B_FIXED, n) for n in NS}
    return _densities(
        laws,
        f"Density of Delta for b = {B_FIXED:g} (P1 Figure 1b)",
        "P1 §6.2.3: more important users make a small Delta more likely. This is true, given "
        "P1's definition of Delta as a product.",
    )


def _densities(laws: Mapping[str, DeltaLaw], title: str, note: str) -> Chart:
    grid = np.linspace(0.0025, 0.25, 100)
    series = []
    for name, law in laws.items():
        # The density is 0 at its end, which a logarithmic axis cannot show.
        inside = grid[grid < 0.9 * law.greatest]
        series.append(Series(name, tuple(inside.tolist()), tuple(law.pdf(inside).tolist())))
    return Chart(
        title, "Delta", "density", tuple(series), note=note, better="neither", y_scale="log"
    )


def _chart_means() -> Chart:
    ns = tuple(range(1, 11))
    laws = [DeltaLaw(B_FIXED, n) for n in ns]
    means = tuple(law.mean for law in laws)
    medians = tuple(law.median for law in laws)
    xs = tuple(map(float, ns))
    return Chart(
        "Mean and median of Delta with two layers and one (P1 §6.3)",
        "important workers n",
        "Delta",
        (
            Series("two layers, mean", xs, means),
            Series("two layers, median", xs, medians),
            Series("one layer", xs, tuple(law.one_layer for law in laws), role="reference"),
        ),
        note="P1 §6.3: two layers have a higher probability of better utility than one. The "
        f"median is better (b = {B_FIXED:g}); the means are the same.",
        better="lower",
        y_scale="log",
    )


STUDY = Study(
    "p1-figure-1",
    "The change Delta of the error rate has a long tail: small values are likely, large ones rare; "
    "a smaller b makes a small Delta more likely, and so do more important users",
    "P1 §6.2.3, Figure 1",
    "P1's density of the product of n draws from U(0, b) against simulated products; P1 prints "
    f"no values, so b = {', '.join(f'{b:g}' for b in BS)} at n = {N_FIXED} and n = "
    f"{', '.join(map(str, NS))} at b = {B_FIXED:g} are ours; no votes, no ties",
    plan,
    f"{DRAWS['quick']:,} products for each distribution instead of {DRAWS['full']:,}",
    recorded=("not claimed", "holds", "not claimed"),
    items=("P1 Figure 1",),
)
