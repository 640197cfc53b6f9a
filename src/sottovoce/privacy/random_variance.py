"""Privacy loss of Gaussian noise whose variance is random and hidden (P3).

Noise √V · N(0, 1) for k answers, with one V ~ Exp(rate) for all of them (P3 Alg. 2). Two vectors of
answers at distance D can be distinguished as well as rate · D² allows, and no better than if V were
known.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import scipy  # its parts are imported on first use

from sottovoce.model import FloatArray

FARTHEST = 1000.0
"""Beyond this D √(2 rate) the limit is used: the answers are practically public."""
MOST_ANSWERS = 1 << 16
"""Beyond this many answers the limit is used: they reveal V."""
PAD = 1e-9
"""Added to a quadrature, whose error is about 1e-11: its result is then an upper bound."""


def delta_limit(epsilon: float, rate: float, distance: float) -> float:
    """The smallest δ at ε if V were known: an upper bound for every k, and the limit k → ∞.

        δ(ε) = 1 - exp( (ε - √(ε² + 2 λ D²)) / 2 )

    It is E[δ_Gauss(ε, D/√V)]. With μ = D/√V, dδ_Gauss/dμ = φ(ε/μ - μ/2); integrate by parts and use
    ∫₀^∞ exp(-A/μ² - Bμ²) dμ = ½ √(π/B) exp(-2√(AB)). Hiding V is post-processing.

    >>> round(delta_limit(1.0, 0.2, 1.0), 7)
    0.0875372
    """
    square = 2 * rate * distance**2
    # ε - √(ε² + x) = -x / (ε + √(ε² + x)): nothing cancels.
    return -math.expm1(-square / (epsilon + math.sqrt(epsilon**2 + square)) / 2)


def rate_for(epsilon: float, delta: float, distance: float) -> float:
    """The rate at which `delta_limit` is δ: 2 L (ε + L) / D² with L = -ln(1 - δ).

    >>> round(delta_limit(1.0, rate_for(1.0, 0.1, 3.0), 3.0), 12)
    0.1
    """
    loss = -math.log1p(-delta)
    return 2 * loss * (epsilon + loss) / distance**2


def rate_published(epsilon: float, delta: float, distance: float) -> float:
    """The rate of P3 Thm. 4.8: 2 ε L / D², which is a little smaller, so noisier, than needed."""
    return 2 * epsilon * -math.log1p(-delta) / distance**2


def delta_published(epsilon: float, rate: float, distance: float) -> float:
    """The δ of P3 Thm. 4.8: 1 - exp(-λD²/(2ε)), the chance that V is below D²/(2ε).

    Not below `delta_limit`, because √(ε² + x) - ε ≤ x/(2ε); so it holds although Eq. 13 does not.
    """
    return -math.expm1(-rate * distance**2 / (2 * epsilon))


def epsilon_single(rate: float, distance: float) -> float:
    """The pure ε of one answer: D √(2λ), because N(0, V) with V ~ Exp(λ) is Laplace(1/√(2λ))."""
    return distance * math.sqrt(2 * rate)


def delta_single(epsilon: float, rate: float, distance: float) -> float:
    """The smallest δ at ε for one answer: (1 - exp((ε - D √(2λ)) / 2))₊, as for any Laplace."""
    return max(-math.expm1((epsilon - epsilon_single(rate, distance)) / 2), 0.0)


def delta_finite(epsilon: float, rate: float, distance: float, answers: int) -> float:
    """An upper bound, tight to about 1e-9, on the smallest δ at ε for k answers that share one V.

        δₖ(ε) = E[(1 - exp(ε) f(r₂)/f(r₁))₊],   f(r) ∝ z^(1-k/2) K_{k/2-1}(z),  z = r √(2λ)

    with r₁, r₂ the distances of the reports from either vector of answers. The expectation is over
    z₁, and over the angle θ between the noise and the direction of the other answers, whose density
    is ∝ sin^(k-2) θ. Two vectors closer than D are harder to distinguish: f falls with r, and where
    the first is the likelier the reports lie on its side, where moving the second away lowers
    f(r₂).

    >>> [round(delta_finite(1.0, 0.21072, 1.0, k), 3) for k in (1, 2, 10, 100)]
    [0.0, 0.01, 0.073, 0.09]
    """
    if answers == 1:
        return delta_single(epsilon, rate, distance)
    limit = delta_limit(epsilon, rate, distance)
    shift = epsilon_single(rate, distance)
    if answers > MOST_ANSWERS or shift > FARTHEST or limit <= PAD:
        return limit
    return min(limit, _quadrature(epsilon, shift, answers) + PAD)


def _quadrature(epsilon: float, shift: float, answers: int) -> float:
    """∫ p(ln z₁) ∫ (1 - exp(ε) f(z₂)/f(z₁))₊ sin^(k-2) θ dθ d ln z₁ by Gauss-Legendre panels."""
    log_f = _log_density(answers)
    order = answers / 2 - 1
    x, width = _radii(log_f, epsilon, shift, math.log(_outermost(answers)))
    z = np.exp(x)
    here = log_f(x)
    mass = width * np.exp(
        answers * x + here - order * math.log(2) - scipy.special.gammaln(order + 1)
    )
    cosine = _boundary(log_f, x, here - epsilon, shift)
    # sin^(k-2) is below 1e-20 of its peak at 10 standard deviations from the right angle.
    reach = min(math.pi / 2, 10 / math.sqrt(max(answers - 2, 1)))
    first = np.maximum(np.arccos(cosine), math.pi / 2 - reach)
    span = np.maximum(math.pi / 2 + reach - first, 0.0)
    node, weight = np.polynomial.legendre.leggauss(48)
    theta = first[:, None] + span[:, None] * (node + 1) / 2
    far = np.sqrt((z[:, None] - shift) ** 2 + 4 * z[:, None] * shift * np.sin(theta / 2) ** 2)
    loss = here[:, None] - log_f(np.log(np.maximum(far, z[:, None])))
    gain = -np.expm1(np.minimum(epsilon - loss, 0.0))
    density = np.sin(theta) ** (answers - 2) * math.exp(
        -scipy.special.betaln((answers - 1) / 2, 0.5)
    )
    return float(mass @ ((gain * density) @ weight * span / 2))


def _radii(
    log_f: scipy.interpolate.CubicHermiteSpline, epsilon: float, shift: float, end: float
) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights over ln z₁: up to where every angle counts, then to where none does.

    ln f is convex, so the loss at either pole falls with z₁ and crosses ε once.
    """

    def crossing(other: Callable[[float], float], low: float, high: float) -> float:
        def loss(x: float) -> float:
            return float(log_f(x) - log_f(math.log(other(math.exp(x)))))

        if loss(low) <= epsilon:
            return low
        if loss(high) > epsilon:
            return high
        return float(scipy.optimize.bisect(lambda x: loss(x) - epsilon, low, high, xtol=1e-13))

    start = float(log_f.x[0])
    every = crossing(lambda z: max(shift - z, z), start, max(start, math.log(shift / 2)))
    none = crossing(lambda z: z + shift, start, end)
    inner, inner_width = _panels(start, min(every, end), 12)
    # Between the two the integrand is a function of √(x - every) and √(none - x): in the arc of a
    # half circle over the interval it is smooth.
    arc, arc_width = _panels(0.0, math.pi, 14)
    half = max(none - every, 0.0) / 2
    outer = every + 2 * half * np.sin(arc / 2) ** 2
    return (
        np.concatenate([inner, outer]),
        np.concatenate([inner_width, arc_width * half * np.sin(arc)]),
    )


