"""Study `p1-figure-1`: the density of P1's Delta, and what its picture leaves out."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sottovoce.figures import Chart, Series
from sottovoce.planning.theorems.weighted_vote import DeltaLaw
from sottovoce.planning.trials import trial_seed
from sottovoce_studies.cells import Cell
from sottovoce_studies.study import Outcome, Row, Size, Study, Verdict, Work

__all__ = ["LAWS", "SHARES", "STUDY", "drawn", "judge", "long_tailed", "sooner_small"]

N_FIXED, B_FIXED = 3, 0.8
BS = (1.0, 0.8, 0.6, 0.4)
NS = (2, 3, 5, 8)
LAWS = tuple(dict.fromkeys([(b, N_FIXED) for b in BS] + [(B_FIXED, n) for n in NS]))
"""Figures 1a and 1b: b varies at fixed n, n at fixed b. P1 prints no values: these are ours."""

DRAWS: Mapping[Size, int] = {"quick": 100_000, "full": 4_000_000}
SHARES = (0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
MANY = 5.0
"""So many standard errors between the law and draws from it are no chance."""


def plan(size: Size, seed: int) -> Work:
    """Products of uniform draws for each law."""
    cells = [
        Cell(drawn, (b, n, DRAWS[size], trial_seed(seed, place)))
        for place, (b, n) in enumerate(LAWS)
    ]
    return Work(cells, lambda results: judge(results, DRAWS[size]))


def drawn(b: float, n: int, draws: int, seed: int) -> dict[str, Any]:
    """Products of n draws from U(0, b): mean, median, shares below some quantiles of the law."""
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
    """Fails, if the law is not that of the draws, or a claim is not so; else it holds in shape.

    Not more than in shape: P1 prints no values of b and n to compare with.
    """
    found = dict(zip(LAWS, results, strict=True))
    faults = [*_unlike(found, draws), *_untrue()]
    verdict: Verdict = "fails" if faults else "holds in shape"
    reason = (
        faults[0]
        if faults
        else "the law is so; but its mean is one layer's Delta, only its median is less"
    )
    rows = tuple(_row(law, seen) for law, seen in found.items())
    charts = (_chart_b(), _chart_n(), _chart_means())
    return Outcome(rows, verdict, reason, " ".join(_words(found, faults)), charts)


def long_tailed(law: DeltaLaw) -> bool:
    """Whether the density falls from 0 to its end, and more than half of it lies below the mean."""
    density = law.pdf(np.linspace(0.001, 0.999, 400) * law.greatest)
    return bool((np.diff(density) < 0).all()) and float(law.cdf(law.mean)) > 0.5


def sooner_small(first: DeltaLaw, second: DeltaLaw) -> bool:
    """Whether the first is small more likely than the second, whatever counts as small."""
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
            yield f"products of {n} draws from U(0, {b:g}) have another law"


def _untrue() -> Iterator[str]:
    for b, n in LAWS:
        if not long_tailed(DeltaLaw(b, n)):
            yield f"no long tail at b = {b:g}, n = {n}"
    for larger, smaller in itertools.pairwise(BS):
        if not sooner_small(DeltaLaw(smaller, N_FIXED), DeltaLaw(larger, N_FIXED)):
            yield f"Delta is not sooner small at b = {smaller:g} than at {larger:g}"
    for fewer, more in itertools.pairwise(NS):
        if not sooner_small(DeltaLaw(B_FIXED, more), DeltaLaw(B_FIXED, fewer)):
            yield f"Delta is not sooner small at n = {more} than at {fewer}"


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


def _words(
    found: Mapping[tuple[float, int], Mapping[str, Any]], faults: Sequence[str]
) -> Iterator[str]:
    law = DeltaLaw(B_FIXED, N_FIXED)
    if faults:
        yield f"Not so: {'; '.join(faults)}."
    else:
        yield (
            f"The density is that of products of uniform draws for all {len(found)} pairs of b and "
            "n; it falls throughout, and Delta is small more likely for smaller b and for larger "
            f"n. Large values are rare: the upper half of the range has {_upper(N_FIXED):.1%} of "
            f"the draws for {N_FIXED} workers, though {_upper(2):.0%} for 2."
        )
    yield (
        "What the picture leaves out: the mean of Delta is (b/2)^n, exactly the Delta of one layer "
        f"with the same mean flip. At b = {law.b:g}, n = {law.n} it is {law.mean:.3f} for both; "
        f"the median is {law.median:.3f}, and {float(law.cdf(law.mean)):.0%} of the draws are "
        "below one layer's, which the rest makes up for. And Delta is the leading term of P1 Eq. "
        "10, which loses a factor of 2^n and is no change of an error: a small Delta promises no "
        "utility."
    )


def _upper(n: int) -> float:
    law = DeltaLaw(B_FIXED, n)
    return 1 - float(law.cdf(law.greatest / 2))


def _chart_b() -> Chart:
    laws = {f"b = {b:g}": DeltaLaw(b, N_FIXED) for b in BS}
    return _densities(
        laws,
        f"Density of Delta for {N_FIXED} important workers (P1 Figure 1a)",
        "P1 §6.2.3: when b decreases, the probability of a small Delta increases. It does; the "
        "curve of each b ends at b^n.",
    )


def _chart_n() -> Chart:
    laws = {f"n = {n}": DeltaLaw(B_FIXED, n) for n in NS}
    return _densities(
        laws,
        f"Density of Delta for b = {B_FIXED:g} (P1 Figure 1b)",
        "P1 §6.2.3: more important users make a small Delta more likely. They do, by P1's rule "
        "that Delta is a product.",
    )


def _densities(laws: Mapping[str, DeltaLaw], title: str, note: str) -> Chart:
    grid = np.linspace(0.0025, 0.25, 100)
    series = []
    for name, law in laws.items():
        # At its very end a density is 0, which a logarithmic axis cannot show.
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
        "Two layers and one: mean and median of Delta (P1 §6.3)",
        "important workers n",
        "Delta",
        (
            Series("two layers, mean", xs, means),
            Series("two layers, median", xs, medians),
            Series("one layer", xs, tuple(law.one_layer for law in laws), role="reference"),
        ),
        note="P1 §6.3: two layers have a higher probability of better utility than one. In the "
        f"median they do (b = {B_FIXED:g}); the means are the same.",
        better="lower",
        y_scale="log",
    )


STUDY = Study(
    "p1-figure-1",
    "The change Delta of the error rate has a long tail: small values are likely, large ones rare; "
    "a smaller b makes a small Delta more likely, and so do more important users",
    "P1 §6.2.3, Figure 1",
    f"P1's law of the product of n draws from U(0, b) against such products; P1 prints no values, "
    f"so that b = {', '.join(f'{b:g}' for b in BS)} at n = {N_FIXED} and n = "
    f"{', '.join(map(str, NS))} at b = {B_FIXED:g} are ours; no votes, no ties",
    plan,
    f"{DRAWS['quick']:,} products for each law instead of {DRAWS['full']:,}",
    recorded="holds in shape",
    items=("P1 Figure 1",),
)
