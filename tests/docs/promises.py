"""The tables of docs/explanation/guarantees.md, computed by the library.

`python tests/docs/promises.py` rewrites them. Each table is between two comments of the page,
`<!-- table: name -->` and `<!-- end -->`. The text around them is written by hand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from sottovoce import (
    Domain,
    Laplace,
    NullRandomizedResponse,
    RandomizedResponse,
    RandomVarianceGaussian,
    Sampled,
    TwoLayer,
    Unit,
)
from sottovoce.mechanisms.laws.hyper_weights import LevelWeights
from sottovoce.mechanisms.laws.task_profiles import real_profiles
from sottovoce.mechanisms.published_factorization import PublishedFactorization
from sottovoce.model import WORDS
from sottovoce_studies.beyond.layer_trials import (
    Guaranteed,
    Layer,
    one_layer,
    sampled,
    two_levels,
)
from sottovoce_studies.beyond.layer_trials import two_layer as two_layer_of
from sottovoce_studies.beyond.published_guarantees import log_density

__all__ = ["PAGE", "TABLES", "written"]

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "guarantees.md"
BINARY = Domain.categorical(["no", "yes"])
DIGITS = Domain.ordinal(range(10))
_BLOCK = re.compile(r"<!-- table: (\S+) -->\n.*?<!-- end -->", re.DOTALL)


def two_layer() -> str:
    """Claimed and true ε of U(0, b) for k reports; k = 277 is a busy worker of a real crowd."""
    rows = []
    for nominal in (0.0, 0.5, 1.0, 2.0):
        mechanism = TwoLayer.as_published(BINARY, nominal)
        for answers in (1, 14, 100, 277):
            rows.append([
                f"{nominal:g}", f"{_flips(mechanism)[1]:.3f}", f"{answers}",
                _epsilon(mechanism.guarantee(answers, Unit.ANSWER).epsilon),
                _epsilon(mechanism.guarantee(answers, Unit.WORKER).epsilon),
                _delta(mechanism.delta(nominal, answers, Unit.ANSWER)),
            ])  # fmt: skip
    return _table(
        ["claimed ε", "b", "answers k", "true ε per answer", "true ε per worker",
         "δ per answer at the claimed ε"], rows,
    )  # fmt: skip


def two_layer_sound() -> str:
    """U(a, b) with ε = 1 per answer, and one layer for comparison."""
    rows = []
    for answers in (1, 10, 100, 1000):
        mechanism = TwoLayer.calibrated(BINARY, 1.0, answers=answers)
        low, high = _flips(mechanism)
        held = mechanism.guarantee(answers, Unit.ANSWER).epsilon
        rows.append(
            [f"{answers:,}", f"{low:.4f}", f"{high:.4f}", f"{(low + high) / 2:.4f}", f"{held:.4f}"]
        )
    one = RandomizedResponse.calibrated(BINARY, 1.0)
    flip = f"{1 - one.keep_probability:.4f}"
    rows.append(
        ["any, one layer", flip, flip, flip, f"{one.guarantee(1, Unit.ANSWER).epsilon:.4f}"]
    )
    return _table(["answers k", "a", "b", "mean flip", "true ε per answer"], rows)


def hyper_distributions() -> str:
    """Distributions of the flip probability with the same mean: same claim, different true ε."""
    flip = 1 - RandomizedResponse.calibrated(BINARY, 1.0).keep_probability
    laws = {
        "always the mean (one layer)": LevelWeights((round(flip * WORDS),), (WORDS,)),
        "normal around the mean, deviation 0.05": LevelWeights.normal(
            2, 0.0, 2 * flip, flip, 0.05, 255
        ),
        "uniform from 0": TwoLayer.as_published(BINARY, 1.0).hyper,
        "arcsine from 0, Beta(½, ½)": LevelWeights.beta(2, 0.0, 2 * flip, 0.5, 0.5, 255),
    }
    rows = []
    for name, hyper in laws.items():
        mechanism = TwoLayer(2, hyper)
        rows.append([
            name, f"{mechanism.claim().epsilon:.3f}",
            *(f"{mechanism.guarantee(k, Unit.ANSWER).epsilon:.3f}" for k in (1, 10, 100)),
            *(f"{mechanism.guarantee(k, Unit.WORKER).epsilon:.2f}" for k in (10, 100)),
        ])  # fmt: skip
    return _table(
        ["flip probability", "claimed ε", "per answer, k = 1", "k = 10", "k = 100",
         "per worker, k = 10", "k = 100"], rows,
    )  # fmt: skip


def shared_noise() -> str:
    """Mechanisms with ε = 50 for all of a worker's 100 answers together."""
    held = Guaranteed(Unit.WORKER, 50.0, 0.0, 100)
    sample, wide, levels = sampled(held), two_layer_of(held, 0.4), two_levels(held, 0.1)
    assert wide is not None
    assert isinstance(sample.mechanism, RandomizedResponse)
    assert isinstance(levels.hyper, LevelWeights)
    low, high = _flips(wide)
    flips: list[tuple[str, str, Layer]] = [
        ("one layer", _flip(one_layer(held)), one_layer(held)),
        (f"one layer on {sample.answers} of the answers", _flip(sample.mechanism), sample),
        ("two layers, uniform", f"{low:.3f} to {high:.3f}", wide),
        ("two levels", f"{levels.hyper.others[0] / WORDS:.3f}, or 1/2 for 10 %", levels),
    ]
    rows = [
        [name, flip, *(_epsilon(law.guarantee(100, unit).epsilon) for unit in Unit)]
        for name, flip, law in flips
    ]
    return _table(["noise", "flip probability", "ε per answer", "ε per worker"], rows)


