"""P1's bounds on the error of a weighted vote, eqs. 5 to 10, as printed.

The chain starts from P(error) ≤ E Π exp(−t x w) and then takes (p/e + (1 − p) e)ʷ for the mean of a
factor. That mean is p exp(−w) + (1 − p) exp(w), which is 1 for log-odds weights.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sottovoce.inference.weights import importance
from sottovoce.model import FloatArray
from sottovoce.planning.theorems.checking import open_probabilities
from sottovoce.planning.theorems.majority import error_bound, flipped, log_odds, vote_error
from sottovoce.planning.theorems.published import Published

__all__ = [
    "published_change",
    "published_error_bound",
    "published_expanded_change",
    "published_folded_bound",
]

_SLIP = "It takes (p/e + (1 - p)e)^w for E exp(-w x), which is p exp(-w) + (1 - p) exp(w)."


def published_error_bound(
    accuracy: npt.ArrayLike, weights: npt.ArrayLike | None = None
) -> Published:
    """Π (p/e + (1 − p) e)ʷ (P1 eq. 5), with log-odds weights by default (eq. 6).

    For reports (eq. 8) give the accuracy of reports, `flipped(accuracy, flip)`.

    >>> bound = published_error_bound([0.9] * 5)
    >>> round(bound.value, 5), round(bound.sound, 5), bound.holds
    (0.00385, 0.07776, False)
    """
    right = open_probabilities("accuracy", accuracy)
    sound = error_bound(right, weights)
    given = log_odds(right) if weights is None else np.asarray(weights, np.float64)
    with np.errstate(over="ignore"):  # for a large crowd near ½ the product has no end
        value = float(np.exp((given * np.log(right / np.e + (1 - right) * np.e)).sum()))
    return Published(
        value=value,
        sound=sound,
        holds=value >= sound,
        source="P1 eq. 6" if weights is None else "P1 eq. 5",
        note=_SLIP,
    )


def published_folded_bound(accuracy: npt.ArrayLike) -> Published:
    """Eq. 6 once every p above ½ is replaced by 1 − p, as P1 §6.2.1 does: Π 1 / Im(u).

    P1 calls this no loss of generality. The true error is the same for p and 1 − p, and so is the
    sound bound; eq. 6 is not. Accuracies beyond .02 and .98 are kept at these, as in `importance`.

    >>> float(f"{published_folded_bound([0.9] * 5).value:.2g}")
    4.6e-05
    """
    right = open_probabilities("accuracy", accuracy)
    value = float(np.exp(-np.log(importance(right)).sum()))
    sound = error_bound(right)
    return Published(
        value=value,
        sound=sound,
        holds=value >= sound,
        source="P1 eq. 6 with p folded to 1 - p",
        note=f"{_SLIP} The fold then changes the figure, though not the error.",
    )


def published_change(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> Published:
    """Δ = Π 2p̂ − Π 2p, P1's change of the error when answers are flipped (eq. 9).

    With p folded to at most ½ and p̂ = p + f (1 − 2p). Sound is the change of the exact error.

    >>> change = published_change([0.9] * 5, 0.25)
    >>> round(change.value, 4), round(change.sound, 4)
    (0.0774, 0.1545)
    """
    before, after = _folded(accuracy, flip)
    value = float(np.prod(2 * after) - np.prod(2 * before))
    note = "2p approximates eq. 6's factor, and that bounds nothing."
    return _against_the_change(value, "P1 eq. 9", note, accuracy, flip)


def published_expanded_change(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> Published:
    """Δ = Π f (1 − 2p) + Σ p Π f′ (1 − 2p′) + …, eq. 9 multiplied out (eq. 10).

    The terms add up to Π p̂ − Π p: the factor 2ⁿ of eq. 9 is missing.

    >>> whole, expanded = (c([0.9] * 5, 0.25).value for c in (
    ...     published_change, published_expanded_change))
    >>> round(whole / expanded, 9)
    32.0
    """
    before, after = _folded(accuracy, flip)
    value = float(np.prod(after) - np.prod(before))
    note = f"It loses the factor 2^{len(before)} of eq. 9, which bounds nothing itself."
    return _against_the_change(value, "P1 eq. 10", note, accuracy, flip)


def _folded(accuracy: npt.ArrayLike, flip: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """p at most ½, and p̂."""
    right = open_probabilities("accuracy", accuracy)
    before = np.minimum(right, 1 - right)
    return before, flipped(before, flip)


def _against_the_change(
    value: float, source: str, note: str, accuracy: npt.ArrayLike, flip: npt.ArrayLike
) -> Published:
    """A published change beside that of the exact error."""
    sound = vote_error(flipped(accuracy, flip)) - vote_error(accuracy)
    return Published(value=value, sound=sound, holds=value >= sound, source=source, note=note)