def _panels(low: float, high: float, count: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights of 16 points in each of `parts` equal parts."""
    node, weight = np.polynomial.legendre.leggauss(16)
    edges = np.linspace(low, high, count + 1)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (node + 1)).ravel(), (half * weight).ravel()


def _boundary(
    log_f: scipy.interpolate.CubicHermiteSpline, x: FloatArray, level: FloatArray, shift: float
) -> FloatArray:
    """The largest cos θ at which ln f(z₂) is not above the level; -1 if it is never so low."""
    z = np.exp(x)
    low, high = x, np.log(z + shift)
    for _ in range(45):
        middle = (low + high) / 2
        above = log_f(middle) > level
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    far = np.exp(high)
    cosine: FloatArray = ((z - far) * (z + far) + shift**2) / (2 * z * shift)
    return np.clip(cosine, -1.0, 1.0)


def _outermost(answers: int) -> float:
    """Less than 1e-12 lies beyond this z: z² = 2 E χ²ₖ, with E from 0 to 30."""
    return math.sqrt(60 * (answers + 12 * math.sqrt(answers) + 60))


@lru_cache(maxsize=64)
def _log_density(answers: int) -> scipy.interpolate.CubicHermiteSpline:
    """ln(z^-ν K_ν(z)) with ν = k/2 - 1, over ln z; below its first knot lies less than 1e-11."""
    x = np.linspace(
        math.log(1e-6 * math.sqrt(answers)), math.log(_outermost(answers) + FARTHEST), 4001
    )
    z, order = np.exp(x), answers / 2 - 1
    # d/dz z^-ν K_ν(z) = -z^-ν K_{ν+1}(z).
    here, above = log_bessel(order, z), log_bessel(order + 1, z)
    return scipy.interpolate.CubicHermiteSpline(x, here - order * x, -np.exp(x + above - here))


def log_bessel(order: float, z: FloatArray) -> FloatArray:
    """ln K_ν(z) for any ν ≥ 0, where K_ν itself would overflow.

    K_ν(z) = ½ ∫ exp(νt - z cosh t) dt. About the peak t₀ = asinh(ν/z), with h = √(ν² + z²), the
    exponent falls by h (cosh s - 1) + ν (sinh s - s): the trapezoid rule converges exponentially.
    """
    height = np.hypot(order, z)
    peak = np.arcsinh(order / z)
    right = np.arccosh(1 + 40 / height)
    left = np.arccosh(1 + 40 / (z * z / (height + order)))
    if order > 0:
        fall = 40 / order
        left = np.minimum(left, fall + math.sqrt(2 * fall))
    step = np.minimum(0.25, 0.4 / np.sqrt(height))
    count = math.ceil(float(np.max((left + right) / step)))
    step = (left + right) / count
    total = np.zeros_like(z)
    for i in range(count + 1):
        s = i * step - left
        total += np.exp(-2 * height * np.sinh(s / 2) ** 2 - order * (np.sinh(s) - s))
    return np.log(step * total / 2) + order * peak - height