def random_variance() -> str:
    """The noise of P3 Thm. 4.8 for (1, 0.1) and (1, 0.01): δ at ε = 1."""
    rows = []
    for claimed in (0.1, 0.01):
        mechanism = RandomVarianceGaussian.as_published(DIGITS, 1.0, delta=claimed)
        for answers in (1, 2, 10, 100):
            rows.append([
                f"(1, {claimed:g})", f"{answers}",
                *(_delta(mechanism.delta(1.0, answers, unit)) for unit in Unit),
            ])  # fmt: skip
    return _table(["claimed (ε, δ)", "answers k", "true δ per answer", "true δ per worker"], rows)


def laplace() -> str:
    """Noise of scale |Γ| / ε at ε = 1: the true ε is range / |Γ|."""
    domains = {
        "{0, …, 9}": DIGITS,
        "{1, …, 5}": Domain.ordinal(range(1, 6)),
        "{0, 1}": Domain.ordinal([0, 1]),
        "{0, 10}": Domain.ordinal([0, 10]),
        "{0, 100}": Domain.ordinal([0, 100]),
        "0 to 10 in steps of 0.1": Domain.numeric(0, 10, step=0.1),
    }
    rows = []
    for name, domain in domains.items():
        mechanism = Laplace.as_published(domain, 1.0)
        values = mechanism.steps + 1
        size = mechanism.steps * float(_fraction(mechanism.step))
        held = mechanism.guarantee(1, Unit.ANSWER).epsilon
        rows.append([name, f"{values}", f"{size:g}", f"{size / values:.4g}", f"{held:.4g}"])
    return _table(["values Γ", "how many", "range", "ε by the formula", "ε of the integers"], rows)


def factorization() -> str:
    """ln of the density of u with an answer over that without it, along a line of growing u."""
    mechanism = PublishedFactorization.over(DIGITS, 1.0, dimension=3)
    profiles = real_profiles([f"task {j}" for j in range(8)], 3, "")
    answers = np.array([3.0, 7.0, 1.0, 9.0, 4.0, 0.0, 8.0, 5.0])
    direction = -profiles[:, 0] / np.linalg.norm(profiles[:, 0])
    rows = []
    for size in (1, 10, 100, 1_000, 10_000):
        fitted = size * direction
        point = fitted[:, None]
        [ratio] = log_density(point, profiles, answers, mechanism.scale) - log_density(
            point, profiles[:, 1:], answers[1:], mechanism.scale
        )
        rows.append([f"{size:,}", f"{abs(ratio):,.2f}"])
    return _table(["length of u", "privacy loss between answering and not"], rows)


def keeping() -> str:
    """Probability that randomised response keeps the answer."""
    rows = []
    for epsilon in (0.1, 0.5, 1.0, 2.0, 3.0):
        kept = []
        for labels in (2, 5, 10):
            domain = Domain.ordinal(range(labels))
            for kind in (RandomizedResponse, NullRandomizedResponse):
                kept.append(f"{kind.calibrated(domain, epsilon).keep_probability:.4f}")
        rows.append([f"{epsilon:g}", *kept])
    heads = [f"{s} labels{null}" for s in (2, 5, 10) for null in ("", " and NULL")]
    return _table(["ε", *heads], rows)


def sampling() -> str:
    """Binary answers, budget 4 per worker for 60 answers: ε of each of the q answers sent."""
    rows = []
    for sent in (1, 2, 4, 10, 60):
        mechanism = Sampled.calibrated_worker(
            RandomizedResponse, BINARY, 4.0, answers=60, sample=sent
        )
        inner = mechanism.mechanism
        assert isinstance(inner, RandomizedResponse)
        each = inner.guarantee(1, Unit.ANSWER).epsilon
        rows.append([
            f"{sent}", f"{each:.4f}", f"{inner.keep_probability:.4f}",
            f"{mechanism.guarantee(60, Unit.WORKER).epsilon:.4f}",
            f"{sent * math.tanh(each / 2) ** 2:.3f}",
        ])  # fmt: skip
    return _table(["answers sent q", "ε of each", "kept", "ε per worker", "q tanh²(ε / 2)"], rows)


TABLES: dict[str, Callable[[], str]] = {
    "two-layer": two_layer,
    "two-layer-sound": two_layer_sound,
    "shared-noise": shared_noise,
    "hyper-distributions": hyper_distributions,
    "random-variance": random_variance,
    "laplace": laplace,
    "factorization": factorization,
    "keeping": keeping,
    "sampling": sampling,
}


def written(page: str) -> str:
    """The page with its tables recomputed."""
    return _BLOCK.sub(lambda found: _between(found[1]), page)


def _between(name: str) -> str:
    return f"<!-- table: {name} -->\n\n{TABLES[name]()}\n\n<!-- end -->"


def _flips(mechanism: TwoLayer) -> tuple[float, float]:
    """The least and the largest flip probability."""
    law = mechanism.hyper.as_json()
    others = (mechanism.symbols - 1) / WORDS
    return int(law["low"]) * others, int(law["high"]) * others


def _flip(mechanism: RandomizedResponse) -> str:
    return f"{1 - mechanism.keep_probability:.3f}"


def _fraction(text: str | None) -> float:
    above, _, below = (text or "1").partition("/")
    return int(above) / int(below or "1")


def _epsilon(value: float) -> str:
    return f"{value + 0.0:.3f}" if value < 10 else f"{value:.1f}"


def _delta(value: float) -> str:
    if value < 1e-4:
        return "0" if value < 1e-9 else "below 0.0001"
    return f"{value:.4f}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(heads), ["---"] * len(heads), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
